/* test_endpoints.c - ends of streamlines on octahedra, where the closest points are known, and on fsaverage5, where
 * another program found them. */
#include "io.h"
#include "place.h"
#include "tracks.h"

#include "neuropmd-surfaces.h"

/* Two octahedra of radius 10 about (-20, 0, 0) and (20, 0, 0), and spheres of radius 100 with the same faces but
 * other axes: a point carried over by its coordinates in space would land elsewhere. */
enum { FACES = 8, LEFT = 0, RIGHT = 1 };
static const int FACE[FACES][3] = { { 0, 2, 4 }, { 2, 1, 4 }, { 1, 3, 4 }, { 3, 0, 4 },
                                    { 2, 0, 5 }, { 1, 2, 5 }, { 3, 1, 5 }, { 0, 3, 5 } };
static const double CORNER[6][3] = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
static const double CENTRE[2] = { -20, 20 };
#define RADIUS 10.0

static const char *put_octahedron(place *p, const char *name, double x, double radius, int turn)
{
    char text[1024] = "OFF\n6 8 0\n";
    for (int i = 0; i < 6; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%g %g %g\n", x + radius * CORNER[i][turn % 3],
                 radius * CORNER[i][(turn + 1) % 3], radius * CORNER[i][(turn + 2) % 3]);
    for (int f = 0; f < FACES; f++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "3 %d %d %d\n", FACE[f][0], FACE[f][1], FACE[f][2]);
    return put_text(p, name, text);
}

typedef struct files { /* absolute names that last */
    char surface[2][300], sphere[2][300], tracks[2][300], weights[2][300], other[300];
} files;

static files *files_make(place *p)
{
    static files f;
    snprintf(f.surface[LEFT], sizeof f.surface[0], "%s", put_octahedron(p, "lh.off", CENTRE[LEFT], RADIUS, 0));
    snprintf(f.surface[RIGHT], sizeof f.surface[0], "%s", put_octahedron(p, "rh.off", CENTRE[RIGHT], RADIUS, 0));
    snprintf(f.sphere[LEFT], sizeof f.sphere[0], "%s", put_octahedron(p, "lh.sphere.off", 0, 100, 1));
    snprintf(f.sphere[RIGHT], sizeof f.sphere[0], "%s", put_octahedron(p, "rh.sphere.off", 0, 100, 2));
    for (int i = 0; i < 2; i++) {
        snprintf(f.tracks[i], sizeof f.tracks[i], "%s/tracks%d.tck", p->folder, i);
        snprintf(f.weights[i], sizeof f.weights[i], "%s/weights%d.txt", p->folder, i);
    }
    snprintf(f.other, sizeof f.other, "%s/other.txt", p->folder);
    return &f;
}

/* A random point of a side at this distance from a face, along its normal: there is no closer one, for an octahedron is
 * convex. at: the point itself; on the surface; on the unit sphere. */
typedef struct known_end {
    double at[3], surface[3], sphere[3];
} known_end;

static known_end end_draw(uint64_t *seed, int side, double distance)
{
    known_end e = { .at = { 0 } };
    const int *f = FACE[(int)(FACES * test_uniform(seed))];
    double u = test_uniform(seed), v = test_uniform(seed), r2 = 0.0;
    if (u + v > 1.0) {
        u = 1.0 - u;
        v = 1.0 - v;
    }
    const double share[3] = { 1.0 - u - v, u, v };
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            e.surface[k] += RADIUS * share[c] * CORNER[f[c]][k];
            e.sphere[k] += share[c] * CORNER[f[c]][(k + 1 + side) % 3];
        }
        /* the normal of a face of an octahedron is the sum of its corners, over sqrt(3) */
        e.at[k] = e.surface[k] + distance * (CORNER[f[0]][k] + CORNER[f[1]][k] + CORNER[f[2]][k]) / sqrt(3.0);
        r2 += e.sphere[k] * e.sphere[k];
    }
    e.surface[0] += CENTRE[side];
    e.at[0] += CENTRE[side];
    for (int k = 0; k < 3; k++)
        e.sphere[k] /= sqrt(r2);
    return e;
}

