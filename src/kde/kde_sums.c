/* kde_sums.c - sums of kernels over the points.
 *
 * The work is n x queries kernel terms, less those in boxes too far away to matter. In float32 it goes by a few queries
 * at a time and by blocks of centres that stay in the first-level cache; every query's sum is formed by one thread in
 * the order of the centres, so it does not depend on the number of threads. Where float32 is not enough, because
 * kernels are narrow or all far away, a query is summed in double, in logarithms.
 *
 * float32 moves a point by 6e-8 radians at most; in units of the kernel's width that is 6e-8 sqrt(kappa), so a term
 * changes by about 3e-6 at kappa = NARROW_MOST. */
#include "kde.h"

#define NARROW_MOST 2048.0
#define SOME 4 /* queries together */
#define RUN (KERNEL_BLOCK / KDE_BOX)
#define A_LOOK 256       /* boxes */
#define PIECE_TERMS 1e9  /* kernel terms between progress reports */
#define NOTHING (-1e30f) /* offset of a centre of weight 0 */
#define NOTHING_WIDE (-1e300)
#define LEAST (-87.0f)                 /* float32 has no smaller terms */
#define UNSEEN 45.0                    /* exp(-45) = 3e-20 for each centre */
#define CARD_QUERIES ((size_t)1 << 17) /* queries at once on a card */
#define FLOOR 1e-26 /* for each centre: below, the loss of float32 (exp(-87) for each centre) could matter in the sum */

npmd_status kde_watch_go(kde_watch *w, npmd_error *err)
{
    if (w == NULL)
        return NPMD_OK;
    npmd_report now = report_new(w->step, w->steps, 1, clock_seconds() - w->started);
    now.objective = w->objective;
    if (watch_tell(w->watch, &now) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_STOPPED, "interrupted while %s; a kernel estimate keeps nothing to go on from",
                     w->doing);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

double kde_concentration(double kappa)
{
    return fmin(fmax(kappa, 0.0), KDE_KAPPA_MOST);
}

void kde_part_close(kde_part *p)
{
    memory_free_all(p->local, p->scale, p->offset, p->scale_wide, p->offset_wide, p->box_scale, p->box_offset);
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
    TRY(memory_new(&p->box_scale, v->box_ld, err));
    TRY(memory_new(&p->box_offset, v->box_ld, err));
done:
    return st;
}

double kde_log_constant(const kde_view *v, double common)
{
    const npmd_domain *dom = v->cloud->domain;
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++)
        sum += dom->factor[d]->log_kernel(dom->factor[d], common * v->ratio[d]) + log(dom->factor[d]->volume);
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
    const double fixed = p->local == NULL ? kde_log_constant(v, kappa) : 0.0;
    for (size_t at = 0; at < v->ld; at++) {
        p->scale_wide[at] = 0.0;
        p->offset_wide[at] = NOTHING_WIDE;
    }
    for (size_t i = 0; i < c->n; i++) {
        const size_t at = v->place[i];
        const double own = p->local == NULL ? kappa : kde_concentration(kappa * p->local[i] * ratio) / ratio;
        largest = fmax(largest, own * ratio);
        p->scale_wide[at] = own;
        p->offset_wide[at] = log(c->weight[i]) + (p->local == NULL ? fixed : kde_log_constant(v, own));
        p->top = fmax(p->top, p->offset_wide[at]);
    }
    p->narrow = largest <= NARROW_MOST;
    for (size_t b = 0; b < v->box_ld; b++) {
        p->box_scale[b] = 0.0f;
        p->box_offset[b] = NOTHING;
        for (size_t at = b * KDE_BOX; b < v->boxes && at < (b + 1) * KDE_BOX; at++) {
            p->scale[at] = (float)p->scale_wide[at];
            p->offset[at] = (float)fmax(p->offset_wide[at] - p->top, (double)NOTHING);
            if (p->offset[at] > NOTHING && (p->scale[at] < p->box_scale[b] || p->box_offset[b] == NOTHING))
                p->box_scale[b] = p->scale[at];
            p->box_offset[b] = fmaxf(p->box_offset[b], p->offset[at]);
        }
    }
}

