/* endpoints.c - the two ends of every streamline on the cortex, as points of S2 x S2 or of surface x surface.
 *
 * An end goes to the closest point of the nearer hemisphere. A streamline is kept when both ends lie within the
 * distance and the pair of hemispheres is one of those asked for. One thread reads blocks of streamlines, and all
 * threads place them; what is kept is appended in the order of the file. */
#include "tracts.h"

#define BLOCK 4096
#define DISTANCE_DEFAULT 5.0 /* mm: about twice the thickness of the cortex, where tracking stops short of it */

typedef struct landing { /* what becomes of one streamline */
    bool kept, turned;
    npmd_drop why; /* not kept */
    npmd_pair pair;
    double x[6], distance[2];
} landing;

typedef struct growing { /* kept rows of one pair */
    double *x, *weight;
    size_t count, room, weight_room;
} growing;

typedef struct journey {
    const npmd_endpoints_request *what;
    hemisphere side[2];
    int sides;
    unsigned pairs;
    double most;
    affine voxel_to_ras, transform;
    streamline *line; /* (BLOCK) */
    double *weight;   /* (BLOCK) */
    landing *place;   /* (BLOCK) */
    growing kept[NPMD_PAIRS];
    double *distance; /* of kept ends */
    size_t distances, distance_room;
    npmd_endpoints_facts facts;
    int threads;
} journey;

/* ---- One streamline ---------------------------------------------------------------------------------------------- */

/* The nearer side, the left one of equally near ones; x: the end's place there. */
static int end_place(const journey *j, const double end[3], double x[3], double *distance)
{
    double p[3], d[2] = { INFINITY, INFINITY };
    surface_point at[2] = { { 0 } };
    affine_apply(&j->transform, end, p);
    for (int s = 0; s < j->sides; s++)
        d[s] = locator_nearest(j->side[s].near, p, &at[s]);
    const int side = d[1] < d[0];
    if (isfinite(d[side])) /* farther than numbers go: nowhere */
        hemisphere_place(&j->side[side], &at[side], x);
    *distance = d[side];
    return side;
}

static landing streamline_place(const journey *j, const streamline *s, double weight)
{
    landing l = { .why = NPMD_DROP_POINTS };
    int side[2];
    if (s->points < 2)
        return l;
    l.why = NPMD_DROP_WEIGHT;
    if (weight == 0.0)
        return l;
    side[0] = end_place(j, s->start, l.x, &l.distance[0]);
    side[1] = end_place(j, s->end, l.x + 3, &l.distance[1]);
    const bool near[2] = { l.distance[0] <= j->most, l.distance[1] <= j->most };
    l.pair = side[0] != side[1] ? NPMD_PAIR_LR : side[0] == 0 ? NPMD_PAIR_LL : NPMD_PAIR_RR;
    l.kept = near[0] && near[1] && (j->pairs & 1u << l.pair);
    l.why = near[0] ? (near[1] ? NPMD_DROP_PAIR : NPMD_DROP_END) : near[1] ? NPMD_DROP_START : NPMD_DROP_BOTH;
    l.turned = side[0] > side[1];
    for (int i = 0; l.turned && i < 3; i++) {
        const double x = l.x[i];
        l.x[i] = l.x[i + 3];
        l.x[i + 3] = x;
    }
    return l;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static npmd_status landing_keep(journey *j, const landing *l, double weight, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    growing *g = &j->kept[l->pair];
    TRY(memory_grow((void **)&g->x, &g->room, g->count + 1, 6 * sizeof *g->x, err));
    memcpy(g->x + 6 * g->count, l->x, sizeof l->x);
    if (j->what->weights != NULL) {
        TRY(memory_grow((void **)&g->weight, &g->weight_room, g->count + 1, sizeof *g->weight, err));
        g->weight[g->count] = weight;
    }
    g->count++;
    TRY(memory_grow((void **)&j->distance, &j->distance_room, j->distances + 2, sizeof *j->distance, err));
    j->distance[j->distances++] = l->distance[0];
    j->distance[j->distances++] = l->distance[1];
    j->facts.turned += l->turned;
done:
    return st;
}

static npmd_status block_place(journey *j, size_t count, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int threads = threads_wanted(j->threads);
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(dynamic, 32)
    for (size_t i = 0; i < count; i++)
        j->place[i] = streamline_place(j, &j->line[i], j->weight[i]);
    for (size_t i = 0; i < count; i++)
        if (j->place[i].kept)
            TRY(landing_keep(j, &j->place[i], j->weight[i], err));
        else
            j->facts.dropped[j->place[i].why]++;
    j->facts.streamlines += count;
done:
    return st;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* SIFT2 writes its weights into one line, other tools into one column. */
static npmd_status weights_read(const char *path, table *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    char where[1200];
    TRY(numbers_read(path, &t, err));
    if (t.rows > 1 && t.columns > 1)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s has %zu rows of %zu numbers, expected one row or one column", path,
                      t.rows, t.columns));
    for (size_t i = 0; i < t.rows * t.columns; i++)
        if (t.data[i] < 0.0) {
            table_where(&t, t.rows > 1 ? i : 0, where, sizeof where);
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: weight %zu is %g, expected none below zero", where, i + 1,
                          t.data[i]));
        }
    *out = t;
    t = (table){ 0 };
