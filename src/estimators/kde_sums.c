/* kde_sums.c - sums of kernels over the points.
 *
 * The work is n x queries kernel terms. In float32 it goes by blocks of queries and of centres that stay in the
 * first-level cache; every query's sum is formed by one thread in the order of the centres, so it does not depend on
 * the number of threads. Where float32 is not enough, since kernels are narrow or all far away, a query is summed
 * in double as logarithms.
 *
 * float32 moves a point by 6e-8 radians at most; in units of the kernel's width that is 6e-8 sqrt(kappa), so a term
 * changes by about 3e-6 at kappa = NARROW_MOST. */
#include "kde.h"

#define NARROW_MOST 2048.0
#define QUERIES 64
#define PIECE_TERMS 1e9  /* kernel terms between signs of life */
#define NOTHING (-1e30f) /* offset of a centre that does not count; */
#define NOTHING_WIDE (-1e300)
#define FLOOR 1e-26 /* a centre: below, what float32 lost (exp(-87) a centre) could be seen in the sum */

npmd_status kde_watch_go(kde_watch *w, npmd_error *err)
{
    if (w == NULL || w->options->progress == NULL)
        return NPMD_OK;
    const npmd_report now = { .step = w->step,
                              .steps = w->steps,
                              .attempt = 1,
                              .seconds = clock_seconds() - w->started,
                              .objective = w->objective,
                              .data = NAN,
                              .integral = NAN,
                              .penalty = NAN,
                              .log_integral = NAN,
                              .nise = NAN,
                              .ae = NAN };
    if (w->options->progress(&now, w->options->user) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_STOPPED, "interrupted while %s; a kernel estimate keeps nothing to go on from",
                     w->doing);
}

/* ---- parts ----------------------------------------------------------------------------------------------- */

double kde_concentration(double kappa)
{
    return fmin(fmax(kappa, 0.0), KDE_KAPPA_MOST);
}

void kde_part_close(kde_part *p)
{
    memory_free(p->local);
    memory_free(p->scale);
    memory_free(p->offset);
    memory_free(p->scale_wide);
    memory_free(p->offset_wide);
    *p = (kde_part){ 0 };
}

npmd_status kde_part_open(kde_part *p, const kde_view *v, bool adaptive, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (adaptive)
        TRY(memory_new(&p->local, v->cloud->n, err));
    TRY(memory_new(&p->scale, v->ld, err));
    TRY(memory_new(&p->offset, v->ld, err));
    TRY(memory_new(&p->scale_wide, v->ld, err));
    TRY(memory_new(&p->offset_wide, v->ld, err));
done:
    return st;
}

/* log of the normalisers of a kernel relative to the uniform measure; kappa is common x ratio_d, bounded. */
static double log_constant(const kde_view *v, double common)
{
    const npmd_domain *dom = v->cloud->domain;
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++)
        sum += dom->factor[d]->log_kernel(common * v->ratio[d]) + log(dom->factor[d]->volume);
    return sum;
}

void kde_part_set(kde_part *p, const kde_view *v, double kappa)
{
    const kde_cloud *c = v->cloud;
    double largest = 0.0, ratio = 0.0;
    p->kappa = kappa;
    p->top = -INFINITY;
    for (int d = 0; d < c->domain->factors; d++)
        ratio = fmax(ratio, v->ratio[d]);
    const double fixed = p->local == NULL ? log_constant(v, kappa) : 0.0;
    for (int g = 0; g < v->groups; g++)
        for (size_t at = v->start[g]; at < v->start[g + 1]; at++) {
            const size_t i = v->first[g] + (at - v->start[g]);
            double own = kappa;
            if (i >= v->first[g + 1]) {
                p->scale_wide[at] = 0.0;
                p->offset_wide[at] = NOTHING_WIDE;
                continue;
            }
            if (p->local != NULL)
                own = kde_concentration(kappa * p->local[i] * ratio) / ratio;
            largest = fmax(largest, own * ratio);
            p->scale_wide[at] = own;
            p->offset_wide[at] = log(c->weight[i]) + (p->local == NULL ? fixed : log_constant(v, own));
            p->top = fmax(p->top, p->offset_wide[at]);
        }
    p->narrow = largest <= NARROW_MOST;
    for (size_t at = 0; at < v->ld; at++) {
        p->scale[at] = (float)p->scale_wide[at];
        p->offset[at] = (float)fmax(p->offset_wide[at] - p->top, (double)NOTHING);
    }
}

