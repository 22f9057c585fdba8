/* test_cuda_points.c - points and encodings made on a card, against the library's own. Without a card there
 * is nothing to test, which it says; "speed" as an argument also times the kernels.
 *
 * What is compared, and how closely, stands in tests/support/device_points.h. */
#include "device_points.h"
#include "icosphere.h"

static device_stream *stream;

static void card_must(int status, const char *what)
{
    if (status != 0)
        fail_msg("%s: %s", what, device_text(status));
}
#define MUST(call) card_must(call, #call)

/* A copy of count numbers on the card; NULL stays NULL. */
static void *card(const void *from, size_t count, size_t size)
{
    void *p = NULL;
    if (from == NULL)
        return NULL;
    MUST(device_new(&p, count * size));
    MUST(device_put(p, from, count * size, stream));
    return p;
}

static void *card_room(size_t bytes)
{
    void *p = NULL;
    MUST(device_new(&p, bytes));
    return p;
}

/* The source with its arrays on the card. */
static device_source card_source(const device_source *s, const encoder_plan *plan, int64_t step)
{
    device_source c = *s;
    int embedding = 0;
    for (int d = 0; d < plan->factors; d++)
        embedding += plan->kind[d] == DEVICE_CIRCLE ? 2 : 3;
    const size_t columns = (size_t)plan->columns, n = s->kind == DEVICE_FIXED && s->n < s->count ? s->count : s->n;
    c.step = card(&step, 1, sizeof step);
    c.x = card(s->x, n * columns, sizeof(double));
    c.weight = card(s->weight, n, sizeof(double));
    c.cumulative = s->cumulative == NULL
                       ? NULL
                       : card(s->cumulative, (s->n + s->cumulative_stride - 1) / s->cumulative_stride, sizeof(double));
    c.centre = card_room((size_t)s->centres * columns * sizeof(double));
    c.embedded = card_room((size_t)(s->centres * embedding) * sizeof(double));
    return c;
}

static void card_source_free(device_source *c)
{
    device_free((void *)c->step);
    device_free((void *)c->x);
    device_free((void *)c->weight);
    device_free((void *)c->cumulative);
    device_free(c->centre);
    device_free(c->embedded);
}

static void on_a_card(const encoder_plan *plan, const device_source *s, int64_t step, size_t first, size_t count,
                      int jets, const device_result *out)
{
    encoder *e = NULL;
    device_source c = card_source(s, plan, step);
    const size_t R = jets ? (size_t)plan->dimension + 2 : 1, numbers = count * R * (size_t)plan->ld,
                 columns = (size_t)plan->columns;
    float *eta = card(out->eta, numbers, sizeof *eta), *weight = card_room(count * sizeof *weight),
          *row_weight = card_room(s->count * sizeof *row_weight);
    double *x = card_room(count * columns * sizeof *x);
    int32_t *row = card_room(s->count * sizeof *row);
    MUST(encoder_open(plan, &e));
    if (s->kind == DEVICE_IMPORTANCE)
        MUST(source_aim(e, &c, stream));
    MUST(encoder_run(e, &c, first, count, jets, eta, weight, x, stream));
    if (out->row != NULL) {
        MUST(source_rows(&c, row, row_weight, stream));
        MUST(device_get(out->row, row, s->count * sizeof *row, stream));
        MUST(device_get(out->row_weight, row_weight, s->count * sizeof *row_weight, stream));
    }
    MUST(device_get(out->eta, eta, numbers * sizeof *eta, stream));
    MUST(device_get(out->weight, weight, count * sizeof *weight, stream));
    MUST(device_get(out->x, x, count * columns * sizeof *x, stream));
    encoder_close(e);
    device_free(eta), device_free(weight), device_free(row_weight), device_free(x), device_free(row);
    card_source_free(&c);
}

static void the_card_gives_what_the_library_gives(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICE_CASE_COUNT; i++)
        device_case_check(&DEVICE_CASES[i], on_a_card);
}

/* A recorded graph, launched at several steps, gives what the calls give: the step is read from the card's
 * memory. */
