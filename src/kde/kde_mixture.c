/* kde_mixture.c - many widths at once, weighted by held-out points.
 *
 * The parts: fixed concentrations over a wide range, concentrations s / (distance to the k-th nearest point)^2 for
 * several k and s, and the uniform density. A share of the points is held out, the parts are made from the others, and
 * EM finds the weights under which the held-out points are most likely: a concave problem with one optimum. Further
 * shares are held out in turn as far as the work allows, at best until every point was held out. The mixture with these
 * weights is then made from all points.
 *
 * Where equal points are one point (kde.h), a held-out point has no equal among the others. Where they are not, it may
 * have, and the concentrations go on to the largest that the points resolve: the weight of the narrowest parts is the
 * share of points that repeat others. What the held-out points owe to their equals is then told: the loss of mean log
 * density if the kernels about these are taken out of the mixture. */
#include "kde.h"

#include <float.h>

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
    double *about;     /* (distinct points): the height of all kernels about one, over exp(top) */
} trial;

static void trial_close(trial *t)
{
    kde_part_close(&t->fixed);
    kde_part_close(&t->adaptive);
    kde_view_close(&t->view);
    kde_cloud_close(&t->cloud);
    memory_free_all(t->distance2, t->about);
    *t = (trial){ 0 };
}

/* The parts that n points allow: a k-th neighbour needs several times as many points. most: the largest concentration, if
 * points have twins; else 0. */
static void recipe_open(kde_recipe *r, int dimension, size_t n, double most)
{
    double kappa = FIXED_FIRST;
    *r = (kde_recipe){ 0 };
    for (int i = 0; most > 0.0 ? kappa < most : i < FIXED; i++, kappa *= FIXED_STEP)
        r->kappa[r->parts++] = kappa;
    if (most > 0.0)
        r->kappa[r->parts++] = most;
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

/* rest (n): the share of the part's density at rows first .. first + n - 1 of the cloud, whose logs are given, that is not
 * that of kernels about their equals. */
static void without_equals(trial *t, const kde_part *part, const kde_cloud *cloud, size_t first, size_t n,
                           const double *logs, double *rest)
{
    memset(t->about, 0, cloud->distinct * sizeof *t->about);
    for (size_t j = 0; j < t->cloud.n; j++)
        t->about[t->cloud.same[j]] += exp(part->offset_wide[t->view.place[j]] - part->top);
    for (size_t i = 0; i < n; i++) {
        const double about = t->about[cloud->same[first + i]];
        rest[i] = about > 0.0 ? fmax(0.0, 1.0 - about * exp(part->top - logs[i])) : 1.0;
    }
}

/* logs (parts, n): log density of every part at rows first .. first + n - 1, made from the other rows. rest (parts, n):
 * see without_equals; NULL: there are none. */
static npmd_status trial_run(trial *t, const kde_cloud *cloud, const settings *opt, const double *ratio,
                             const kde_recipe *r, size_t first, size_t n, kde_watch *w, double *logs, double *rest,
                             npmd_error *err)
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
    if (rest != NULL)
        TRY(memory_new(&t->about, cloud->distinct, err));
    for (int p = 0, kind = -1; p < r->parts; p++) {
        kde_part *part = r->neighbours[p] > 0 ? &t->adaptive : &t->fixed;
        double kappa = bounded(r->kappa[p], ratio, cloud->domain->factors);
        while (r->neighbours[p] > 0 && (kind < 0 || NEIGHBOURS[kind] != r->neighbours[p]))
            kind++;
        if (r->neighbours[p] > 0)
            kappa = r->kappa[p] * kde_local(t->distance2 + (size_t)kind * t->cloud.n, t->cloud.n, part->local);
        kde_part_set(part, &t->view, kappa);
        TRY(kde_log_sums(&t->view, part, e, n, SIZE_MAX, -40.0, opt->machine.threads, w, logs + (size_t)p * n, err));
        if (rest != NULL)
            without_equals(t, part, cloud, first, n, logs + (size_t)p * n, rest + (size_t)p * n);
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

/* What the held-out points owe to their equals, and the standard error of their mean log density. density (parts, n)
 * relative to exp(top), the last part uniform; rest (parts - 1, n). */
static void weigh_repeats(kde_recipe *r, const double *density, const double *rest, const double *top,
                          const double *weight, const double *mix, size_t n)
{
    double total = 0.0, lost = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double all = mix[r->parts] * density[(size_t)r->parts * n + i], left = all;
        for (int p = 0; p < r->parts; p++) {
            const double part = mix[p] * density[(size_t)p * n + i];
            all += part;
            left += part * rest[(size_t)p * n + i];
        }
        const double from = weight[i] * (top[i] + log(all) - r->held_out);
        lost += weight[i] * log(all / fmax(left, DBL_MIN));
        squares += from * from;
        total += weight[i];
    }
    r->repeats = lost / total;
    r->held_out_se = sqrt(squares) / total;
}

npmd_status kde_choose_mixture(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w,
                               kde_recipe *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double share = opt->holdout;
    const size_t n = cloud->n;
    kde_recipe r;
    trial t = { 0 };
    const bool repeated = cloud->same != NULL;
    double *logs = NULL, *all = NULL, *rest = NULL, *rests = NULL, *top = NULL, mix[KDE_MOST_PARTS + 1], most = 0.0;
    if (repeated)
        TRY(kde_sharpest(cloud, opt, ratio, w, &most, err));
    recipe_open(&r, cloud->domain->dimension, (size_t)((1.0 - share) * (double)cloud->distinct), most);
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
    if (repeated) {
        TRY(memory_new(&rest, (size_t)r.parts * held, err));
        TRY(memory_new(&rests, (size_t)r.parts * queries, err));
        TRY(memory_new(&top, queries, err));
    }
    for (size_t fold = 0; fold < folds; fold++) {
        TRY(trial_run(&t, cloud, opt, ratio, &r, fold * held, held, w, logs, rest, err));
        for (int p = 0; p < r.parts; p++) {
            memcpy(all + (size_t)p * queries + fold * held, logs + (size_t)p * held, held * sizeof *all);
            if (repeated)
                memcpy(rests + (size_t)p * queries + fold * held, rest + (size_t)p * held, held * sizeof *rest);
        }
        trial_close(&t);
    }
    for (size_t i = 0; repeated && i < queries; i++)
        for (int p = 0; p < r.parts; p++) /* the uniform part has 0 */
            top[i] = fmax(top[i], all[(size_t)p * queries + i]);
    const double tops = mixture_densities(all, cloud->weight, r.parts + 1, queries);
    r.held_out = mixture_weights(all, cloud->weight, tops, r.parts + 1, queries, mix);
    r.queries = queries;
    if (repeated)
        weigh_repeats(&r, all, rests, top, cloud->weight, mix, queries);
    recipe_settle(&r, mix, n);
    *out = r;
done:
    trial_close(&t);
    memory_free_all(logs, all, rest, rests, top);
    return st;
}
