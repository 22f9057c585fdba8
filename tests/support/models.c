/* models.c - the fits behind models.h. */
#include "models.h"

const char *const MODEL_DOMAIN[MODELS] = { "T2", "T3", "S2", "S2 x S1", "T2" };
const npmd_compute EXACT = { .size = sizeof(npmd_compute), .device = "reference" };

/* Clustered points: half of them near one place. */
void models_coordinates(const npmd_domain *dom, size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d];
            if (dom->factor[d] == &CIRCLE) {
                at[0] = i % 2 ? 2.0 + 0.6 * test_normal(&seed) : 2.0 * (double)CHECK_PI * test_uniform(&seed);
            } else {
                double r2 = 0.0;
                test_unit_vector(&seed, at);
                at[0] += i % 2 ? 1.5 : 0.0;
                for (int j = 0; j < 3; j++)
                    r2 += at[j] * at[j];
                for (int j = 0; j < 3; j++)
                    at[j] /= sqrt(r2);
            }
        }
}

npmd_points *models_points(const npmd_domain *dom, size_t n, uint64_t seed)
{
    double *x = doubles(n * (size_t)dom->columns);
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    models_coordinates(dom, n, seed, x);
    if (points_from(x, n, dom, &pts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    free(x);
    return pts;
}

void models_options(npmd_options *opt)
{
    static const char *const SET[][2] = { { "features", "20" }, { "width", "8" },  { "depth", "3" },
                                          { "steps", "60" },    { "q1", "512" },   { "q2", "128" },
                                          { "tau", "1e-4" },    { "seed", "11" },  { "max-frequency", "4" },
                                          { "rate", "1e-2" },   { "threads", "1" } };
    npmd_error err = { 0 };
    options_init(opt);
    for (size_t j = 0; j < sizeof SET / sizeof *SET; j++)
        must(npmd_options_set(opt, SET[j][0], SET[j][1], &err), &err);
}

int models_open(void **state)
{
    models *s = calloc(1, sizeof *s);
    npmd_error err = { 0 };
    *state = s;
    if (s == NULL || place_open(&s->at) != 0)
        return -1;
    for (int i = 0; i < MODELS; i++) {
        npmd_options opt;
        models_options(&opt);
        must(npmd_domain_parse(MODEL_DOMAIN[i], &s->domain[i], &err), &err);
        s->points[i] = models_points(s->domain[i], POINTS, (uint64_t)(5 + i));
        s->total[i] = POINTS;
        if (i == 0) {
            double w[POINTS];
            s->total[i] = 0.0;
            for (int k = 0; k < POINTS; k++)
                s->total[i] += w[k] = 0.5 + k % 5;
            must(npmd_array_write(in_folder(&s->at, "w.npy"), w, POINTS, 1, &err), &err);
            must(npmd_points_weigh(s->points[i], s->at.path, &err), &err);
        }
        if (i == ROTATED)
            must(npmd_options_set(&opt, "separable", "off", &err), &err);
        if (i == RIDGE)
            must(npmd_options_set(&opt, "spectrum-law", "ridge", &err), &err);
        if (npmd_fit(s->domain[i], s->points[i], &opt, &s->model[i], &err) != NPMD_OK) {
            print_error("%s: %s\n", MODEL_DOMAIN[i], err.text);
            return -1;
        }
    }
    return 0;
}

int models_close(void **state)
{
    models *s = *state;
    for (int i = 0; i < MODELS; i++) {
        npmd_model_free(s->model[i]);
        npmd_points_free(s->points[i]);
        npmd_domain_free(s->domain[i]);
    }
    const int result = place_close(&s->at);
    free(s);
    return result;
}

double *models_values(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how)
{
    double *out = doubles(npmd_points_count(pts) * (size_t)npmd_domain_columns(npmd_model_domain(m)));
    npmd_error err = { 0 };
    if (npmd_evaluate_at(m, pts, what, how, out, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return out;
}

npmd_model *models_again(models *s, const npmd_model *m, const char *name)
{
    npmd_model *again = NULL;
    npmd_error err = { 0 };
    if (npmd_save(m, in_folder(&s->at, name), &err) != NPMD_OK || npmd_load(s->at.path, &again, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return again;
}