/* ---- which boxes count ------------------------------------------------------------------------------------------- */

typedef struct query_block {
    size_t n;   /* queries, up to SOME */
    size_t own; /* row of the first in the cloud; SIZE_MAX: none */
    size_t place[SOME];
    float narrow[SOME * KDE_MOST_COLUMNS];
    double wide[SOME * KDE_MOST_COLUMNS];
} query_block;

static void block_load(query_block *b, const kde_view *v, const double *e, size_t n, size_t own)
{
    const size_t columns = (size_t)v->cloud->columns;
    b->n = n;
    b->own = own;
    for (size_t q = 0; q < n; q++)
        b->place[q] = own == SIZE_MAX ? SIZE_MAX : v->place[own + q];
    for (size_t i = 0; i < n * columns; i++) {
        b->wide[i] = v->root[i % columns] * e[i];
        b->narrow[i] = (float)b->wide[i];
    }
}

/* What is done with a run of boxes, KERNEL_BLOCK centres at most, for the queries whose bits are set. */
typedef void (*run_fn)(void *self, const query_block *b, unsigned queries, size_t first, size_t count);

/* A box counts where its largest offset less share x its least scale x its squared distance is above least. Runs end
 * at the groups' ends. A box that counts for most of the queries is summed for all. */
static void each_run(const kde_view *v, const kde_part *p, const query_block *b, float share, float least, run_fn run,
                     void *self)
{
    const size_t columns = (size_t)v->cloud->columns;
    float z[SOME][A_LOOK];
    unsigned open = 0; /* bits of the run that is being gathered */
    size_t first = 0, length = 0;
    int group = 1;
    for (size_t look = 0; look < v->boxes; look += A_LOOK) {
        const size_t left = v->box_ld - look, count = left < A_LOOK ? left : A_LOOK;
        for (size_t q = 0; q < b->n; q++)
            v->inner->box_distances((int)columns, b->narrow + q * columns, count, v->low + look, v->high + look,
                                    v->box_ld, z[q]);
        for (size_t box = look; box < look + count && box < v->boxes; box++) {
            unsigned bits = 0, met = 0;
            for (size_t q = 0; q < b->n; q++)
                if (p->box_offset[box] - share * p->box_scale[box] * z[q][box - look] > least) {
                    bits |= 1u << q;
                    met++;
                }
            if (met >= SOME - 1)
                bits = (1u << b->n) - 1u;
            const bool edge = box * KDE_BOX == v->start[group];
            group += edge;
            if (length > 0 && (bits != open || length == RUN || edge)) {
                if (open != 0)
                    run(self, b, open, first * KDE_BOX, length * KDE_BOX);
                length = 0;
            }
            first = length == 0 ? box : first;
            open = bits;
            length++;
        }
    }
    if (open != 0 && length > 0)
        run(self, b, open, first * KDE_BOX, length * KDE_BOX);
}

/* ---- log density of a part --------------------------------------------------------------------------------------- */

typedef struct sum_run {
    const kde_view *view;
    const kde_part *part;
    double sum[SOME];
} sum_run;

/* offset (count) with the query's own centre taken out; false: it is not among these. */
static bool without_own(const kde_part *p, size_t place, size_t first, size_t count, float *offset)
{
    if (place < first || place >= first + count)
        return false;
    memcpy(offset, p->offset + first, count * sizeof *offset);
    offset[place - first] = NOTHING;
    return true;
}