static void one_graph_serves_all_steps(void **state)
{
    static const int64_t STEPS[] = { 0, 1, 77 };
    const device_case c = { "S2 x S1", true, 97, 9, false, 0 };
    enum { COUNT = 300, CENTRES = 40 };
    device_setting t;
    encoder *e = NULL;
    device_graph *graph = NULL;
    float found[2][COUNT * 97], weights[2][COUNT];
    (void)state;
    device_setting_open(&c, &t);
    t.plan.ld = 128;
    double *data = device_room(50 * 4, sizeof *data);
    uint64_t seed = 3;
    for (size_t i = 0; i < 50; i++) {
        test_unit_vector(&seed, data + 4 * i);
        data[4 * i + 3] = 6.0 * test_uniform(&seed);
    }
    const device_source s = { .kind = DEVICE_IMPORTANCE,
                              .count = COUNT,
                              .seed = { 1, 2 },
                              .purpose = RNG_INTEGRAL_POINTS,
                              .quasi = 1,
                              .x = data,
                              .n = 50,
                              .share = 0.3,
                              .rho = 0.8,
                              .centres = CENTRES,
                              .centre_purpose = RNG_CENTRES };
    device_source on = card_source(&s, &t.plan, 0);
    float *eta = card_room(COUNT * 128 * sizeof *eta), *weight = card_room(COUNT * sizeof *weight);
    float *all = device_room(COUNT * 128, sizeof *all);
    MUST(encoder_open(&t.plan, &e));
    MUST(device_capture_begin(stream));
    MUST(source_aim(e, &on, stream));
    MUST(encoder_run(e, &on, 0, COUNT, 0, eta, weight, NULL, stream));
    MUST(device_capture_end(stream, &graph));
    for (int i = 0; i < 3; i++) {
        MUST(device_put((void *)on.step, &STEPS[i], sizeof STEPS[i], stream));
        for (int way = 0; way < 2; way++) {
            MUST(device_zero(eta, COUNT * 128 * sizeof *eta, stream));
            if (way == 0) {
                MUST(device_graph_launch(graph, stream));
            } else {
                MUST(source_aim(e, &on, stream));
                MUST(encoder_run(e, &on, 0, COUNT, 0, eta, weight, NULL, stream));
            }
            MUST(device_get(all, eta, COUNT * 128 * sizeof *all, stream));
            MUST(device_get(weights[way], weight, sizeof weights[way], stream));
            for (size_t row = 0; row < COUNT; row++)
                memcpy(found[way] + row * 97, all + row * 128, 97 * sizeof *all);
        }
        assert_memory_equal(found[0], found[1], sizeof found[0]);
        assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    }
    device_graph_close(graph);
    encoder_close(e);
    device_free(eta), device_free(weight);
    card_source_free(&on);
    free(all), free(data);
    device_setting_close(&t);
}

/* ---- speed ------------------------------------------------------------------------------------------------------- */

static void time_one(const char *words, const device_case *c, device_source_kind kind, size_t count, int jets)
{
    enum { REPEATS = 200, N = 10000, CENTRES = 512 };
    device_setting t;
    encoder *e = NULL;
    device_graph *graph = NULL;
    uint64_t seed = 3;
    device_setting_open(c, &t);
    const npmd_domain *dom = t.domain;
    double *data = device_room(N * (size_t)dom->columns, sizeof *data);
    for (size_t i = 0; i < N; i++)
        for (int d = 0; d < dom->factors; d++) {
            const double u[2] = { test_uniform(&seed), test_uniform(&seed) };
            dom->factor[d]->uniform(dom->factor[d], u, data + i * (size_t)dom->columns + dom->column[d]);
        }
    const device_source s = { .kind = kind,
                              .count = count,
                              .purpose = RNG_INTEGRAL_POINTS,
                              .quasi = 1,
                              .x = data,
                              .n = N,
                              .share = 0.3,
                              .rho = 0.8,
                              .centres = CENTRES,
                              .centre_purpose = RNG_CENTRES };
    device_source on = card_source(&s, &t.plan, 0);
    const size_t R = jets ? (size_t)dom->dimension + 2 : 1;
    float *eta = card_room(count * R * (size_t)t.plan.ld * sizeof *eta), *weight = card_room(count * sizeof *weight);
    t.plan.round_tf32 = 1;
    MUST(encoder_open(&t.plan, &e));
    MUST(device_capture_begin(stream));
    if (kind == DEVICE_IMPORTANCE)
        MUST(source_aim(e, &on, stream));
    MUST(encoder_run(e, &on, 0, count, jets, eta, weight, NULL, stream));
    MUST(device_capture_end(stream, &graph));
    double start = 0.0;
    for (int i = 0; i < 10 + REPEATS; i++) {
        if (i == 10) {
            MUST(device_wait(stream));
            start = clock_seconds();
        }
        MUST(device_graph_launch(graph, stream));
    }
    MUST(device_wait(stream));
    const double microseconds = 1e6 * (clock_seconds() - start) / REPEATS;
    print_message("    %-52s %8.1f us  %7.0f GB/s written\n", words, microseconds,
                  (double)(count * R * (size_t)t.plan.ld * sizeof *eta) / microseconds * 1e-3);
    device_graph_close(graph);
    encoder_close(e);
    device_free(eta), device_free(weight);
    card_source_free(&on);
    free(data);
    device_setting_close(&t);
}