/* ---- log density of a part -------------------------------------------------------------------------------- */

typedef struct query_block {
    size_t n, own; /* own: row of the first, SIZE_MAX: none */
    float narrow[QUERIES * KDE_MOST_COLUMNS];
    double wide[QUERIES * KDE_MOST_COLUMNS];
} query_block;

static void block_load(query_block *b, const kde_view *v, const double *e, size_t n, size_t own)
{
    const size_t columns = (size_t)v->cloud->columns;
    b->n = n;
    b->own = own;
    for (size_t i = 0; i < n * columns; i++) {
        b->wide[i] = v->root[i % columns] * e[i];
        b->narrow[i] = (float)b->wide[i];
    }
}

/* Where a row stands. */
static size_t position(const kde_view *v, size_t row)
{
    int g = 0;
    while (row >= v->first[g + 1])
        g++;
    return v->start[g] + (row - v->first[g]);
}

/* Does query q stand among the centres at .. at + count - 1, and where? */
static bool own_centre(const kde_view *v, const query_block *b, size_t q, size_t at, size_t count,
                       size_t *where)
{
    if (b->own == SIZE_MAX)
        return false;
    const size_t own = position(v, b->own + q);
    *where = own - at;
    return own >= at && own < at + count;
}

static void block_sums(const kde_view *v, const kde_part *p, const query_block *b, double *sum)
{
    const int columns = v->cloud->columns;
    for (size_t at = 0; at < v->ld; at += KERNEL_BLOCK) {
        const size_t count = v->ld - at < KERNEL_BLOCK ? v->ld - at : KERNEL_BLOCK;
        size_t where = 0;
        bool met = false;
        for (size_t q = 0; q < b->n && !met; q++)
            met = own_centre(v, b, q, at, count, &where);
        if (!met) {
            v->inner->kernel_sums(b->n, columns, b->narrow, count, v->narrow + at, v->ld, p->scale + at,
                                  p->offset + at, sum);
            continue;
        }
        float offset[KERNEL_BLOCK];
        memcpy(offset, p->offset + at, count * sizeof *offset);
        for (size_t q = 0; q < b->n; q++) {
            const bool own = own_centre(v, b, q, at, count, &where);
            if (own)
                offset[where] = NOTHING;
            v->inner->kernel_sums(1, columns, b->narrow + q * (size_t)columns, count, v->narrow + at, v->ld,
                                  p->scale + at, offset, sum + q);
            if (own)
                offset[where] = p->offset[at + where];
        }
    }
}

/* log of the sum of exp(offset - scale z), in plain loops. */
static double plain_log_sum(const kde_view *v, const kde_part *p, const double *query, size_t skip)
{
    double top = -INFINITY, total = 0.0;
    for (size_t at = 0; at < v->ld; at++) {
        double z = 0.0;
        for (int j = 0; j < v->cloud->columns; j++) {
            const double difference = query[j] - v->wide[(size_t)j * v->ld + at];
            z += difference * difference;
        }
        const double exponent = at == skip ? -INFINITY : p->offset_wide[at] - p->scale_wide[at] * z;
        if (exponent > top) {
            total = total * exp(top - exponent) + 1.0;
            top = exponent;
        } else if (exponent > -INFINITY) {
            total += exp(exponent - top);
        }
    }
    return top + log(total);
}