static void add_run(void *self, const query_block *b, unsigned queries, size_t first, size_t count)
{
    sum_run *s = self;
    const kde_view *v = s->view;
    const kde_part *p = s->part;
    const int columns = v->cloud->columns;
    const bool all = b->own == SIZE_MAX && queries == (1u << SOME) - 1u;
    for (size_t q = 0; q < (all ? 1 : b->n); q++) {
        float offset[KERNEL_BLOCK];
        if (queries >> q & 1u)
            v->inner->kernel_sums(all ? SOME : 1, columns, b->narrow + q * (size_t)columns, count, v->narrow + first,
                                  v->ld, p->scale + first,
                                  without_own(p, b->place[q], first, count, offset) ? offset : p->offset + first,
                                  s->sum + q);
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

/* The same in double by vectors. One pass finds a sum near the largest, going where boxes promise most; a second adds
 * up all boxes that could be seen beside it. */
static double wide_log_sum(const kde_view *v, const kde_part *p, const float *narrow, const double *query, size_t skip)
{
    float z[A_LOOK];
    double top = -INFINITY, total = 0.0, promised = -INFINITY, found = -INFINITY;
    const int columns = v->cloud->columns;
    for (int pass = 0; pass < 2; pass++)
        for (size_t look = 0; look < v->boxes; look += A_LOOK) {
            const size_t left = v->box_ld - look, count = left < A_LOOK ? left : A_LOOK;
            v->inner->box_distances(columns, narrow, count, v->low + look, v->high + look, v->box_ld, z);
            for (size_t box = look; box < look + count && box < v->boxes; box++) {
                /* a little generous: z is rounded to float32 */
                const double bound = p->top + (double)p->box_offset[box]
                                     - (double)p->box_scale[box] * (double)z[box - look] * (1.0 - 1e-5);
                if (pass == 0 ? bound <= promised : bound < found - UNSEEN)
                    continue;
                const size_t at = box * KDE_BOX;
                const double sum = v->inner->kernel_log_sum(columns, query, KDE_BOX, v->wide + at, v->ld,
                                                            p->scale_wide + at, p->offset_wide + at, skip - at);
                promised = bound;
                found = fmax(found, sum);
                if (pass == 0)
                    continue;
                if (sum > top) {
                    total *= exp(top - sum);
                    top = sum;
                }
                total += exp(sum - top);
            }
        }
    return top + log(total);
}

/* log density from a float32 sum where that is enough, else from a sum in double. */
static double settle_log_sum(const kde_view *v, const kde_part *p, double sum, double least, const float *narrow,
                             const double *query, size_t skip)
{
    const double floor = FLOOR * (double)v->ld;
    if (sum >= floor || p->top + log(floor) < least)
        return p->top + log(fmax(sum, FLOOR));
    return wide_log_sum(v, p, narrow, query, skip);
}

static void block_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own, double least,
                           double *out)
{
    query_block b;
    sum_run s = { .view = v, .part = p };
    const size_t columns = (size_t)v->cloud->columns;
    block_load(&b, v, e, n, own);
    if (v->inner != NULL && p->narrow)
        each_run(v, p, &b, 1.0f, LEAST, add_run, &s);
    for (size_t q = 0; q < n; q++) {
        const double *query = b.wide + q * columns;
        if (v->inner == NULL)
            out[q] = plain_log_sum(v, p, query, b.place[q]);
        else if (p->narrow)
            out[q] = settle_log_sum(v, p, s.sum[q], least, b.narrow + q * columns, query, b.place[q]);
        else
            out[q] = wide_log_sum(v, p, b.narrow + q * columns, query, b.place[q]);
    }
}

/* The same with the float32 sums made on a card, all pairs of them. */
static npmd_status card_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own,
                                 double least, int threads, kde_watch *w, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)v->cloud->columns, most = n < CARD_QUERIES ? n : CARD_QUERIES;
    float *x = NULL;
    int64_t *skip = NULL;
    (void)threads; /* unused without OpenMP */
    TRY(memory_new(&x, most * columns, err));
    TRY(memory_new(&skip, most, err));
    for (size_t from = 0; from < n; from += most) {
        const size_t some = n - from < most ? n - from : most;
        const double *at = e + from * columns;
        TRY(kde_watch_go(w, err));
        for (size_t q = 0; q < some; q++) {
            skip[q] = own == SIZE_MAX ? -1 : (int64_t)v->place[own + from + q];
            for (size_t j = 0; j < columns; j++)
                x[q * columns + j] = (float)(v->root[j] * at[q * columns + j]);
        }
        TRY(v->ops->kernel_sums(v->device,
                                &(kernel_request){ .columns = (int)columns,
                                                   .centres = v->ld,
                                                   .y = v->narrow,
                                                   .scale = p->scale,
                                                   .offset = p->offset,
                                                   .n = some,
                                                   .x = x,
                                                   .skip = skip,
                                                   .out = out + from },
                                err));
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads_wanted(threads))
        for (size_t q = 0; q < some; q++) {
            double query[KDE_MOST_COLUMNS];
            for (size_t j = 0; j < columns; j++)
                query[j] = v->root[j] * at[q * columns + j];
            out[from + q] = settle_log_sum(v, p, out[from + q], least, x + q * columns, query,
                                           skip[q] < 0 ? SIZE_MAX : (size_t)skip[q]);
        }
    }