done:
    table_free(&t);
    return st;
}

static npmd_status file_place(journey *j, int file, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *path = j->what->tracks[file];
    tracts *t = NULL;
    table weights = { 0 };
    size_t count = 0, seen = 0;
    if (j->what->weights != NULL)
        TRY(weights_read(j->what->weights[file], &weights, err));
    const size_t weighed = weights.rows * weights.columns;
    TRY(tracts_open(path, j->what->affine != NULL ? &j->voxel_to_ras : NULL, &t, err));
    for (bool more = true; more;) {
        TRY(tracts_next(t, &j->line[count], &more, err));
        if (more) {
            j->weight[count++] = seen < weighed ? weights.data[seen] : 1.0;
            seen++;
        }
        if (count == BLOCK || !more) {
            TRY(block_place(j, count, err));
            count = 0;
        }
    }
    if (j->what->weights != NULL && weighed != seen)
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%s has %zu weights, but %s has %zu streamlines", j->what->weights[file],
                       weighed, path, seen);
done:
    tracts_close(t);
    table_free(&weights);
    return st;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static npmd_status request_check(const npmd_endpoints_request *what, npmd_error *err)
{
    const bool two = what->surface[1] != NULL, round = what->sphere[0] != NULL;
    const unsigned right = 1u << NPMD_PAIR_RR | 1u << NPMD_PAIR_LR, all = right | 1u << NPMD_PAIR_LL;
    if (what->files < 1 || what->tracks == NULL || what->surface[0] == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a file of streamlines and a surface are needed");
    if ((two && round != (what->sphere[1] != NULL)) || (!two && what->sphere[1] != NULL))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "spheres are given for all surfaces or for none");
    if (what->pairs > all || (!two && (what->pairs & right) != 0))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "pairs of the right hemisphere need its surface");
    if (!(what->max_distance >= 0.0 && isfinite(what->max_distance)))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the largest distance is %g, expected a positive number",
                         what->max_distance);
    if (what->transform != NULL && what->space != NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "a space and a transform are given, expected one of them");
    return NPMD_OK;
}

static npmd_status journey_open(const npmd_endpoints_request *what, journey *j, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    j->what = what;
    j->sides = what->surface[1] != NULL ? 2 : 1;
    j->most = what->max_distance > 0.0 ? what->max_distance : DISTANCE_DEFAULT;
    j->pairs = what->pairs != 0 ? what->pairs : (1u << NPMD_PAIRS) - 1u;
    j->transform = AFFINE_IDENTITY;
    if (what->affine != NULL)
        TRY(affine_read(what->affine, &j->voxel_to_ras, err));
    if (what->transform != NULL)
        TRY(affine_read(what->transform, &j->transform, err));
    else if (what->space != NULL)
        TRY(affine_from_space(what->space, &j->transform, err));
    for (int s = 0; s < j->sides; s++)
        TRY(hemisphere_open(what->surface[s], what->sphere[s], &j->side[s], err));
    TRY(memory_new(&j->line, BLOCK, err));
    TRY(memory_new(&j->weight, BLOCK, err));
    TRY(memory_new(&j->place, BLOCK, err));
done:
    return st;
}

static void journey_close(journey *j)
{
    for (int s = 0; s < 2; s++)
        hemisphere_close(&j->side[s]);
    for (int p = 0; p < NPMD_PAIRS; p++) {
        memory_free_all(j->kept[p].x, j->kept[p].weight);
    }
    memory_free_all(j->line, j->weight, j->place, j->distance);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of each streamline two distances: an even number of them. */
static void distances_sum_up(double *distance, size_t count, npmd_endpoints_facts *facts)
{
    facts->distance_median = facts->distance_max = NAN;
    if (count == 0)
        return;
    qsort(distance, count, sizeof *distance, ascending);
    facts->distance_median = 0.5 * (distance[count / 2 - 1] + distance[count / 2]);
    facts->distance_max = distance[count - 1];
}

npmd_status endpoints_find(const npmd_endpoints_request *what, int threads, npmd_endpoints *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    journey *j = NULL; /* its meshes are not to be moved */
    TRY(request_check(what, err));
    TRY(memory_new(&j, 1, err));
    j->threads = threads;
    TRY(journey_open(what, j, err));
    for (int file = 0; file < what->files; file++)
        TRY(file_place(j, file, err));
    distances_sum_up(j->distance, j->distances, &j->facts);
    for (int p = 0; p < NPMD_PAIRS; p++) {
        j->facts.count[p] = j->kept[p].count;
        out->x[p] = j->kept[p].x;
        out->weight[p] = j->kept[p].weight;
        j->kept[p] = (growing){ 0 };
    }
    out->facts = j->facts;
done:
    if (j != NULL)
        journey_close(j);
    memory_free(j);
    return st;
}

void endpoints_free(npmd_endpoints *e)
{
    if (e == NULL)
        return;
    for (int p = 0; p < NPMD_PAIRS; p++) {
        memory_free_all(e->x[p], e->weight[p]);
    }
    *e = (npmd_endpoints){ 0 };
}