/* Coordinates up to 40 mm in double precision, some ten operations on them: 10 x 40 x 1.1e-16 x sqrt(3), and as much
 * over the height of a face, 12 mm, on the sphere. */
#define BOUND_MM 8e-14
#define BOUND_UNIT 8e-14

typedef struct known_line {
    known_end end[2];
    int side[2];
    double distance[2], weight;
    size_t points;
} known_line;
enum { LINES = 5000 }; /* more than a block */

/* Of each kind some: short ones, weight zero, an end or both too far (the surfaces are 20 mm apart: less than 9 mm
 * keeps a point nearer to its own). */
static known_line *lines_draw(void)
{
    known_line *lines = calloc(LINES, sizeof *lines);
    uint64_t seed = 7;
    assert_non_null(lines);
    for (int i = 0; i < LINES; i++) {
        known_line *l = &lines[i];
        l->points = test_uniform(&seed) < 0.1 ? (size_t)(i % 2) : 2 + (size_t)(i % 4);
        l->weight = test_uniform(&seed) < 0.1 ? 0.0 : test_uniform(&seed);
        for (int e = 0; e < 2; e++) {
            l->side[e] = test_uniform(&seed) < 0.5 ? LEFT : RIGHT;
            l->distance[e] = test_uniform(&seed) < 0.7 ? 3.999 * test_uniform(&seed)
                                                       : 4.001 + 4.0 * test_uniform(&seed);
            l->end[e] = end_draw(&seed, l->side[e], l->distance[e]);
        }
    }
    return lines;
}

static void put_lines(const char *path, const known_line *lines, int first, int count)
{
    track_bytes b = { 0 };
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    tck_begin(&b, "Float64LE", NULL);
    for (int i = first; i < first + count; i++) {
        const known_line *l = &lines[i];
        double x[8][3] = { { 0 } };
        memcpy(x[0], l->end[0].at, sizeof x[0]);
        if (l->points > 1)
            memcpy(x[l->points - 1], l->end[1].at, sizeof x[0]);
        tck_line(&b, "Float64LE", l->points, (const double(*)[3])x);
    }
    tck_end(&b, "Float64LE");
    assert_true(fwrite(b.data, 1, b.size, file) == b.size && fclose(file) == 0);
    track_free(&b);
}

/* One line as SIFT2 writes it, or one column. */
static void put_weights(const char *path, const known_line *lines, int first, int count, bool column)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "# command_history: tcksift2\n");
    for (int i = first; i < first + count; i++)
        fprintf(file, "%.17g%c", lines[i].weight, column ? '\n' : ' ');
    assert_int_equal(fclose(file), 0);
}

static npmd_endpoints_request request_make(const files *f)
{
    static const char *tracks[2], *weights[2];
    npmd_endpoints_request what = { .size = sizeof what, .tracks = tracks, .files = 2, .max_distance = 4 };
    for (int i = 0; i < 2; i++) {
        tracks[i] = f->tracks[i];
        weights[i] = f->weights[i];
        what.surface[i] = f->surface[i];
        what.sphere[i] = f->sphere[i];
    }
    what.weights = weights;
    return what;
}

