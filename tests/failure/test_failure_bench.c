/* test_failure_bench.c - the benchmark, which belongs to the program, while memory runs out: it says so and leaves
 * everything as it was (sweep.h). */
#include "bench.h"
#include "sweep.h"

/* Times differ from run to run: nothing is kept of what it tells. Not from file to file, where a child would remove its
 * parent's folder: the functions that this goes through have lines of their own. */
static npmd_status run_bench(stage *s, const char *only, npmd_error *err)
{
    char *text = NULL;
    const bench_request what = { .how = { .threads = 1 }, .quick = 1, .only = only, .folder = s->at.folder };
    const npmd_status st = bench_run(&what, &text, err);
    if (st != NPMD_OK && text != NULL)
        fail_msg("a benchmark that failed told something");
    npmd_text_free(text);
    return st;
}

static npmd_status run_bench_kernel(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return run_bench(s, "scale", err);
}

static npmd_status run_bench_step(stage *s, outcome *o, npmd_error *err)
{
    (void)o;
    return run_bench(s, "t2", err);
}

static npmd_status run_bench_words(stage *s, outcome *o, npmd_error *err)
{
    (void)s;
    return bench_words("{\"machine\": {\"threads\": 2, \"memory\": {}}, \"steps\": [{\"ms\": 1.5}],"
                       " \"density\": {\"n\": 3}, \"seconds\": 1}",
                       &o->text, err);
}

static void benchmark_without_memory(void **state)
{
    static const operation OPS[] = {
        { .name = "benchmark of a kernel", .run = run_bench_kernel, .branch = true },
        { .name = "benchmark of a step", .run = run_bench_step, .branch = true },
        { .name = "benchmark in words", .run = run_bench_words },
    };
    SWEEP_MEMORY(*state, OPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(benchmark_without_memory),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
