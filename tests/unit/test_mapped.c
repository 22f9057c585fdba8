/* test_mapped.c - points and weights that stay in a mapped file give the same numbers, to the bit, as those in memory:
 * rows, hash, messages, densities, scores, fits. */
#include "check.h"
#include "model.h"

#include <unistd.h>

/* Rows at an address of any alignment; release is counted. */
typedef struct rows_case {
    const char *domain;
    unsigned coords;
    bool f4;
    size_t shift; /* bytes off the alignment */
} rows_case;

static const rows_case CASES[] = {
    { "T2", 0, false, 0 },
    { "T2", 0, false, 3 },
    { "T3", 0, true, 1 },
    { "S1 x S1", NPMD_COORDS_DEGREES, true, 0 },
    { "S2", 0, false, 5 },
    { "S2", 0, true, 2 },
    { "S2", NPMD_COORDS_LATLON, false, 4 },
    { "S2 x S1 x S2", NPMD_COORDS_LATLON | NPMD_COORDS_DEGREES, true, 3 },
    { "S2 x S1", NPMD_COORDS_DEGREES, false, 7 },
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES, MANY = 2 * 65536 + 77 }; /* three blocks, and three pieces */

typedef struct place {
    unsigned char *block;
    number_rows rows;
    size_t columns;
    double *number; /* what stands there, as doubles: (n, columns) */
    int released;
} place;

static void count_release(void *owner)
{
    ((place *)owner)->released++;
}

static npmd_domain *domain_of(const char *text)
{
    npmd_domain *dom = NULL;
    assert_int_equal(npmd_domain_parse(text, &dom, NULL), NPMD_OK);
    return dom;
}

/* n rows in the file's own coordinates; angles beyond one turn, and vectors that are unit to 1e-4 only. */
static void place_open(place *p, const npmd_domain *dom, const rows_case *c, size_t n, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->columns = points_file_columns(dom, c->coords);
    p->number = doubles(n * p->columns);
    for (size_t i = 0; i < n; i++) {
        double *at = p->number + i * p->columns;
        for (int d = 0; d < dom->factors; d++) {
            if (dom->factor[d] == &CIRCLE) {
                *at++ = (c->coords & NPMD_COORDS_DEGREES ? 180.0 / (double)CHECK_PI : 1.0)
                        * (20.0 * test_uniform(&seed) - 7.0);
            } else if (c->coords & NPMD_COORDS_LATLON) {
                *at++ = 180.0 * test_uniform(&seed) - 90.0;
                *at++ = 720.0 * test_uniform(&seed) - 360.0;
            } else {
                test_unit_vector(&seed, at);
                for (int j = 0; j < 3; j++)
                    at[j] *= 1.0 + 1e-4 * test_uniform(&seed);
                at += 3;
            }
        }
    }
    const size_t item = c->f4 ? sizeof(float) : sizeof(double), count = n * p->columns;
    p->block = malloc(count * item + 64);
    assert_non_null(p->block);
    for (size_t i = 0; i < count; i++) {
        const float narrow = (float)p->number[i];
        if (c->f4) {
            memcpy(p->block + c->shift + i * item, &narrow, item);
            p->number[i] = (double)narrow;
        } else {
            memcpy(p->block + c->shift + i * item, &p->number[i], item);
        }
    }
    p->rows = (number_rows){
        .bytes = p->block + c->shift, .f4 = c->f4, .columns = p->columns, .owner = p, .release = count_release
    };
}

static void place_close(place *p)
{
    free(p->block);
    free(p->number);
}

