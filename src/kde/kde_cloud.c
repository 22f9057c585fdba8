/* kde_cloud.c - the points of a kernel estimate: equal ones merged or marked, embedded as unit vectors, and their
 * nearest neighbours. */
#include "kde.h"

#define FARTHEST 1e30f
#define LEAST_DISTANCE2 1e-14

int kde_columns(const npmd_domain *dom)
{
    int columns = 0;
    for (int d = 0; d < dom->factors; d++)
        columns += dom->factor[d]->embedding;
    return columns;
}

void kde_embed(const npmd_domain *dom, const double *x, double *e)
{
    for (int d = 0; d < dom->factors; d++) {
        dom->factor[d]->embed(dom->factor[d], x + dom->column[d], e);
        e += dom->factor[d]->embedding;
    }
}

void kde_cloud_close(kde_cloud *c)
{
    memory_free_all(c->x, c->weight, c->e, c->same);
    *c = (kde_cloud){ 0 };
}

npmd_status kde_cloud_open(const npmd_domain *dom, size_t n, kde_cloud *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    kde_cloud c = { .domain = dom, .n = n, .rows = n, .distinct = n, .columns = kde_columns(dom) };
    TRY(memory_new(&c.x, n * (size_t)dom->columns, err));
    TRY(memory_new(&c.weight, n, err));
    TRY(memory_new(&c.e, n * (size_t)c.columns, err));
    *out = c;
    c = (kde_cloud){ 0 };
done:
    kde_cloud_close(&c);
    return st;
}

typedef struct keyed { /* a row and its hash */
    uint64_t hash;
    size_t row;
} keyed;

static int by_hash(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void row_of(const npmd_points *pts, size_t i, double *x)
{
    points_row(pts, i, x);
    for (int j = 0; j < pts->domain->columns; j++)
        x[j] += 0.0; /* -0 is 0 */
}

/* Rows of one hash stand together; rows that are equal, not only their hashes, are one distinct point. The points are put
 * in the shuffled order of the seed, so that the first ones are a random part. */
npmd_status kde_cloud_make(const npmd_points *pts, uint64_t seed, int ties, kde_cloud *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)pts->domain->columns, bytes = columns * sizeof(double);
    keyed *key = NULL;
    size_t *first = NULL; /* of each distinct point: its row */
    size_t *same = NULL;  /* of each key: its distinct point */
    double *weight = NULL, x[DOMAIN_MAX_COLUMNS], y[DOMAIN_MAX_COLUMNS], total = 0.0;
    size_t used = 0, distinct = 0;
    TRY(memory_new(&key, pts->n, err));
    TRY(memory_new(&first, pts->n, err));
    TRY(memory_new(&same, pts->n, err));
    TRY(memory_new(&weight, pts->n, err));
    for (size_t i = 0; i < pts->n; i++)
        if (points_weight(pts, i) > 0.0) {
            row_of(pts, i, x);
            key[used++] = (keyed){ hash_bytes(0, x, bytes), i };
            total += points_weight(pts, i);
        }
    qsort(key, used, sizeof *key, by_hash);
    for (size_t i = 0, head = 0; i < used; i++) { /* head: the first distinct point of this hash */
        if (i == 0 || key[i].hash != key[i - 1].hash)
            head = distinct;
        size_t at = head;
        row_of(pts, key[i].row, x);
        for (; at < distinct; at++) {
            row_of(pts, first[at], y);
            if (memcmp(x, y, bytes) == 0)
                break;
        }
        if (at == distinct)
            first[distinct++] = key[i].row;
        same[i] = at;
        weight[at] += points_weight(pts, key[i].row) / total;
    }
    const bool apart = ties == TIES_APART;
    const size_t n = apart ? used : distinct;
    TRY(kde_cloud_open(pts->domain, n, out, err));
    out->rows = used;
    out->distinct = distinct;
    if (apart)
        TRY(memory_new(&out->same, n, err));
    const rng_key order = rng_key_make(seed, RNG_TUNE, 3);
    for (size_t i = 0; i < n; i++) {
        const size_t to = (size_t)rng_permute(order, i, n);
        row_of(pts, apart ? key[i].row : first[i], out->x + to * columns);
        kde_embed(pts->domain, out->x + to * columns, out->e + to * (size_t)out->columns);
        out->weight[to] = apart ? points_weight(pts, key[i].row) / total : weight[i];
        if (apart)
            out->same[to] = same[i];
    }
done:
    memory_free_all(key, first, same, weight);
    return st;
}

npmd_status kde_cloud_without(const kde_cloud *cloud, size_t first, size_t last, kde_cloud *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t wide = (size_t)cloud->columns, columns = (size_t)cloud->domain->columns;
    double total = 0.0;
    size_t to = 0;
    TRY(kde_cloud_open(cloud->domain, cloud->n - (last - first), out, err));
    if (cloud->same != NULL)
        TRY(memory_new(&out->same, out->n, err));
    for (size_t i = 0; i < cloud->n; i++)
        if (i < first || i >= last) {
            if (cloud->same != NULL)
                out->same[to] = cloud->same[i];
            memcpy(out->x + to * columns, cloud->x + i * columns, columns * sizeof(double));
            memcpy(out->e + to * wide, cloud->e + i * wide, wide * sizeof(double));
            total += out->weight[to++] = cloud->weight[i];
        }
    for (size_t i = 0; i < to; i++)
        out->weight[i] /= total;
done:
    return st;
}

