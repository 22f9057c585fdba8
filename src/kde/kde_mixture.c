/* kde_mixture.c - many widths at once, weighted by held-out points.
 *
 * The parts: fixed concentrations over a wide range, concentrations s / (distance to the k-th nearest point)^2 for
 * several k and s, and the uniform density. A share of the points is held out, the parts are made from the others, and
 * EM finds the weights under which the held-out points are most likely: a concave problem with one optimum. Further
 * shares are held out in turn as far as the work allows, at best until every point was held out. The mixture with these
 * weights is then made from all points. Equal points are one point here (kde.h): a held-out point has no equal among
 * the others. */
#include "kde.h"

#define FIXED 12
#define FIXED_FIRST 2.0
#define FIXED_STEP 2.9 /* up to 240,000: a thousandth of a radian and a half */
static const int NEIGHBOURS[] = { 2, 4, 8, 16, 32, 64 };
static const double STRENGTH[] = { 0.5, 2.0, 6.0 }; /* s, a dimension */
#define KINDS ((int)(sizeof NEIGHBOURS / sizeof *NEIGHBOURS))
#define STRENGTHS ((int)(sizeof STRENGTH / sizeof *STRENGTH))
#define MOST_TERMS 4e10   /* kernel terms for all that is held out */
#define LEAST_WEIGHT 1e-3 /* a part with less is left out */

typedef struct trial { /* one share held out, and the parts made from the others */
    kde_cloud cloud;
    kde_view view;
    kde_part fixed, adaptive;
    double *distance2; /* (KINDS, n) */
} trial;

static void trial_close(trial *t)
{
    kde_part_close(&t->fixed);
    kde_part_close(&t->adaptive);
    kde_view_close(&t->view);
    kde_cloud_close(&t->cloud);
    memory_free(t->distance2);
    *t = (trial){ 0 };
}

/* The parts that n points allow: a k-th neighbour needs several times as many points. */
static void recipe_open(kde_recipe *r, int dimension, size_t n)
{
    double kappa = FIXED_FIRST;
    *r = (kde_recipe){ 0 };
    for (int i = 0; i < FIXED; i++, kappa *= FIXED_STEP)
        r->kappa[r->parts++] = kappa;
    for (int k = 0; k < KINDS && (size_t)NEIGHBOURS[k] < n / 4; k++)
        for (int s = 0; s < STRENGTHS; s++) {
            r->neighbours[r->parts] = NEIGHBOURS[k];
            r->kappa[r->parts++] = STRENGTH[s] * dimension;
        }
}

/* The largest concentration of a fixed part stays within bounds in every factor. */
static double bounded(double kappa, const double *ratio, int factors)
{
    double largest = 0.0;
    for (int d = 0; d < factors; d++)
        largest = fmax(largest, ratio[d]);
    return fmin(kappa, KDE_KAPPA_MOST / largest);
}

/* logs (parts, n): log density of every part at rows first .. first + n - 1, made from the other rows. */
static npmd_status trial_run(trial *t, const kde_cloud *cloud, const settings *opt, const double *ratio,
                             const kde_recipe *r, size_t first, size_t n, kde_watch *w, double *logs, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int kinds = 0;
    double *const e = cloud->e + first * (size_t)cloud->columns;
    for (int p = 0; p < r->parts; p++)
        while (kinds < KINDS && r->neighbours[p] >= NEIGHBOURS[kinds])
            kinds++;
    TRY(kde_cloud_without(cloud, first, first + n, &t->cloud, err));
    TRY(kde_view_open(&t->cloud, 1, opt->machine.device, &t->view, err));
    kde_view_scale(&t->view, ratio);
    TRY(kde_part_open(&t->fixed, &t->view, false, err));
    TRY(kde_part_open(&t->adaptive, &t->view, true, err));
    if (kinds > 0) {
        TRY(memory_new(&t->distance2, (size_t)kinds * t->cloud.n, err));
        TRY(kde_neighbours(&t->view, kinds, NEIGHBOURS, w, opt->machine.threads, t->distance2, err));
    }
    for (int p = 0, kind = -1; p < r->parts; p++) {
        kde_part *part = r->neighbours[p] > 0 ? &t->adaptive : &t->fixed;
        double kappa = bounded(r->kappa[p], ratio, cloud->domain->factors);
        while (r->neighbours[p] > 0 && (kind < 0 || NEIGHBOURS[kind] != r->neighbours[p]))
            kind++;
        if (r->neighbours[p] > 0)
            kappa = r->kappa[p] * kde_local(t->distance2 + (size_t)kind * t->cloud.n, t->cloud.n, part->local);
        kde_part_set(part, &t->view, kappa);
        TRY(kde_log_sums(&t->view, part, e, n, SIZE_MAX, -40.0, opt->machine.threads, w, logs + (size_t)p * n, err));
        w->step++;
    }
done:
    return st;
}