done:
    memory_free_all(x, skip);
    return st;
}

npmd_status kde_log_sums(const kde_view *v, const kde_part *p, const double *e, size_t n, size_t own, double least,
                         int threads, kde_watch *w, double *out, npmd_error *err)
{
    const size_t columns = (size_t)v->cloud->columns, blocks = (n + SOME - 1) / SOME,
                 piece = 64 + (size_t)(PIECE_TERMS / ((double)v->ld * SOME));
    if (p->narrow && v->ops != NULL && v->ops->kernel_sums != NULL)
        return card_log_sums(v, p, e, n, own, least, threads, w, out, err);
    (void)threads; /* unused without OpenMP */
    for (size_t from = 0; from < blocks; from += piece) {
        const size_t to = blocks - from < piece ? blocks : from + piece;
        const npmd_status st = kde_watch_go(w, err);
        if (st != NPMD_OK)
            return st;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads_wanted(threads))
        for (size_t b = from; b < to; b++) {
            const size_t at = b * SOME, some = n - at < SOME ? n - at : SOME;
            block_log_sums(v, p, e + at * columns, some, own == SIZE_MAX ? own : own + at, least, out + at);
        }
    }
    return NPMD_OK;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

double kde_log_peak(const npmd_domain *dom, const double *kappa)
{
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++)
        sum += dom->factor[d]->log_kernel(dom->factor[d], kappa[d]);
    return sum;
}

/* The product of two kernels about y and y' is c^2 exp(kappa (e(y) + e(y')) . e(x) - 2 kappa): a kernel again, of
 * concentration r = kappa |e(y) + e(y')|. Its integral is c(kappa)^2 / c(r) exp(r - 2 kappa), and r = 2 kappa for
 * y = y'. */
double kde_log_square(const npmd_domain *dom, const double *kappa)
{
    double sum = 0.0;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        sum += 2.0 * m->log_kernel(m, kappa[d]) - m->log_kernel(m, 2.0 * kappa[d]);
    }
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
        c.gain[d] = (float)(TWO_PI * exp(dom->factor[d]->log_kernel(dom->factor[d], 2.0 * v->ratio[d])));
    }
    return c;
}

/* As kernel_pairs, in plain loops: with h = |e(y) - e(y')|^2 / 4 and s = sqrt(1 - h), r = 2 kappa s and r - 2 kappa =
 * -2 kappa h / (1 + s). */
static void plain_pairs(const kde_view *v, const kde_part *p, const double *query, size_t skip, size_t at, size_t count,
                        double *kernel, double *overlap)
{
    const npmd_domain *dom = v->cloud->domain;
    for (size_t c = at; c < at + count; c++) {
        double exponent = 0.0, square = 0.0;
        if (c == skip || p->offset_wide[c] == NOTHING_WIDE)
            continue;
        for (int d = 0, j = 0; d < dom->factors; d++) {
            const manifold *m = dom->factor[d];
            const double twice = 2.0 * v->ratio[d];
            double z = 0.0;
            for (int i = 0; i < m->embedding; i++, j++) {
                const double difference = query[j] - v->wide[(size_t)j * v->ld + c];
                z += difference * difference;
            }
            const double s = sqrt(fmax(0.0, 1.0 - z / twice));
            exponent -= z;
            square += m->log_kernel(m, twice) - m->log_kernel(m, twice * s) - z / (1.0 + s);
        }
        *kernel += exp(p->offset_wide[c] - p->top + exponent);
        *overlap += exp(p->offset_wide[c] - p->top + square);
    }
}

