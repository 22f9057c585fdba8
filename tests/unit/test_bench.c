/* test_bench.c - what the benchmark counts, how it times, and what it says. */
#include "bench.h"
#include "check.h"

#include <dirent.h>
#include <unistd.h>

/* ---- Operations and bytes, by hand ------------------------------------------------------------------------------- */

/* T2: K = W = 128, L = 3. Layers have 128 x 128 = 16,384, 16,384 and 128 weights, 32,896 in all; 16,512 above the
 * first. Forward 2 x 32,896 = 65,792 operations a row; with both gradients 2 x (2 x 32,896 + 16,512) = 164,608.
 * Rows: 9,000 + 1,024 + (2 + 2) x 1,024 = 14,120. */
static void step_of_the_torus(void **state)
{
    const field_shape f = { .features = 128, .width = 128, .depth = 3, .directions = 2 };
    (void)state;
    assert_true(bench_forward_flop(&f) == 65792.0);
    assert_true(bench_row_flop(&f) == 164608.0);
    assert_true(bench_step_rows(&f, 9000, 1024, 1024) == 14120.0);
    assert_true(bench_step_flop(&f, 9000, 1024, 1024) == 2324264960.0);
    /* 9,000 x 128 floats; 33,153 parameters (128 + 128 + 1 biases) in four vectors of doubles, read and written;
     * in 16 lanes of floats, filled, read and cleared */
    assert_int_equal(field_parameters(&f), 33153);
    assert_true(bench_step_bytes(&f, 9000) == 9000.0 * 128 * 4 + 33153.0 * (4 * 2 * 8 + 16 * 3 * 4));
}

/* S2 x S2: K = W = 256, L = 6: 5 x 65,536 + 256 = 327,936 weights, 262,400 above the first layer; 2 x (2 x 327,936
 * + 262,400) = 1,836,544 a row, 115,411 + 100,000 + 6 x 10,000 = 275,411 rows. */
static void step_of_two_spheres(void **state)
{
    const field_shape f = { .features = 256, .width = 256, .depth = 6, .directions = 4 };
    (void)state;
    assert_true(bench_row_flop(&f) == 1836544.0);
    assert_true(bench_step_flop(&f, 115411, 100000, 10000) == 1836544.0 * 275411.0);
}

/* A linear series of 10 features: 10 weights, 20 operations forward, as many for their gradient. A skip of 7
 * features beside a network of 7 x 5 + 5 weights: 2 x (2 x (40 + 7) + 5) = 198. */
static void small_networks(void **state)
{
    const field_shape linear = { .features = 10, .width = 64, .depth = 1, .directions = 1 };
    const field_shape skipped = { .features = 7, .width = 5, .depth = 2, .directions = 1, .skip = true };
    (void)state;
    assert_true(bench_forward_flop(&linear) == 20.0);
    assert_true(bench_row_flop(&linear) == 40.0);
    assert_true(bench_forward_flop(&skipped) == 94.0);
    assert_true(bench_row_flop(&skipped) == 198.0);
}