static int drop_expected(const known_line *l, unsigned pairs, bool weighed, npmd_pair *pair)
{
    const bool near[2] = { l->distance[0] <= 4.0, l->distance[1] <= 4.0 };
    *pair = l->side[0] != l->side[1] ? NPMD_PAIR_LR : l->side[0] == LEFT ? NPMD_PAIR_LL : NPMD_PAIR_RR;
    if (l->points < 2)
        return NPMD_DROP_POINTS;
    if (weighed && l->weight == 0.0)
        return NPMD_DROP_WEIGHT;
    if (!near[0] && !near[1])
        return NPMD_DROP_BOTH;
    if (!near[0])
        return NPMD_DROP_START;
    if (!near[1])
        return NPMD_DROP_END;
    return pairs & 1u << *pair ? -1 : NPMD_DROP_PAIR;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_ends(const npmd_endpoints *e, const npmd_endpoints_request *what, const known_line *lines)
{
    npmd_endpoints_facts facts = NPMD_SIZED(npmd_endpoints_facts);
    assert_int_equal(npmd_endpoints_facts_of(e, &facts, NULL), NPMD_OK);
    const bool round = what->sphere[0] != NULL, weighed = what->weights != NULL;
    size_t dropped[NPMD_DROPS] = { 0 }, count[NPMD_PAIRS] = { 0 }, turned = 0, kept = 0;
    double worst = 0.0, *distance = doubles(2 * LINES);
    for (int i = 0; i < LINES; i++) {
        const known_line *l = &lines[i];
        npmd_pair pair;
        const int drop = drop_expected(l, what->pairs != 0 ? what->pairs : 7u, weighed, &pair);
        if (drop >= 0) {
            dropped[drop]++;
            continue;
        }
        const size_t row = count[pair]++;
        const int first = l->side[0] > l->side[1]; /* the left end comes first */
        turned += (size_t)first;
        assert_true(row < facts.count[pair]);
        for (int k = 0; k < 6; k++) {
            const known_end *end = &l->end[k < 3 ? first : !first];
            const double x = round ? end->sphere[k % 3] : end->surface[k % 3];
            worst = fmax(worst, fabs(npmd_endpoints_rows(e, pair)[6 * row + (size_t)k] - x));
        }
        if (weighed)
            assert_true(npmd_endpoints_weights(e, pair)[row] == l->weight);
        distance[kept++] = l->distance[0];
        distance[kept++] = l->distance[1];
    }
    check_below(round ? "places on the sphere" : "places on the surface, mm", worst, round ? BOUND_UNIT : BOUND_MM);
    assert_memory_equal(dropped, facts.dropped, sizeof dropped);
    assert_memory_equal(count, facts.count, sizeof count);
    for (npmd_pair p = 0; p < NPMD_PAIRS; p++)
        assert_true((npmd_endpoints_rows(e, p) != NULL) == (count[p] > 0)
                    && (npmd_endpoints_weights(e, p) != NULL) == (weighed && count[p] > 0));
    assert_true(facts.streamlines == LINES && facts.turned == turned);
    qsort(distance, kept, sizeof *distance, rising);
    check_quiet("median distance", fabs(facts.distance_median - 0.5 * (distance[kept / 2 - 1] + distance[kept / 2])),
                BOUND_MM);
    check_quiet("largest distance", fabs(facts.distance_max - distance[kept - 1]), BOUND_MM);
    free(distance);
}

/* Both hemispheres: every reason, every pair, weights, two files, on the sphere and on the surface. */
static void ends_on_octahedra(void **state)
{
    place *p = *state;
    const files *f = files_make(p);
    known_line *lines = lines_draw();
    npmd_error err = { 0 };
    put_lines(f->tracks[0], lines, 0, 4200);
    put_lines(f->tracks[1], lines, 4200, LINES - 4200);
    put_weights(f->weights[0], lines, 0, 4200, false);
    put_weights(f->weights[1], lines, 4200, LINES - 4200, true);
    for (unsigned pairs = 0; pairs < 8; pairs++)
        for (int k = 0; k < 4; k++) {
            npmd_endpoints_request what = request_make(f);
            npmd_endpoints *e = NULL;
            const npmd_compute how = { .size = sizeof how, .threads = 1 + k };
            what.pairs = pairs;
            what.how = &how;
            if (k & 1)
                what.sphere[LEFT] = what.sphere[RIGHT] = NULL;
            if (k & 2)
                what.weights = NULL;
            must(npmd_endpoints_find(&what, &e, &err), &err);
            check_ends(e, &what, lines);
            npmd_endpoints_free(e);
        }
    free(lines);
}

/* One hemisphere: what ends at the other one is too far. */
static void one_hemisphere(void **state)
{
    place *p = *state;
    const files *f = files_make(p);
    known_line *lines = lines_draw();
    npmd_error err = { 0 };
    npmd_endpoints *e = NULL;
    npmd_endpoints_request what = request_make(f);
    size_t kept = 0;
    put_lines(f->tracks[0], lines, 0, LINES);
    what.files = 1;
    what.weights = NULL;
    what.surface[RIGHT] = what.sphere[RIGHT] = NULL;
    must(npmd_endpoints_find(&what, &e, &err), &err);
    for (int i = 0; i < LINES; i++) {
        npmd_pair pair;
        const bool same = drop_expected(&lines[i], 1u << NPMD_PAIR_LL, false, &pair) < 0;
        kept += same;
    }
    npmd_endpoints_facts facts = NPMD_SIZED(npmd_endpoints_facts);
    must(npmd_endpoints_facts_of(e, &facts, &err), &err);
    assert_true(facts.count[NPMD_PAIR_LL] == kept && facts.count[NPMD_PAIR_RR] == 0 && facts.count[NPMD_PAIR_LR] == 0);
    assert_true(facts.dropped[NPMD_DROP_PAIR] == 0 && facts.turned == 0);
    npmd_endpoints_free(e);
    free(lines);
}

/* A shift there and back by a file, and the known map from MNI152. */
static void ends_are_transformed(void **state)
{
    place *p = *state;
    const files *f = files_make(p);
    known_line *lines = lines_draw();
    npmd_error err = { 0 };
    npmd_endpoints *e = NULL;
    npmd_endpoints_request what = request_make(f);
    what.weights = NULL;
    put_text(p, "other.txt", "0 1 0 -8\n0 0 1 16\n1 0 0 4\n0 0 0 1\n"); /* x = (y' - 8, z' + 16, x' + 4) */
    for (int i = 0; i < LINES; i++)
        for (int k = 0; k < 2; k++) {
            const double *x = lines[i].end[k].at, moved[3] = { x[2] - 4, x[0] + 8, x[1] - 16 };
            memcpy(lines[i].end[k].at, moved, sizeof moved);
        }
    put_lines(f->tracks[0], lines, 0, 100);
    put_lines(f->tracks[1], lines, 100, LINES - 100);
    what.transform = f->other;
    must(npmd_endpoints_find(&what, &e, &err), &err);
    check_ends(e, &what, lines);
    npmd_endpoints_free(e);
    free(lines);
}

static void refused(const npmd_endpoints_request *what, npmd_status expected, const char *words)
{
    npmd_endpoints *e = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_endpoints_find(what, &e, &err), expected);
    assert_says(&err, words);
    assert_null(e);
}