/* ---- scaled coordinates ------------------------------------------------------------------------------------------ */

void kde_view_close(kde_view *v)
{
    memory_free_all(v->place, v->narrow, v->wide, v->low, v->high);
    *v = (kde_view){ 0 };
}

typedef struct placed { /* a row, and the coordinate it is sorted by */
    double at;
    size_t row;
} placed;

static int by_coordinate(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Splits the rows along the column in which they reach farthest, at whole boxes, until a box holds them. */
static void split(const kde_cloud *c, placed *p, size_t n)
{
    const size_t columns = (size_t)c->columns;
    while (n > KDE_BOX) {
        size_t widest = 0;
        double reach = -1.0;
        for (size_t j = 0; j < columns; j++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t i = 0; i < n; i++) {
                low = fmin(low, c->e[p[i].row * columns + j]);
                high = fmax(high, c->e[p[i].row * columns + j]);
            }
            widest = high - low > reach ? j : widest;
            reach = fmax(reach, high - low);
        }
        for (size_t i = 0; i < n; i++)
            p[i].at = c->e[p[i].row * columns + widest];
        qsort(p, n, sizeof *p, by_coordinate);
        const size_t half = ((n + KDE_BOX - 1) / KDE_BOX + 1) / 2 * KDE_BOX;
        split(c, p, half);
        p += half;
        n -= half;
    }
}

npmd_status kde_view_open(const kde_cloud *cloud, int groups, const char *device, kde_view *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    kde_view v = { .cloud = cloud, .groups = groups };
    placed *p = NULL;
    TRY(backend_find_device(device, &v.ops, &v.device, err));
    v.inner = v.ops == &BACKEND_REFERENCE ? NULL : kernels_select(NULL);
    for (int g = 0; g < groups; g++) {
        v.first[g + 1] = cloud->n * (size_t)(g + 1) / (size_t)groups;
        v.start[g + 1] = v.start[g] + (v.first[g + 1] - v.first[g] + KDE_BOX - 1) / KDE_BOX * KDE_BOX;
    }
    v.ld = v.start[groups];
    v.boxes = v.ld / KDE_BOX;
    v.box_ld = (v.boxes + KERNEL_PAD - 1) / KERNEL_PAD * KERNEL_PAD;
    TRY(memory_new(&v.place, cloud->n, err));
    TRY(memory_new(&v.narrow, v.ld * (size_t)cloud->columns, err));
    TRY(memory_new(&v.wide, v.ld * (size_t)cloud->columns, err));
    TRY(memory_new(&v.low, v.box_ld * (size_t)cloud->columns, err));
    TRY(memory_new(&v.high, v.box_ld * (size_t)cloud->columns, err));
    TRY(memory_new(&p, cloud->n, err));
    for (size_t i = 0; i < cloud->n; i++)
        p[i].row = i;
    for (int g = 0; g < groups; g++) {
        split(cloud, p + v.first[g], v.first[g + 1] - v.first[g]);
        for (size_t i = v.first[g]; i < v.first[g + 1]; i++)
            v.place[p[i].row] = v.start[g] + (i - v.first[g]);
    }
    *out = v;
    v = (kde_view){ 0 };
done:
    memory_free(p);
    kde_view_close(&v);
    return st;
}

void kde_view_scale(kde_view *v, const double *ratio)
{
    const kde_cloud *c = v->cloud;
    const size_t columns = (size_t)c->columns;
    for (int d = 0, j = 0; d < c->domain->factors; d++) {
        v->ratio[d] = ratio[d];
        for (int i = 0; i < c->domain->factor[d]->embedding; i++)
            v->root[j++] = sqrt(0.5 * ratio[d]);
    }
    for (size_t i = 0; i < columns * v->box_ld; i++) {
        v->low[i] = FARTHEST;
        v->high[i] = -FARTHEST;
    }
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < columns; j++) {
            const size_t at = j * v->ld + v->place[i], box = j * v->box_ld + v->place[i] / KDE_BOX;
            v->wide[at] = v->root[j] * c->e[i * columns + j];
            v->narrow[at] = (float)v->wide[at];
            v->low[box] = fminf(v->low[box], v->narrow[at]);
            v->high[box] = fmaxf(v->high[box], v->narrow[at]);
        }
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* Keeps the smallest `most` numbers in rising order. */
static inline void keep_nearest(float *nearest, int most, float z)
{
    int at = most - 1;
    for (; at > 0 && nearest[at - 1] > z; at--)
        nearest[at] = nearest[at - 1];
    nearest[at] = z;
}

static bool are_equal(const kde_view *v, size_t place, size_t other)
{
    bool equal = true;
    for (size_t j = 0; equal && j < (size_t)v->cloud->columns; j++)
        equal = v->wide[j * v->ld + place] == v->wide[j * v->ld + other];
    return equal;
}

