/* kernel_fits.h - clusters of different width, weighted points, kernel estimates, and their integrals. */
#ifndef NPMD_TEST_KERNEL_FITS_H
#define NPMD_TEST_KERNEL_FITS_H

#include "estimate.h"
#include "api.h"
#include "place.h"

/* Two clusters of different width in every factor. */
static inline void uneven_clusters(const npmd_domain *dom, size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d], r = 0.0;
            const double width = i % 3 == 0 ? 0.1 : 0.6;
            if (dom->factor[d] == &CIRCLE) {
                at[0] = (i % 3 == 0 ? 1.0 : 4.0) + width * test_normal(&seed);
                continue;
            }
            for (int j = 0; j < 3; j++) {
                at[j] = (j == (i % 3 == 0 ? 0 : 2)) + width * test_normal(&seed);
                r += at[j] * at[j];
            }
            for (int j = 0; j < 3; j++)
                at[j] /= sqrt(r);
        }
}

/* weight (n) is scaled to mean 1. */
static inline npmd_points *weighted_points(const npmd_domain *dom, const double *x, size_t n, const double *weight)
{
    npmd_points *pts = points_of(dom, x, n);
    npmd_error err = { 0 };
    double sum = 0.0;
    must(memory_new(&pts->weight, n, &err), &err);
    for (size_t i = 0; i < n; i++)
        sum += weight[i];
    for (size_t i = 0; i < n; i++)
        pts->weight[i] = weight[i] * (double)n / sum;
    pts->total = sum;
    return pts;
}

static inline npmd_model *kernel_fit(const npmd_domain *dom, const npmd_points *pts, const char *const *setting)
{
    npmd_options opt;
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    options_init(&opt);
    opt.set.estimator = FIT_KDE;
    opt.set.machine.threads = 1;
    for (; *setting != NULL; setting += 2)
        must(npmd_options_set(&opt, setting[0], setting[1], &err), &err);
    must(npmd_fit(dom, pts, &opt, &m, &err), &err);
    return m;
}
#define FIT(dom, pts, ...) kernel_fit(dom, pts, (const char *const[]){ __VA_ARGS__, NULL })

static inline void log_density(const npmd_model *m, const char *device, const double *x, size_t n, double *out)
{
    npmd_error err = { 0 };
    const npmd_compute how = { .size = sizeof how, .threads = 1, .device = device };
    npmd_points *pts = points_of(m->domain, x, n);
    must(npmd_evaluate_at(m, pts, NPMD_LOG_DENSITY, &how, out, &err), &err);
    npmd_points_free(pts);
}

/* The integral of f^2 over the domain, by a product rule far finer than the kernels; *one: that of f. */
static inline double integral_of_square(const npmd_model *m, size_t resolution, double *one)
{
    const npmd_domain *dom = m->domain;
    double *x[NPMD_MAX_FACTORS], *w[NPMD_MAX_FACTORS], square = 0.0;
    size_t count[NPMD_MAX_FACTORS], nodes = 1;
    for (int d = 0; d < dom->factors; d++) {
        count[d] = dom->factor[d]->rule_nodes(dom->factor[d], resolution);
        x[d] = doubles(count[d] * 3);
        w[d] = doubles(count[d]);
        dom->factor[d]->rule(dom->factor[d], resolution, x[d], w[d], NULL);
        nodes *= count[d];
    }
    double *all = doubles(nodes * (size_t)dom->columns), *weight = doubles(nodes), *f = doubles(nodes);
    for (size_t i = 0; i < nodes; i++) {
        size_t rest = i;
        weight[i] = dom->volume;
        for (int d = 0; d < dom->factors; d++) {
            const size_t j = rest % count[d], columns = (size_t)dom->factor[d]->columns;
            rest /= count[d];
            memcpy(all + i * (size_t)dom->columns + dom->column[d], x[d] + j * columns, columns * sizeof *all);
            weight[i] *= w[d][j];
        }
    }
    log_density(m, "reference", all, nodes, f);
    *one = 0.0;
    for (size_t i = 0; i < nodes; i++) {
        square += weight[i] * exp(2.0 * f[i]);
        *one += weight[i] * exp(f[i]);
    }
    for (int d = 0; d < dom->factors; d++) {
        free(x[d]);
        free(w[d]);
    }
    free(all);
    free(weight);
    free(f);
    return square;
}

#endif