typedef struct pair_run {
    const kde_view *view;
    const kde_part *part;
    const pair_constants *constants;
    float least;
    double *kernel, *overlap; /* (SOME, groups) */
} pair_run;

static void add_pairs(void *self, const query_block *b, unsigned queries, size_t first, size_t count)
{
    const pair_run *r = self;
    const kde_view *v = r->view;
    const pair_constants *k = r->constants;
    const size_t columns = (size_t)v->cloud->columns, groups = (size_t)v->groups;
    size_t g = 0;
    while (first >= v->start[g + 1])
        g++;
    for (size_t q = 0; q < b->n; q++) {
        float offset[KERNEL_BLOCK];
        if (!(queries >> q & 1u))
            continue;
        const bool own = without_own(r->part, b->place[q], first, count, offset);
        v->inner->kernel_pairs(v->cloud->domain->factors, k->embedding, r->least, k->twice, k->gain,
                               b->narrow + q * columns, count, v->narrow + first, v->ld,
                               own ? offset : r->part->offset + first, r->kernel + q * groups + g,
                               r->overlap + q * groups + g);
    }
}

static void block_pairs(const kde_view *v, const kde_part *p, const pair_constants *k, size_t row, size_t n,
                        double *kernel, double *overlap)
{
    query_block b;
    const size_t columns = (size_t)v->cloud->columns, groups = (size_t)v->groups;
    /* without them the sums change by less than 1e-7 of a point's own term */
    const float least = (float)(-16.0 - log((double)v->cloud->n));
    const double heaviest = exp(p->top - kde_log_constant(v, 1.0)); /* offsets are log weights less the largest */
    pair_run r = { v, p, k, least, kernel, overlap };
    memset(kernel, 0, n * groups * sizeof *kernel);
    memset(overlap, 0, n * groups * sizeof *overlap);
    block_load(&b, v, v->cloud->e + row * columns, n, row);
    if (!k->plain)
        each_run(v, p, &b, 0.5f, least, add_pairs, &r);
    for (size_t q = 0; k->plain && q < n; q++)
        for (size_t g = 0; g < groups; g++)
            plain_pairs(v, p, b.wide + q * columns, b.place[q], v->start[g], v->start[g + 1] - v->start[g],
                        kernel + q * groups + g, overlap + q * groups + g);
    for (size_t i = 0; i < n * groups; i++) {
        kernel[i] *= heaviest;
        overlap[i] *= heaviest;
    }
}

npmd_status kde_pair_sums(const kde_view *v, const kde_part *p, size_t first, size_t n, int threads, kde_watch *w,
                          double *kernel, double *overlap, npmd_error *err)
{
    const size_t blocks = (n + SOME - 1) / SOME, groups = (size_t)v->groups,
                 piece = 64 + (size_t)(PIECE_TERMS / ((double)v->ld * SOME));
    const pair_constants k = pair_open(v);
    (void)threads;
    for (size_t from = 0; from < blocks; from += piece) {
        const size_t to = blocks - from < piece ? blocks : from + piece;
        const npmd_status st = kde_watch_go(w, err);
        if (st != NPMD_OK)
            return st;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads_wanted(threads))
        for (size_t b = from; b < to; b++) {
            const size_t at = b * SOME, some = n - at < SOME ? n - at : SOME;
            block_pairs(v, p, &k, first + at, some, kernel + at * groups, overlap + at * groups);
        }
    }
    return NPMD_OK;
}