/* The networks and the operation counts by which the published sizes are known. */
static void sizes_are_the_published_ones(void **state)
{
    static const struct {
        const char *name;
        int features, width, depth, directions;
        double gigaflop;
    } KNOWN[] = { { "t2", 128, 128, 3, 2, 2.324264960 },
                  { "t4-authors", 256, 128, 4, 4, 69.414200320 },
                  { "t4", 256, 128, 4, 4, 18.776715264 },
                  { "s2s2", 256, 256, 6, 4, 505.804419584 },
                  { "s2s2-rotated", 256, 256, 6, 4, 505.804419584 } };
    (void)state;
    for (int i = 0; i < BENCH_SIZE_COUNT; i++) {
        bench_size s = BENCH_SIZES[i];
        bench_field f = { 0 };
        npmd_error err = { 0 };
        assert_string_equal(s.name, KNOWN[i].name);
        const double batch = (double)s.batch, q1 = (double)s.q1, q2 = (double)s.q2;
        s.n = s.batch = 50; /* points play no part */
        if (bench_field_open(&f, &s, 1, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        const field_shape *shape = &f.plan.shape;
        assert_int_equal(shape->features, KNOWN[i].features);
        assert_int_equal(shape->width, KNOWN[i].width);
        assert_int_equal(shape->depth, KNOWN[i].depth);
        assert_int_equal(shape->directions, KNOWN[i].directions);
        assert_int_equal(f.encoding.blocks > 0, s.rotated);
        check_quiet("operations of a step", fabs(1e-9 * bench_step_flop(shape, batch, q1, q2) - KNOWN[i].gigaflop),
                    1e-9);
        bench_field_close(&f);
    }
}

/* ---- Timing ------------------------------------------------------------------------------------------------------ */

static npmd_status count_call(void *self, npmd_error *err)
{
    int *calls = self;
    if (++*calls == 1000)
        return npmd_fail(err, NPMD_ERR_DEVICE, "the thousandth call fails");
    return NPMD_OK;
}

static void repeats_and_quartiles(void **state)
{
    const bench_request asked = { 0 };
    const bench b = { .asked = &asked };
    int calls = 0;
    bench_times t;
    npmd_error err = { 0 };
    (void)state;
    assert_int_equal(bench_time(&b, (bench_effort){ .least = 5, .most = 9 }, count_call, &calls, &t, &err), NPMD_OK);
    assert_true(t.repeats >= 5 && t.repeats <= 9);
    assert_int_equal(calls, 1 + t.repeats); /* one to warm up */
    assert_true(t.low <= t.median && t.median <= t.high && t.low >= 0.0 && t.cpu >= 0.0);
    /* a repeat of many calls; the failure comes through, and nothing is told */
    calls = 0;
    t.repeats = -1;
    assert_int_equal(
        bench_time(&b, (bench_effort){ .repeat = 1.0, .least = 1, .most = 1 }, count_call, &calls, &t, &err),
        NPMD_ERR_DEVICE);
    assert_int_equal(t.repeats, -1);
}

static void exponents(void **state)
{
    const double x[] = { 64, 128, 256, 512 };
    double y[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        y[i] = 0.3 * pow(x[i], 1.7);
    check_below("exponent of a power", fabs(bench_slope(x, y, 4) - 1.7), 1e-14);
}

/* ---- What is asked, and what is told ----------------------------------------------------------------------------- */

static void wrong_figures_are_no_figures(void **state)
{
    npmd_error err = { 0 };
    (void)state;
    assert_int_equal(bench_verify("it", 1e-6, 1e-6, &err), NPMD_OK);
    assert_int_equal(bench_verify("it", 2e-6, 1e-6, &err), NPMD_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "it is wrong"));
    assert_int_equal(bench_verify("it", NAN, 1e-6, &err), NPMD_ERR_NUMERIC);
}

static void requests_are_checked(void **state)
{
    static const bench_request WRONG[] = {
        { .only = "nothing such" },           { .quick = 1, .full = 1 },         { .how = { .threads = -1 } },
        { .how = { .device = "reference" } }, { .how = { .device = "abacus" } },
    };
    char *json = NULL;
    npmd_error err = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        assert_int_equal(bench_run(&WRONG[i], &json, &err), NPMD_ERR_ARGUMENT);
        assert_true(err.text[0] != '\0');
    }
    assert_int_equal(bench_run(&(bench_request){ .how = { .device = "cuda:99" } }, &json, &err), NPMD_ERR_DEVICE);
    assert_null(json);
}

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

typedef struct listener {
    int heard, enough;
} listener;

static int listen_until(const char *next, void *user)
{
    listener *l = user;
    assert_true(next == NULL || next[0] != '\0');
    l->heard += next != NULL;
    return l->heard > l->enough;
}

/* One part alone, from file to file: the key is there, others are not, and nothing stays in the folder. Then the
 * same, stopped in time. */
static void one_part_alone(void **state)
{
    const char *base = getenv("TMPDIR");
    char folder[256], *json = NULL;
    npmd_error err = { 0 };
    listener l = { .enough = 1000 };
    bench_request what = {
        .quick = 1, .only = "density", .how = { .threads = 1 }, .progress = listen_until, .user = &l
    };
    (void)state;
    snprintf(folder, sizeof folder, "%.200s/npmd-bench-XXXXXX", base != NULL && *base ? base : P_tmpdir);
    assert_non_null(mkdtemp(folder));
    what.folder = folder;
    if (bench_run(&what, &json, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    assert_true(l.heard > 0);
    assert_non_null(strstr(json, "\"machine\""));
    assert_non_null(strstr(json, "\"density\""));
    assert_null(strstr(json, "\"steps\""));
    assert_null(strstr(json, "\"variant\""));
    assert_int_equal(files_in(folder), 0);
    npmd_text_free(json);
    json = NULL;
    l = (listener){ .enough = 1 };
    assert_int_equal(bench_run(&what, &json, &err), NPMD_STOPPED);
    assert_null(json);
    assert_int_equal(files_in(folder), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* As wide as figures get, on a slow machine or on one of 128 cores. */
static const char WIDE[] =
    "{\"machine\": {\"version\": \"10.10.10\", \"compiler\": \"gcc 12.2.0\", \"kernels\": \"avx512\", \"threads\": 128,"
    "  \"load\": 120.5, \"product\": [{\"rows\": 512, \"width\": 128, \"gflops_one\": 1234.5, \"gflops_all\": 98765.4}],"
    "  \"memory\": {\"gbs_one\": 123.4, \"gbs_all\": 1234.5}, \"cache\": {\"gbs_one\": 1234.5}},"
    " \"kernels\": [{\"variant\": \"avx512\", \"name\": \"weight-gradient-256\", \"gflops\": 1234.5, \"share\": 1.02,"
    "  \"error\": 1.5e-7}, {\"variant\": \"plain\", \"name\": \"sine-forward-4\", \"gbs\": 1234.5, \"share\": 0.5,"
    "  \"ns\": 1234.567, \"element\": \"unit, a row\", \"error\": 1.5e-7}],"
    " \"steps\": [{\"name\": \"s2s2-rotated\", \"batch\": 115411, \"q1\": 100000, \"q2\": 10000, \"ms\": 50000.12,"
    "  \"ms_low\": 49999.9, \"ms_high\": 50123.4, \"floor_ms\": 2000.1, \"ratio\": 25.01, \"error\": 4.7e-6,"
    "  \"flop\": 505804419584, \"cpu_ms\": 99999.9, \"ms_one_thread\": 100000.1, \"speedup\": 12.34,"
    "  \"gflops\": 12345.6, \"bytes\": 236361728, \"bytes_ms\": 123.45, \"working_bytes\": 268435456}],"
    " \"evaluation\": [{\"name\": \"s2s2-rotated\", \"n\": 200000, \"points_per_second\": 123456789.1,"
    "  \"points_per_second_low\": 123456789.1, \"points_per_second_high\": 123456789.1,"
    "  \"floor_points_per_second\": 123456789.1, \"share\": 0.61, \"error\": 8e-6}],"
    " \"density\": {\"name\": \"t2\", \"n\": 10000000, \"mapped\": true, \"seconds\": 1234.56, \"seconds_low\": 1234.56,"
    "  \"seconds_high\": 1234.56, \"read_seconds\": 123.4, \"evaluate_seconds\": 1234.56,"
    "  \"points_per_second\": 123456789.1, \"share\": 0.6, \"error\": null},"
    " \"scaling\": {\"base\": {\"domain\": \"T4\", \"n\": 16384, \"q1\": 8192, \"q2\": 2048, \"features\": 256,"
    "  \"width\": 128, \"depth\": 4}, \"rows\": [{\"name\": \"q1\", \"what\": \"integral term\","
    "  \"values\": [4096, 8192, 16384, 32768], \"ms\": [10000.1, 20000.1, 40000.1, 80000.1], \"exponent\": 1.0,"
    "  \"exponent_counted\": 1.0}]}, \"seconds\": 12345.6}";

static void words_fit_the_page(void **state)
{
    char *text = NULL;
    npmd_error err = { 0 };
    size_t longest = 0;
    (void)state;
    if (bench_words(WIDE, &text, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        longest = length > longest ? length : longest;
        line += length + 1;
    }
    check_below("longest line", (double)longest, 100.0);
    assert_non_null(strstr(text, "weight-gradient-256"));
    assert_non_null(strstr(text, "505.80"));
    assert_non_null(strstr(text, "load 120.5"));
    assert_non_null(strstr(text, "32,768: 80000.1"));
    assert_null(strstr(text, "nan"));
    npmd_text_free(text);
    text = NULL;
    assert_int_equal(bench_words("{\"machine\": ", &text, &err), NPMD_ERR_FORMAT);
    assert_int_equal(bench_words("{\"n\": 3}", &text, &err), NPMD_ERR_FORMAT);
    assert_int_equal(bench_words("[]", &text, &err), NPMD_ERR_FORMAT);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_of_the_torus),
        cmocka_unit_test(step_of_two_spheres),
        cmocka_unit_test(small_networks),
        cmocka_unit_test(sizes_are_the_published_ones),
        cmocka_unit_test(repeats_and_quartiles),
        cmocka_unit_test(exponents),
        cmocka_unit_test(wrong_figures_are_no_figures),
        cmocka_unit_test(requests_are_checked),
        cmocka_unit_test(one_part_alone),
        cmocka_unit_test(words_fit_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