/* Two ends on a surface beside two on the sphere, with as many functions; 10,242 nodes either way. */
static void time_surfaces(void)
{
    place folder;
    char fine[1200], coarse[1200];
    assert_int_equal(place_open(&folder), 0);
    snprintf(fine, sizeof fine, "mesh:%s^2", put_icosphere(&folder, "fine.off", 5, 1.0));
    snprintf(coarse, sizeof coarse, "mesh:%s^2", put_icosphere(&folder, "coarse.off", 4, 1.0));
    const device_case linear = { fine, true, 256, 10, false, 1 }, quadratic = { coarse, true, 256, 10, false, 2 };
    time_one("surface^2, linear, 100,000 values", &linear, DEVICE_UNIFORM, 100000, 0);
    time_one("surface^2, linear, 100,000 values, importance", &linear, DEVICE_IMPORTANCE, 100000, 0);
    time_one("surface^2, linear, 10,000 jets", &linear, DEVICE_UNIFORM, 10000, 1);
    time_one("surface^2, quadratic, 100,000 values", &quadratic, DEVICE_UNIFORM, 100000, 0);
    time_one("surface^2, quadratic, 10,000 jets", &quadratic, DEVICE_UNIFORM, 10000, 1);
    assert_int_equal(place_close(&folder), 0);
}

static void speeds(void **state)
{
    const device_case spheres = { "S2 x S2", true, 256, 10, false, 0 },
                      rotated = { "S2 x S2", false, 256, 10, false, 0 }, waves = { "T4", false, 256, 20, false, 0 },
                      torus = { "T2", true, 128, 10, false, 0 };
    (void)state;
    time_one("S2 x S2, 100,000 values", &spheres, DEVICE_UNIFORM, 100000, 0);
    time_one("S2 x S2, 100,000 values, importance", &spheres, DEVICE_IMPORTANCE, 100000, 0);
    time_one("S2 x S2, 10,000 jets", &spheres, DEVICE_UNIFORM, 10000, 1);
    time_one("S2 x S2 rotated, 100,000 values", &rotated, DEVICE_UNIFORM, 100000, 0);
    time_one("S2 x S2 rotated, 10,000 jets", &rotated, DEVICE_UNIFORM, 10000, 1);
    time_one("T4 waves, 65,536 values", &waves, DEVICE_UNIFORM, 65536, 0);
    time_one("T4 waves, 65,536 values, importance", &waves, DEVICE_IMPORTANCE, 65536, 0);
    time_one("T4 waves, 16,384 jets", &waves, DEVICE_UNIFORM, 16384, 1);
    time_one("T2, 1,024 values", &torus, DEVICE_UNIFORM, 1024, 0);
    time_one("T2, 1,024 jets", &torus, DEVICE_UNIFORM, 1024, 1);
    time_surfaces();
}

int main(int argc, char **argv)
{
    int count = 0;
    const int status = device_count(&count);
    if (count == 0) {
        printf("1..1\nok 1 - a CUDA device # SKIP none was found (%s)\n", device_text(status));
        return 0;
    }
    if (device_use(0) != 0 || device_stream_open(&stream) != 0)
        return 1;
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_card_gives_what_the_library_gives),
                                        cmocka_unit_test(one_graph_serves_all_steps) };
    const struct CMUnitTest timings[] = { cmocka_unit_test(speeds) };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "speed") == 0)
        failed += cmocka_run_group_tests(timings, NULL, NULL);
    device_stream_close(stream);
    return failed;
}