/* Small parts are left out; the uniform one stays, with half a point's weight at least. */
static void recipe_settle(kde_recipe *r, const double *mix, size_t n)
{
    const int parts = r->parts;
    double sum = 0.0;
    r->uniform = fmax(mix[parts], 0.5 / ((double)n + 1.0));
    r->parts = 0;
    for (int p = 0; p < parts; p++)
        if (mix[p] >= LEAST_WEIGHT) {
            r->kappa[r->parts] = r->kappa[p];
            r->neighbours[r->parts] = r->neighbours[p];
            sum += r->weight[r->parts++] = mix[p];
        }
    if (r->parts == 0) { /* uniform points: the widest part, for form's sake */
        r->weight[r->parts++] = sum = 1.0;
    }
    for (int p = 0; p < r->parts; p++)
        r->weight[p] *= (1.0 - r->uniform) / sum;
}

npmd_status kde_choose_mixture(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                               kde_recipe *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double share = opt->holdout;
    const size_t n = cloud->n;
    kde_recipe r;
    trial t = { 0 };
    double *logs = NULL, *all = NULL, mix[KDE_MOST_PARTS + 1];
    recipe_open(&r, cloud->domain->dimension, (size_t)((1.0 - share) * (double)n));
    /* one share: parts x its points x n terms, and n x n distances */
    const double affordable = MOST_TERMS / ((double)n * r.parts);
    size_t held = (size_t)fmax(1.0, share * (double)n);
    held = held < n / 2 ? held : n / 2 > 0 ? n / 2 : 1;
    const double a_fold = (double)held * r.parts * (double)n + (double)n * (double)n;
    size_t folds = (size_t)fmax(1.0, fmin((double)(n / held), floor(MOST_TERMS / a_fold)));
    if (folds == 1 && (double)held > affordable)
        held = (size_t)fmax(affordable, 100.0) < held ? (size_t)fmax(affordable, 100.0) : held;
    const size_t queries = folds * held;
    w->doing = "the widths were being weighed";
    w->steps = w->step + (int64_t)folds * r.parts;
    TRY(memory_new(&all, (size_t)(r.parts + 1) * queries, err));
    TRY(memory_new(&logs, (size_t)r.parts * held, err));
    for (size_t fold = 0; fold < folds; fold++) {
        TRY(trial_run(&t, cloud, opt, ratio, &r, fold * held, held, w, logs, err));
        for (int p = 0; p < r.parts; p++)
            memcpy(all + (size_t)p * queries + fold * held, logs + (size_t)p * held, held * sizeof *all);
        trial_close(&t);
    }
    const double tops = mixture_densities(all, cloud->weight, r.parts + 1, queries);
    r.held_out = mixture_weights(all, cloud->weight, tops, r.parts + 1, queries, mix);
    r.queries = queries;
    recipe_settle(&r, mix, n);
    *out = r;
done:
    trial_close(&t);
    memory_free_all(logs, all);
    return st;
}