static void refusals(void **state)
{
    place *p = *state;
    const files *f = files_make(p);
    known_line *lines = lines_draw();
    npmd_endpoints_request what = request_make(f);
    put_lines(f->tracks[0], lines, 0, 10);
    put_lines(f->tracks[1], lines, 10, 10);
    put_weights(f->weights[0], lines, 0, 10, true);
    put_weights(f->weights[1], lines, 10, 9, false);
    refused(&what, NPMD_ERR_SHAPE, "weights1.txt has 9 weights, but ");
    put_weights(f->weights[1], lines, 10, 11, false);
    refused(&what, NPMD_ERR_SHAPE, "tracks1.tck has 10 streamlines");
    put_text(p, "weights1.txt", "1 2 3 4 5\n1 2 3 4 -5\n");
    refused(&what, NPMD_ERR_FORMAT, "has 2 rows of 5 numbers, expected one row or one column");
    put_text(p, "weights1.txt", "1\n2\n-5\n");
    refused(&what, NPMD_ERR_FORMAT, "weights1.txt line 3: weight 3 is -5");
    what = request_make(f);
    what.weights = NULL;
    what.sphere[LEFT] = f->surface[LEFT];
    refused(&what, NPMD_ERR_FORMAT, "lh.off is no sphere about the origin: vertex 0 lies 10 from it, vertex 1 30");
    put_text(p, "other.txt", "OFF\n4 4 0\n1 0 0\n0 1 0\n0 0 1\n-1 -1 -1\n3 0 1 2\n3 0 3 1\n3 1 3 2\n3 2 3 0\n");
    char shape[320];
    snprintf(shape, sizeof shape, "%s/shape.off", p->folder);
    assert_int_equal(rename(f->other, shape), 0);
    what.sphere[LEFT] = shape;
    refused(&what, NPMD_ERR_SHAPE, "shape.off has 4 vertices and 4 faces, but ");
    /* The same octahedron with its last face begun at another corner: another face for barycentric coordinates. */
    size_t size = 0;
    unsigned char *text = get_bytes(f->sphere[LEFT], &size);
    char *last = strstr((char *)text, "3 0 3 5");
    assert_non_null(last);
    memcpy(last, "3 3 5 0", 7);
    put_bytes(p, "shape.off", text, size);
    free(text);
    refused(&what, NPMD_ERR_SHAPE, "face 7 of ");
    what = request_make(f);
    what.weights = NULL;
    what.sphere[RIGHT] = NULL;
    refused(&what, NPMD_ERR_ARGUMENT, "for all surfaces or for none");
    what.surface[RIGHT] = NULL;
    what.pairs = 1u << NPMD_PAIR_LR;
    refused(&what, NPMD_ERR_ARGUMENT, "need its surface");
    what.pairs = 0;
    what.max_distance = -1;
    refused(&what, NPMD_ERR_ARGUMENT, "largest distance is -1");
    what.max_distance = 0;
    what.space = "mni";
    refused(&what, NPMD_ERR_ARGUMENT, "'mni' is no space");
    what.transform = f->other;
    refused(&what, NPMD_ERR_ARGUMENT, "a space and a transform");
    what.space = NULL;
    refused(&what, NPMD_ERR_FILE, "other.txt");
    what.transform = NULL;
    what.files = 0;
    refused(&what, NPMD_ERR_ARGUMENT, "a file of streamlines and a surface are needed");
    free(lines);
}