static npmd_points *map(const npmd_domain *dom, const place *p, size_t n, unsigned coords)
{
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    size_t bad = 0;
    int factor = 0;
    const char *reason = "none";
    if (points_map(dom, &p->rows, n, coords, &pts, &bad, &factor, &reason, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_null(reason);
    return pts;
}

/* The same points in memory. */
static npmd_points *hold(const npmd_domain *dom, const place *p, size_t n, unsigned coords)
{
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    int factor = 0;
    double *x = doubles(n * (size_t)dom->columns);
    for (size_t i = 0; i < n; i++)
        assert_null(points_from_row(dom, coords, p->number + i * p->columns, x + i * (size_t)dom->columns, &factor));
    if (points_from(x, n, dom, &pts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    /* canonical rows are their own canonical form, up to a rounding of unit vectors: take the first one */
    memcpy(pts->x, x, n * (size_t)dom->columns * sizeof *x);
    free(x);
    return pts;
}

/* Weights for both: in memory as npmd_points_weigh makes them, and in a "file". */
static void weigh_both(npmd_points *mapped, npmd_points *held, place *w, bool f4)
{
    const size_t n = held->n;
    uint64_t seed = 8;
    double total = 0.0;
    memset(w, 0, sizeof *w);
    w->number = doubles(n);
    w->block = malloc(n * sizeof(double) + 64);
    assert_non_null(w->block);
    const size_t item = f4 ? sizeof(float) : sizeof(double);
    for (size_t i = 0; i < n; i++) {
        const float narrow = (float)(i % 7 == 3 ? 0.0 : 0.1 + test_uniform(&seed));
        const double wide = f4 ? (double)narrow : (double)narrow / 3.0;
        memcpy(w->block + 1 + i * item, f4 ? (const void *)&narrow : &wide, item);
        total += w->number[i] = wide;
    }
    held->weight = NULL;
    assert_int_equal(memory_new(&held->weight, n, NULL), NPMD_OK);
    for (size_t i = 0; i < n; i++)
        held->weight[i] = (double)n / total * w->number[i];
    mapped->weight_file = (number_rows){
        .bytes = w->block + 1, .f4 = f4, .columns = 1, .owner = w, .release = count_release
    };
    mapped->weight_scale = held->weight_scale = (double)n / total;
    mapped->total = held->total = total;
}

static void rows_hash_and_weights(void **state)
{
    (void)state;
    for (size_t k = 0; k < CASE_COUNT; k++) {
        const rows_case *c = &CASES[k];
        npmd_domain *dom = domain_of(c->domain);
        const size_t columns = (size_t)dom->columns;
        place p, w;
        place_open(&p, dom, c, MANY, 3 + k);
        npmd_points *mapped = map(dom, &p, MANY, c->coords), *held = hold(dom, &p, MANY, c->coords);
        assert_null(mapped->x);
        assert_int_equal(npmd_points_bytes(mapped), 0);
        assert_int_equal(npmd_points_count(mapped), MANY);
        double *room = doubles(100 * columns), one[DOMAIN_MAX_COLUMNS];
        for (size_t first = 0; first < MANY; first += 100) {
            const size_t count = MANY - first < 100 ? MANY - first : 100;
            assert_memory_equal(points_rows(mapped, first, count, room), held->x + first * columns,
                                count * columns * sizeof *room);
            npmd_points_row(mapped, first, one);
            assert_memory_equal(one, held->x + first * columns, columns * sizeof *one);
        }
        assert_true(points_hash(mapped) == points_hash(held));
        const uint64_t bare = points_hash(mapped);
        weigh_both(mapped, held, &w, c->f4);
        for (size_t i = 0; i < MANY; i++)
            assert_true(points_weight(mapped, i) == points_weight(held, i));
        assert_true(points_hash(mapped) == points_hash(held) && points_hash(mapped) != bare);
        assert_int_equal(points_check_distinct(mapped, "", NULL), NPMD_OK);
        points_unweigh(mapped);
        assert_int_equal(w.released, 1);
        assert_true(points_hash(mapped) == bare);
        npmd_points_free(mapped);
        assert_int_equal(p.released, 1);
        npmd_points_free(held);
        free(room);
        place_close(&p);
        place_close(&w);
        npmd_domain_free(dom);
    }
}

/* The hash sees every number of every row, its place, and the weights. */
static void a_hash_of_everything(void **state)
{
    (void)state;
    enum { N = 65536 + 3 };
    npmd_domain *dom = domain_of("S2 x S1");
    const rows_case c = { "S2 x S1", 0, false, 0 };
    place p;
    place_open(&p, dom, &c, N, 5);
    npmd_points *pts = hold(dom, &p, N, 0);
    const uint64_t before = points_hash(pts);
    static const size_t AT[] = { 0, 3, 4 * 40000 + 1, 4 * 65536 - 1, 4 * 65536, 4 * N - 1 };
    for (size_t k = 0; k < sizeof AT / sizeof *AT; k++) {
        const double old = pts->x[AT[k]];
        pts->x[AT[k]] = nextafter(old, 10.0);
        assert_true(points_hash(pts) != before);
        pts->x[AT[k]] = old;
    }
    double swap[4]; /* two rows of two blocks */
    memcpy(swap, pts->x, sizeof swap);
    memcpy(pts->x, pts->x + 4 * 65537, sizeof swap);
    memcpy(pts->x + 4 * 65537, swap, sizeof swap);
    assert_true(points_hash(pts) != before);
    npmd_points_free(pts);
    place_close(&p);
    npmd_domain_free(dom);
}

/* A number that is none, anywhere: the first such row is named, on any number of threads. */
static void bad_rows_are_named(void **state)
{
    (void)state;
    npmd_domain *dom = domain_of("S2 x S1");
    const rows_case c = { "S2 x S1", 0, true, 1 };
    static const struct {
        size_t row, column;
        float value;
        int factor;
        const char *reason;
    } BAD[] = { { 0, 3, NAN, 1, "is not finite" },
                { 70001, 3, INFINITY, 1, "is not finite" },
                { 70000, 1, NAN, 0, "is not finite" },
                { MANY - 1, 0, -INFINITY, 0, "is not finite" },
                { 40000, 2, 5.0F, 0, "length" } };
    place p;
    place_open(&p, dom, &c, MANY, 9);
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
        float old, later = NAN;
        unsigned char *at = p.block + 1 + (BAD[k].row * 4 + BAD[k].column) * sizeof(float);
        unsigned char *end = p.block + 1 + (4 * (size_t)MANY - 1) * sizeof(float); /* a second one, behind it */
        memcpy(&old, at, sizeof old);
        float old_end;
        memcpy(&old_end, end, sizeof old_end);
        memcpy(end, &later, sizeof later);
        memcpy(at, &BAD[k].value, sizeof old);
        npmd_points *pts = NULL;
        size_t bad = 0;
        int factor = -1;
        const char *reason = NULL;
        p.released = 0;
        assert_int_equal(points_map(dom, &p.rows, MANY, 0, &pts, &bad, &factor, &reason, NULL), NPMD_OK);
        assert_null(pts);
        assert_int_equal(bad, BAD[k].row);
        assert_int_equal(factor, BAD[k].factor);
        assert_non_null(reason);
        if (strstr(reason, BAD[k].reason) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", reason, BAD[k].reason);
        assert_int_equal(p.released, 1);
        memcpy(end, &old_end, sizeof old_end);
        memcpy(at, &old, sizeof old);
    }
    place_close(&p);
    npmd_domain_free(dom);
}

static void distinct_points(void **state)
{
    (void)state;
    enum { N = 70000 };
    npmd_domain *dom = domain_of("T2");
    place p, w;
    const rows_case c = { "T2", 0, false, 3 };
    place_open(&p, dom, &c, N, 9);
    const double two_pi = 2.0 * (double)CHECK_PI;
    for (size_t i = 0; i < 2 * N; i++) { /* one point, a turn apart in some rows */
        const double x = i % 6 == 4 ? 1.0 + two_pi : 1.0;
        memcpy(p.block + 3 + i * sizeof x, &x, sizeof x);
        p.number[i] = x;
    }
    for (int step = 0; step < 3; step++) {
        npmd_error err = { 0 };
        const double other = 2.0;
        if (step > 0) { /* another point in the row before the last */
            memcpy(p.block + 3 + (2 * N - 3) * sizeof other, &other, sizeof other);
            p.number[2 * N - 3] = other;
        }
        npmd_points *mapped = map(dom, &p, N, 0), *held = hold(dom, &p, N, 0);
        memset(&w, 0, sizeof w);
        if (step == 2) { /* which counts nothing */
            weigh_both(mapped, held, &w, false);
            held->weight[N - 2] = 0.0;
            const double none = 0.0;
            memcpy(w.block + 1 + (N - 2) * sizeof none, &none, sizeof none);
        }
        /* 1 + 2 pi - 2 pi is 1 to a rounding only: what is distinct in memory is distinct in a file */
        assert_int_equal(points_check_distinct(mapped, "here", &err), points_check_distinct(held, "here", &err));
        if (step == 1)
            assert_int_equal(points_check_distinct(mapped, "here", NULL), NPMD_OK);
        npmd_points_free(mapped);
        npmd_points_free(held);
        place_close(&w);
    }
    place_close(&p);
    npmd_domain_free(dom);
}

/* A small file of weights is read, a large one mapped: the same weights, to the bit. */
static void weights_in_memory(void **state)
{
    (void)state;
    enum { N = 1000 };
    npmd_domain *dom = domain_of("T1");
    const char *base = getenv("TMPDIR");
    char path[300];
    double x[N], w[N], total = 0.0;
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    uint64_t seed = 12;
    for (int i = 0; i < N; i++) {
        x[i] = 6.0 * test_uniform(&seed);
        total += w[i] = i % 9 == 0 ? 0.0 : test_uniform(&seed);
    }
    snprintf(path, sizeof path, "%.200s/npmd-weights-XXXXXX.npy", base != NULL && *base ? base : P_tmpdir);
    close(mkstemps(path, 4));
    if (points_from(x, N, dom, &pts, &err) != NPMD_OK || npmd_array_write(path, w, N, 1, &err) != NPMD_OK
        || npmd_points_weigh(pts, path, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    unlink(path);
    const npmd_points mapped = { .weight_file = { .bytes = (const unsigned char *)w, .columns = 1 },
                                 .weight_scale = (double)N / total };
    assert_true(pts->total == total);
    for (size_t i = 0; i < N; i++)
        assert_true(points_weight(pts, i) == points_weight(&mapped, i));
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static npmd_options small_options(void)
{
    static const char *const SET[][2] = { { "features", "16" },  { "width", "8" },    { "depth", "3" },
                                          { "q1", "256" },       { "q2", "64" },      { "tau", "1e-4" },
                                          { "rivals", "off" }, /* of 65,613 points */
                                          { "steps", "3" },      { "batch", "1000" }, { "centres", "32" },
                                          { "accuracy", "0.1" }, { "threads", "1" },  { "criterion", "likelihood" } };
    npmd_options opt;
    options_init(&opt);
    for (size_t i = 0; i < sizeof SET / sizeof *SET; i++)
        assert_int_equal(npmd_options_set(&opt, SET[i][0], SET[i][1], NULL), NPMD_OK);
    return opt;
}

static npmd_model *fitted(const npmd_domain *dom, const npmd_points *pts, const char *tau)
{
    npmd_options opt = small_options();
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_options_set(&opt, "tau", tau, NULL), NPMD_OK);
    if (npmd_fit(dom, pts, &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return m;
}

static void assert_same_bits(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("number %zu: %.17g and %.17g", i, a[i], b[i]);
}

/* Evaluation goes through a mapped file in pieces: their edges must not show. */
static void densities_scores_and_fits(void **state)
{
    (void)state;
    static const rows_case FITTED[] = { { "T2", 0, false, 3 }, { "S2 x S1", NPMD_COORDS_LATLON, true, 2 } };
    enum { SOME = 65536 + 77 };
    const npmd_compute how = { .size = sizeof how, .threads = 1 };
    for (size_t k = 0; k < 2; k++) {
        npmd_domain *dom = domain_of(FITTED[k].domain);
        place p, w = { 0 };
        place_open(&p, dom, &FITTED[k], SOME, 21);
        npmd_points *mapped = map(dom, &p, SOME, FITTED[k].coords), *held = hold(dom, &p, SOME, FITTED[k].coords);
        const size_t columns = (size_t)dom->columns;
        double *a = doubles(SOME * columns), *b = doubles(SOME * columns);
        weigh_both(mapped, held, &w, false);
        npmd_model *m = fitted(dom, mapped, "1e-4"), *same = fitted(dom, held, "1e-4");
        for (int what = NPMD_LOG_DENSITY; what <= NPMD_LAPLACIAN; what++) {
            assert_int_equal(npmd_evaluate_at(m, mapped, (npmd_what)what, &how, a, NULL), NPMD_OK);
            assert_int_equal(npmd_evaluate_at(same, held, (npmd_what)what, &how, b, NULL), NPMD_OK);
            assert_same_bits(a, b, what == NPMD_GRADIENT ? SOME * columns : SOME);
        }
        npmd_score one = NPMD_SIZED(npmd_score), other = NPMD_SIZED(npmd_score);
        assert_int_equal(npmd_score_points(m, mapped, 1, &how, &one, NULL), NPMD_OK);
        assert_int_equal(npmd_score_points(same, held, 1, &how, &other, NULL), NPMD_OK);
        assert_true(one.n == other.n && one.nll == other.nll && one.nll_se == other.nll_se
                    && one.log_integral == other.log_integral && one.ise_criterion == other.ise_criterion
                    && one.ise_criterion_se == other.ise_criterion_se);
        assert_true(m->facts.objective == same->facts.objective && m->facts.log_integral == same->facts.log_integral);
        npmd_model_free(m);
        npmd_model_free(same);
        m = fitted(dom, mapped, "auto"); /* parts of the points are copied out */
        same = fitted(dom, held, "auto");
        assert_true(m->facts.objective == same->facts.objective);
        npmd_model_free(m);
        npmd_model_free(same);
        npmd_points_free(mapped);
        npmd_points_free(held);
        place_close(&p);
        place_close(&w);
        npmd_domain_free(dom);
        free(a);
        free(b);
    }
}

/* ---- real files -------------------------------------------------------------------------------------------------- */

/* Just above 64 MiB, where files begin to be mapped: 8.4 million points of T2 in f4 and their weights in f8. */
static void large_files(void **state)
{
    (void)state;
    enum { N = 8400000, PIECE = 10000 };
    const char *base = getenv("TMPDIR");
    char path[2][300];
    float x[2 * PIECE];
    double w[PIECE], total = 0.0;
    npmd_error err = { 0 };
    uint64_t seed = 4;
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%.200s/npmd-mapped-XXXXXX.npy", base != NULL && *base ? base : P_tmpdir);
        const int fd = mkstemps(path[k], 4);
        FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
        assert_non_null(f);
        char header[128]; /* 10 + 73 bytes: the numbers are not aligned */
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,%s), }",
                 k == 0 ? "<f4" : "<f8", N, k == 0 ? " 2" : "");
        assert_true(fprintf(f, "\x93NUMPY%c%c%c%c%-72s\n", 1, 0, 73, 0, header) == 83);
        for (int i = 0; i < PIECE; i++) {
            x[2 * i] = (float)(3.0 + 0.1 * test_uniform(&seed) - 0.05);
            x[2 * i + 1] = (float)(9.0 * test_uniform(&seed));
            w[i] = (double)(i % 5);
            total += k * w[i] * (N / PIECE);
        }
        for (int done = 0; done < N; done += PIECE)
            assert_int_equal(k == 0 ? fwrite(x, sizeof *x, 2 * PIECE, f) : fwrite(w, sizeof *w, PIECE, f),
                             k == 0 ? 2 * PIECE : PIECE);
        assert_int_equal(fclose(f), 0);
    }
    npmd_domain *dom = domain_of("T2");
    npmd_points *mapped = NULL;
    if (npmd_points_read(path[0], dom, 0, &mapped, &err) != NPMD_OK
        || npmd_points_weigh(mapped, path[1], &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_true(mapped->x == NULL && mapped->weight == NULL && mapped->total == total);
    assert_int_equal(npmd_points_bytes(mapped), 0);
    assert_int_equal(npmd_points_count(mapped), N);
    /* the same in memory, read through the map: rows are compared above */
    npmd_points *held = NULL;
    double *all = doubles((size_t)2 * N);
    const double *rows = points_rows(mapped, 0, N, all);
    assert_int_equal(points_from(rows, N, dom, &held, NULL), NPMD_OK);
    assert_int_equal(memory_new(&held->weight, N, NULL), NPMD_OK);
    held->total = total;
    for (size_t i = 0; i < N; i++) {
        held->weight[i] = points_weight(mapped, i);
        assert_true(held->weight[i] == (double)N / total * (double)(i % 5));
    }
    assert_true(points_hash(mapped) == points_hash(held));
    free(all);
    npmd_model *m = fitted(dom, mapped, "1e-4"), *same = fitted(dom, held, "1e-4");
    double probe[200], a[100], b[100];
    for (int i = 0; i < 200; i++)
        probe[i] = 6.0 * test_uniform(&seed);
    assert_int_equal(npmd_log_density(m, probe, 100, a, NULL), NPMD_OK);
    assert_int_equal(npmd_log_density(same, probe, 100, b, NULL), NPMD_OK);
    assert_same_bits(a, b, 100);
    npmd_model_free(m);
    npmd_model_free(same);
    npmd_points_free(held);
    /* one weight too few, and columns of another domain */
    npmd_domain *circle = domain_of("T1");
    npmd_points *none = NULL;
    assert_int_equal(npmd_points_read(path[0], circle, 0, &none, &err), NPMD_ERR_SHAPE);
    assert_non_null(strstr(err.text, "has 2 columns"));
    assert_int_equal(npmd_points_weigh(mapped, path[0], &err), NPMD_ERR_SHAPE);
    assert_true(points_weight(mapped, 1) == (double)N / total); /* the weights that were there stay */
    assert_null(none);
    npmd_domain_free(circle);
    npmd_points_free(mapped);
    npmd_domain_free(dom);
    unlink(path[0]);
    unlink(path[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hash_and_weights), cmocka_unit_test(a_hash_of_everything),
        cmocka_unit_test(bad_rows_are_named),    cmocka_unit_test(distinct_points),
        cmocka_unit_test(weights_in_memory),     cmocka_unit_test(densities_scores_and_fits),
        cmocka_unit_test(large_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