static void block_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own,
                           double least, double *out)
{
    query_block b;
    double sum[QUERIES] = { 0 };
    const size_t columns = (size_t)v->cloud->columns;
    const double floor = FLOOR * (double)v->ld;
    block_load(&b, v, e, n, own);
    if (v->inner != NULL && p->narrow)
        block_sums(v, p, &b, sum);
    for (size_t q = 0; q < n; q++) {
        const size_t skip = own == SIZE_MAX ? SIZE_MAX : position(v, own + q);
        const double *query = b.wide + q * columns;
        if (v->inner == NULL)
            out[q] = plain_log_sum(v, p, query, skip);
        else if (p->narrow && (sum[q] >= floor || p->top + log(floor) < least))
            out[q] = p->top + log(sum[q]);
        else
            out[q] = v->inner->kernel_log_sum((int)columns, query, v->ld, v->wide, v->ld, p->scale_wide,
                                              p->offset_wide, skip);
    }
}

npmd_status kde_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own,
                         double least, int threads, kde_watch *w, double *out, npmd_error *err)
{
    const size_t columns = (size_t)v->cloud->columns, blocks = (n + QUERIES - 1) / QUERIES,
                 piece = 1 + (size_t)(PIECE_TERMS / ((double)v->ld * QUERIES));
    (void)threads; /* unused without OpenMP */
    for (size_t from = 0; from < blocks; from += piece) {
        const size_t to = blocks - from < piece ? blocks : from + piece;
        const npmd_status st = kde_watch_go(w, err);
        if (st != NPMD_OK)
            return st;
#pragma omp parallel for schedule(dynamic) num_threads(threads_wanted(threads))
        for (size_t b = from; b < to; b++) {
            const size_t at = b * QUERIES, some = n - at < QUERIES ? n - at : QUERIES;
            block_log_sums(v, p, e + at * columns, some, own == SIZE_MAX ? own : own + at, least, out + at);
        }
    }
    return NPMD_OK;
}

/* ---- pairs ------------------------------------------------------------------------------------------------ */

double kde_log_peak(const npmd_domain *dom, const double *kappa)
{
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++)
        sum += dom->factor[d]->log_kernel(kappa[d]);
    return sum;
}

/* The product of two kernels about y and y' is c^2 exp(kappa (e(y) + e(y')) . e(x) - 2 kappa): a kernel again, of
 * concentration r = kappa |e(y) + e(y')|. Its integral is c(kappa)^2 / c(r) exp(r - 2 kappa), and r = 2 kappa for
 * y = y'. */
double kde_log_square(const npmd_domain *dom, const double *kappa)
{
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++)
        sum += 2.0 * dom->factor[d]->log_kernel(kappa[d]) - dom->factor[d]->log_kernel(2.0 * kappa[d]);
    return sum;
}

typedef struct pair_constants {
    bool plain; /* a manifold without a vector form, or by request */
    int embedding[NPMD_MAX_FACTORS];
    float twice[NPMD_MAX_FACTORS], gain[NPMD_MAX_FACTORS];
} pair_constants;

static pair_constants pair_open(const kde_view *v)
{
    const npmd_domain *dom = v->cloud->domain;
    pair_constants c = { .plain = v->inner == NULL };
    for (int d = 0; d < dom->factors; d++) {
        c.embedding[d] = dom->factor[d]->embedding;
        c.plain = c.plain || (c.embedding[d] != 2 && c.embedding[d] != 3);
        c.twice[d] = (float)(2.0 * v->ratio[d]);
        c.gain[d] = (float)(TWO_PI * exp(dom->factor[d]->log_kernel(2.0 * v->ratio[d])));
    }
    return c;
}

/* As kernel_pairs, in plain loops: with h = |e(y) - e(y')|^2 / 4 and s = sqrt(1 - h), r = 2 kappa s and r - 2 kappa =
 * -2 kappa h / (1 + s). */