/* Those that another program found on fsaverage5's left hemisphere (../shared/data/README.md). It knew the right one,
 * too, and left out ends that are nearer to that: all of its rows are among ours, in their order. */
static void ends_on_fsaverage5(void **state)
{
    place *p = *state;
    static const char *const NAMES[] = { "data/streamlines/stroke.trk.gz", "data/mesh/white_left.gii.gz",
                                         "data/mesh/sphere_left.gii.gz", "data/streamlines/endpoints_LL_xyz6.npy" };
    char path[4][1100];
    for (int i = 0; i < 4; i++) {
        const char *found = shared_file(p, NAMES[i]);
        if (found == NULL) {
            skip();
            return;
        }
        snprintf(path[i], sizeof path[i], "%s", found);
    }
    const char *tracks = path[0];
    const npmd_endpoints_request what = { .size = sizeof what,
                                          .tracks = &tracks,
                                          .files = 1,
                                          .surface = { path[1] },
                                          .sphere = { path[2] },
                                          .space = "mni152" };
    npmd_endpoints *e = NULL;
    npmd_error err = { 0 };
    table known = { 0 };
    must(npmd_endpoints_find(&what, &e, &err), &err);
    must(table_read(path[3], &known, &err), &err);
    npmd_endpoints_facts facts = NPMD_SIZED(npmd_endpoints_facts);
    must(npmd_endpoints_facts_of(e, &facts, &err), &err);
    const double *rows = npmd_endpoints_rows(e, NPMD_PAIR_LL);
    size_t at = 0, matched = 0;
    for (size_t i = 0; i < known.rows; i++) {
        size_t row = at;
        for (; row < facts.count[NPMD_PAIR_LL]; row++) {
            double chord = 0.0; /* 2 degrees are 0.0349 */
            for (int end = 0; end < 2; end++) {
                const double *a = rows + 6 * row + 3 * end, *b = known.data + 6 * i + 3 * end;
                chord = fmax(chord, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
            }
            if (chord <= 2.0 * sin((double)CHECK_PI / 180.0))
                break;
        }
        if (row < facts.count[NPMD_PAIR_LL]) {
            at = row + 1;
            matched++;
        }
    }
    print_message("    %zu of %zu rows within 2 degrees, %zu found\n", matched, known.rows, facts.count[NPMD_PAIR_LL]);
    assert_true((double)matched >= 0.95 * (double)known.rows);
    table_free(&known);
    npmd_endpoints_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_on_octahedra),    cmocka_unit_test(one_hemisphere),
        cmocka_unit_test(ends_are_transformed), cmocka_unit_test(refusals),
        cmocka_unit_test(ends_on_fsaverage5),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
