/* test_device_encode.c - the phases that a card goes through, thread by thread on the processor: the same
 * code, the same tables, the same indices; only the barriers are loops here. tests/cuda runs the same cases
 * on a card. */
#include "device_points.h"

static void on_the_processor(const encoder_plan *plan, const device_source *s, int64_t step, size_t first, size_t count,
                             int jets, const device_result *out)
{
    encoder_view v;
    void *block = NULL;
    size_t bytes = 0;
    uint32_t scramble[DEVICE_DIRECTIONS + 1];
    float weight[GROUP_POINTS];
    assert_int_equal(encoder_view_make(plan, &v, &block, &bytes), 0);
    void *elsewhere = malloc(bytes); /* as on a device, the view's arrays are not where they were made */
    memcpy(elsewhere, block, bytes);
    encoder_view_move(&v, block, elsewhere);
    encoder_view_free(block);
    const size_t stride = (size_t)v.stride[jets], columns = (size_t)v.columns,
                 a_point = (size_t)(jets ? v.dimension + 2 : 1) * (size_t)v.ld;
    double *x = device_room(GROUP_POINTS * columns, sizeof *x);
    wave *e = device_room((size_t)(GROUP_POINTS * v.embedding), sizeof *e);
    float *tables = device_room(GROUP_POINTS * stride, sizeof *tables);
    for (int d = 0; d <= v.dimension; d++)
        scramble[d] = philox_word(source_key(s, s->purpose, step), (uint64_t)d, 0);
    for (int c = 0; s->kind == DEVICE_IMPORTANCE && c < s->centres; c++)
        aim_centre(&v, s, step, c);
    for (size_t i = 0; out->row != NULL && i < s->count; i++) {
        out->row[i] = (int32_t)source_row(s, step, i);
        out->row_weight[i] = (float)source_row_weight(s, (size_t)out->row[i]);
    }
    for (size_t begin = 0; begin < count; begin += GROUP_POINTS) {
        const int m = count - begin < GROUP_POINTS ? (int)(count - begin) : GROUP_POINTS;
        for (size_t i = 0; i < GROUP_POINTS * stride; i++)
            tables[i] = NAN; /* a place that nobody filled is seen */
        for (int i = 0; i < m; i++)
            for (int d = 0; d < v.factors; d++)
                make_factor(&v, s, step, scramble, first + begin + (size_t)i, d, x + (size_t)i * columns + v.column[d],
                            e + i * v.embedding + v.embedded[d], weight + i);
        for (int i = 0; s->kind == DEVICE_IMPORTANCE && i < m; i++) {
            const wave *mine = e + i * v.embedding, *const at[4] = { mine, mine, mine, mine };
            const float near = (float)((1.0 - s->rho) / (1.0 + s->rho)),
                        slope = (float)(s->rho / (1.0 - s->rho * s->rho));
            float sum[4] = { 0.0f };
            for (int c = 0; c < s->centres; c++)
                cauchy_add(&v, s, near, slope, c, at, sum);
            weight[i] = importance_weight(s, sum[0]);
        }
        for (int thread = 0; thread < GROUP_THREADS; thread++) {
            fill_tables(&v, thread, GROUP_THREADS, m, x, jets, tables);
            fill_surfaces(&v, thread, GROUP_THREADS, m, x, jets, tables);
        }
        for (int thread = 0; thread < GROUP_THREADS; thread++) {
            float *eta = out->eta + begin * a_point;
            if (v.vectors == 0)
                encode_columns(&v, thread, GROUP_THREADS, m, jets, x, eta);
            else if (v.waves && v.factors <= DEVICE_REGISTERS)
                encode_waves(&v, thread, GROUP_THREADS, m, jets, tables, eta);
            else if (v.waves)
                encode_waves_many(&v, thread, GROUP_THREADS, m, jets, tables, eta);
            else if (v.blocks == 0 && v.factors <= DEVICE_REGISTERS)
                encode_products(&v, thread, GROUP_THREADS, m, jets, tables, eta);
            else
                encode_sums(&v, thread, GROUP_THREADS, m, jets, tables, eta);
        }
        memcpy(out->x + begin * columns, x, (size_t)m * columns * sizeof *x);
        memcpy(out->weight + begin, weight, (size_t)m * sizeof *weight);
    }
    free(elsewhere), free(x), free(e), free(tables);
}

static void phases_give_what_the_library_gives(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICE_CASE_COUNT; i++)
        device_case_check(&DEVICE_CASES[i], on_the_processor);
}

/* Two factors on one surface share all but the functions, and what is said to be needed is what is taken. */
static void a_surface_is_there_once(void **state)
{
    const device_case once = { FIXTURE_SURFACE, true, 1, 0, false, 2 },
                      twice = { FIXTURE_SURFACE "^2", true, 1, 0, false, 2 };
    (void)state;
    device_setting one, two;
    device_setting_open(&once, &one);
    device_setting_open(&twice, &two);
    encoder_view v;
    void *block = NULL;
    size_t alone = 0, both = 0, taken = 0;
    assert_int_equal(encoder_bytes(&one.plan, &alone), 0);
    assert_int_equal(encoder_bytes(&two.plan, &both), 0);
    assert_int_equal(encoder_view_make(&two.plan, &v, &block, &taken), 0);
    assert_true(both == taken);
    assert_ptr_equal(v.surface[0].map.split, v.surface[1].map.split);
    assert_ptr_equal(v.surface[0].node, v.surface[1].node);
    assert_ptr_not_equal(v.surface[0].phi, v.surface[1].phi);
    /* one function on each: a column of floats, and some places, directions and the rounding of pieces to 16 bytes */
    assert_in_range(both - alone, 4 * v.surface[1].nodes, 4 * v.surface[1].nodes + 1024);
    encoder_view_free(block);
    device_setting_close(&one);
    device_setting_close(&two);
}

/* 1 + 2^-11 is a tie and goes away from zero; below it to 1. */
static void features_are_rounded_to_ten_bits(void **state)
{
    (void)state;
    assert_true(round_feature(1.0f + 0x1p-11f, 1) == 1.0f + 0x1p-10f);
    assert_true(round_feature(-1.0f - 0x1p-11f, 1) == -1.0f - 0x1p-10f);
    assert_true(round_feature(1.0f + 0x1p-11f - 0x1p-23f, 1) == 1.0f);
    assert_true(round_feature(0x1.FFFFFEp3f, 1) == 16.0f);
    assert_true(round_feature(0.1f, 0) == 0.1f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(phases_give_what_the_library_gives),
                                        cmocka_unit_test(a_surface_is_there_once),
                                        cmocka_unit_test(features_are_rounded_to_ten_bits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