static void look_in_box(const kde_view *v, const kernels *inner, const float *query, size_t own, size_t box, int most,
                        float *nearest)
{
    const size_t first = box * KDE_BOX, left = v->cloud->n - first, count = left < KDE_BOX ? left : KDE_BOX;
    float z[KDE_BOX], least = nearest[most - 1];
    inner->squared_distances(v->cloud->columns, query, KDE_BOX, v->narrow + first, v->ld, z);
    for (size_t i = 0; i < count; i++)
        if (z[i] < least && first + i != own
            && !(v->cloud->same != NULL && z[i] == 0.0f && are_equal(v, own, first + i))) {
            keep_nearest(nearest, most, z[i]);
            least = nearest[most - 1];
        }
}

/* Its own box and those about it first, then all that may hold a nearer point. */
static void neighbours_of(const kde_view *v, size_t own, int most, float *nearest)
{
    const kernels *inner = v->inner == NULL ? kernels_select("plain") : v->inner;
    const size_t home = own / KDE_BOX, reach = 1 + (size_t)most / KDE_BOX;
    const size_t from = home < reach ? 0 : home - reach, to = home + reach < v->boxes ? home + reach + 1 : v->boxes;
    float query[KDE_MOST_COLUMNS], z[KERNEL_BLOCK];
    for (int j = 0; j < v->cloud->columns; j++)
        query[j] = v->narrow[(size_t)j * v->ld + own];
    for (int k = 0; k < most; k++)
        nearest[k] = FARTHEST;
    for (size_t b = from; b < to; b++)
        look_in_box(v, inner, query, own, b, most, nearest);
    for (size_t first = 0; first < v->boxes; first += KERNEL_BLOCK) {
        const size_t left = v->box_ld - first, count = left < KERNEL_BLOCK ? left : KERNEL_BLOCK;
        inner->box_distances(v->cloud->columns, query, count, v->low + first, v->high + first, v->box_ld, z);
        for (size_t b = first; b < first + count && b < v->boxes; b++)
            if ((b < from || b >= to) && z[b - first] < nearest[most - 1])
                look_in_box(v, inner, query, own, b, most, nearest);
    }
}

npmd_status kde_neighbours(const kde_view *v, int counts, const int *count, kde_watch *w, int threads,
                           double *distance2, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t n = v->cloud->n, piece = 8192;
    const int most = count[counts - 1];
    const int wanted = threads_wanted(threads);
    float *room = NULL;
    assert(v->groups == 1 && (size_t)most < n);
    TRY(memory_new(&room, (size_t)wanted * (size_t)most, err));
    for (size_t from = 0; from < n; from += piece) {
        const size_t to = n - from < piece ? n : from + piece;
        TRY(kde_watch_go(w, err));
#pragma omp parallel for schedule(dynamic, 64) num_threads(wanted)
        for (size_t i = from; i < to; i++) {
            float *nearest = room + (size_t)omp_get_thread_num() * (size_t)most;
            neighbours_of(v, v->place[i], most, nearest);
            for (int k = 0; k < counts; k++)
                distance2[(size_t)k * n + i] = (double)nearest[count[k] - 1];
        }
    }
done:
    memory_free(room);
    return st;
}

/* A twin makes a kernel the better the narrower it is. What ends that is the resolution of the points: two of them that
 * differ are at least delta apart, as if rounded to multiples of delta, and rounding alone has the variance delta^2 / 12
 * in each direction. A kernel, of variance 1 / kappa, has no less: kappa <= 12 / delta^2 = 6 / z, z the least squared
 * distance in scaled coordinates. */
npmd_status kde_sharpest(const kde_cloud *cloud, const settings *opt, const double *ratio, kde_watch *w, double *out,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    kde_view v = { 0 };
    double *distance2 = NULL, least = INFINITY, largest = 0.0;
    for (int d = 0; d < cloud->domain->factors; d++)
        largest = fmax(largest, ratio[d]);
    *out = KDE_KAPPA_MOST / largest;
    if (cloud->same == NULL || cloud->distinct < 2)
        return NPMD_OK;
    TRY(kde_view_open(cloud, 1, opt->machine.device, &v, err));
    kde_view_scale(&v, ratio);
    TRY(memory_new(&distance2, cloud->n, err));
    TRY(kde_neighbours(&v, 1, &(int){ 1 }, w, opt->machine.threads, distance2, err));
    for (size_t i = 0; i < cloud->n; i++)
        least = fmin(least, distance2[i]);
    *out = fmin(KDE_KAPPA_MOST / largest, 6.0 / fmax(least, LEAST_DISTANCE2));
done:
    memory_free(distance2);
    kde_view_close(&v);
    return st;
}

/* A distance below 1e-7 is the rounding of float32, or no distance at all. */
double kde_local(const double *distance2, size_t n, double *local)
{
    const double least = LEAST_DISTANCE2;
    double mean = 0.0;
    for (size_t i = 0; i < n; i++)
        mean -= log(fmax(distance2[i], least)) / (double)n;
    for (size_t i = 0; i < n; i++)
        local[i] = exp(-log(fmax(distance2[i], least)) - mean);
    return exp(mean);
}