static void plain_pairs(const kde_view *v, const kde_part *p, const double *query, size_t skip, size_t at,
                        size_t count, double *kernel, double *overlap)
{
    const npmd_domain *dom = v->cloud->domain;
    for (size_t c = at; c < at + count; c++) {
        double exponent = 0.0, square = 0.0;
        if (c == skip || p->offset_wide[c] == NOTHING_WIDE)
            continue;
        for (int d = 0, j = 0; d < dom->factors; d++) {
            const double twice = 2.0 * v->ratio[d];
            double z = 0.0;
            for (int i = 0; i < dom->factor[d]->embedding; i++, j++) {
                const double difference = query[j] - v->wide[(size_t)j * v->ld + c];
                z += difference * difference;
            }
            const double s = sqrt(fmax(0.0, 1.0 - z / twice));
            exponent -= z;
            square += dom->factor[d]->log_kernel(twice) - dom->factor[d]->log_kernel(twice * s)
                      - z / (1.0 + s);
        }
        *kernel += exp(p->offset_wide[c] - p->top + exponent);
        *overlap += exp(p->offset_wide[c] - p->top + square);
    }
}

static void block_pairs(const kde_view *v, const kde_part *p, const pair_constants *k, size_t row, size_t n,
                        double *kernel, double *overlap)
{
    query_block b;
    const npmd_domain *dom = v->cloud->domain;
    const size_t columns = (size_t)v->cloud->columns, groups = (size_t)v->groups;
    const double heaviest = exp(p->top - log_constant(v, 1.0)); /* offsets are log weights less the largest */
    block_load(&b, v, v->cloud->e + row * columns, n, row);
    memset(kernel, 0, n * groups * sizeof *kernel);
    memset(overlap, 0, n * groups * sizeof *overlap);
    for (size_t g = 0; g < groups; g++)
        for (size_t at = v->start[g]; at < v->start[g + 1]; at += KERNEL_BLOCK) {
            const size_t left = v->start[g + 1] - at, count = left < KERNEL_BLOCK ? left : KERNEL_BLOCK;
            float offset[KERNEL_BLOCK];
            memcpy(offset, p->offset + at, count * sizeof *offset);
            for (size_t q = 0; q < n; q++) {
                size_t where = 0;
                const bool own = own_centre(v, &b, q, at, count, &where);
                double *to = kernel + q * groups + g, *to2 = overlap + q * groups + g;
                if (own)
                    offset[where] = NOTHING;
                if (k->plain)
                    plain_pairs(v, p, b.wide + q * columns, own ? at + where : SIZE_MAX, at, count, to, to2);
                else
                    v->inner->kernel_pairs(1, dom->factors, k->embedding, k->twice, k->gain,
                                           b.narrow + q * columns, count, v->narrow + at, v->ld, offset, to,
                                           to2);
                if (own)
                    offset[where] = p->offset[at + where];
            }
        }
    for (size_t i = 0; i < n * groups; i++) {
        kernel[i] *= heaviest;
        overlap[i] *= heaviest;
    }
}

npmd_status kde_pair_sums(const kde_view *v, const kde_part *p, size_t first, size_t n, int threads,
                          kde_watch *w, double *kernel, double *overlap, npmd_error *err)
{
    const size_t blocks = (n + QUERIES - 1) / QUERIES, groups = (size_t)v->groups,
                 piece = 1 + (size_t)(PIECE_TERMS / ((double)v->ld * QUERIES));
    const pair_constants k = pair_open(v);
    (void)threads;
    for (size_t from = 0; from < blocks; from += piece) {
        const size_t to = blocks - from < piece ? blocks : from + piece;
        const npmd_status st = kde_watch_go(w, err);
        if (st != NPMD_OK)
            return st;
#pragma omp parallel for schedule(dynamic) num_threads(threads_wanted(threads))
        for (size_t b = from; b < to; b++) {
            const size_t at = b * QUERIES, some = n - at < QUERIES ? n - at : QUERIES;
            block_pairs(v, p, &k, first + at, some, kernel + at * groups, overlap + at * groups);
        }
    }
    return NPMD_OK;
}
