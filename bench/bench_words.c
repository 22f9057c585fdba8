/* bench_words.c - the results of bench_run as tables of at most 100 columns. */
#include "bench.h"

#include <stdio.h>

#define BUSY 0.5 /* programs that ran beside in the last minute: a core's half is noticed in every figure */

/* ---- Values of a row --------------------------------------------------------------------------------------------- */

static double number(const json_t *row, const char *key) /* NaN if there is none */
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *name(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

/* scale x the number with that many places; nothing if there is none. */
static cli_words real(const json_t *row, const char *key, double scale, int places)
{
    const double value = scale * number(row, key);
    return isfinite(value) ? cli_words_of("%.*f", places, value) : (cli_words){ "" };
}

static cli_words range(const json_t *row, const char *low, const char *high, double scale, int places)
{
    const double from = scale * number(row, low), to = scale * number(row, high);
    return isfinite(from) && isfinite(to) ? cli_words_of("%.*f to %.*f", places, from, places, to) : (cli_words){ "" };
}

static cli_words error_of(const json_t *row)
{
    const double error = number(row, "error");
    return isfinite(error) ? cli_words_of("%.1e", error) : (cli_words){ "" };
}

static cli_words count(double n)
{
    return n >= 0.0 && n < 1e15 ? cli_words_count((uint64_t)(n + 0.5)) : (cli_words){ "" };
}

/* ---- The tables -------------------------------------------------------------------------------------------------- */

static void machine_words(FILE *p, const json_t *m)
{
    const json_t *product = json_object_get(m, "product"), *memory = json_object_get(m, "memory"),
                 *cache = json_object_get(m, "cache");
    fprintf(p, "neuropmd %s, %s\n", name(m, "version"), name(m, "compiler"));
    fprintf(p, "kernels %s, %s thread%s\n\n", name(m, "kernels"), count(number(m, "threads")).text,
            number(m, "threads") == 1.0 ? "" : "s");
    if (number(m, "load") > BUSY)
        fprintf(p, "the machine was busy before (load %.1f): times may be too long\n\n", number(m, "load"));
    fprintf(p, "%-28s %14s %14s\n", "ceilings", "one thread", "all threads");
    for (size_t i = 0; i < json_array_size(product); i++) {
        const json_t *row = json_array_get(product, i);
        char shape[40];
        snprintf(shape, sizeof shape, "product %.0f x %.0f x %.0f", number(row, "rows"), number(row, "width"),
                 number(row, "width"));
        fprintf(p, "%-28s %14s %14s  GFLOP/s\n", shape, real(row, "gflops_one", 1.0, 1).text,
                real(row, "gflops_all", 1.0, 1).text);
    }
    fprintf(p, "%-28s %14s %14s  GB/s\n", "memory, triad", real(memory, "gbs_one", 1.0, 1).text,
            real(memory, "gbs_all", 1.0, 1).text);
    fprintf(p, "%-28s %14s %14s  GB/s\n", "cache, triad", real(cache, "gbs_one", 1.0, 1).text, "");
}

static void kernel_words(FILE *p, const json_t *rows)
{
    const char *variant = "";
    fprintf(p, "\nkernels, one thread, on a tile that stays in cache\n");
    fprintf(p, "share: of the product's ceiling at this width, or of the cache's bandwidth\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(variant, name(row, "variant")) != 0) {
            variant = name(row, "variant");
            fprintf(p, "\n%-19s %9s %9s %9s %9s   %-12s %9s\n", variant, "GFLOP/s", "GB/s", "share %", "ns", "a",
                    "error");
        }
        fprintf(p, "%-19s %9s %9s %9s %9s   %-12s %9s\n", name(row, "name"), real(row, "gflops", 1.0, 1).text,
                real(row, "gbs", 1.0, 1).text, real(row, "share", 100.0, 0).text, real(row, "ns", 1.0, 3).text,
                name(row, "element"), error_of(row).text);
    }
}

static void step_words(FILE *p, const json_t *rows)
{
    fprintf(p, "\none step; floor: its products at the rate of one thread (512 x W x W) times the threads\n\n");
    fprintf(p, "%-13s %8s %8s %7s %9s %19s %9s %6s %8s\n", "", "batch", "q1", "q2", "ms", "quartiles", "floor ms",
            "ratio", "error");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        fprintf(p, "%-13s %8s %8s %7s %9s %19s %9s %6s %8s\n", name(row, "name"), count(number(row, "batch")).text,
                count(number(row, "q1")).text, count(number(row, "q2")).text, real(row, "ms", 1.0, 1).text,
                range(row, "ms_low", "ms_high", 1.0, 1).text, real(row, "floor_ms", 1.0, 1).text,
                real(row, "ratio", 1.0, 2).text, error_of(row).text);
    }
    fprintf(p, "\n%-13s %8s %9s %11s %8s %9s %9s %9s %11s\n", "", "GFLOP", "cpu ms", "1 thread ms", "speedup",
            "GFLOP/s", "MB moved", "takes ms", "memory MiB");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        fprintf(p, "%-13s %8s %9s %11s %8s %9s %9s %9s %11s\n", name(row, "name"), real(row, "flop", 1e-9, 2).text,
                real(row, "cpu_ms", 1.0, 1).text, real(row, "ms_one_thread", 1.0, 1).text,
                real(row, "speedup", 1.0, 2).text, real(row, "gflops", 1.0, 1).text, real(row, "bytes", 1e-6, 1).text,
                real(row, "bytes_ms", 1.0, 2).text, real(row, "working_bytes", 0x1p-20, 1).text);
    }
}

static void evaluation_words(FILE *p, const json_t *rows)
{
    fprintf(p, "\nevaluation, millions of points a second\n\n");
    fprintf(p, "%-13s %10s %10s %20s %10s %9s %9s\n", "", "points", "measured", "quartiles", "floor", "share %",
            "error");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        fprintf(p, "%-13s %10s %10s %20s %10s %9s %9s\n", name(row, "name"), count(number(row, "n")).text,
                real(row, "points_per_second", 1e-6, 3).text,
                range(row, "points_per_second_low", "points_per_second_high", 1e-6, 3).text,
                real(row, "floor_points_per_second", 1e-6, 3).text, real(row, "share", 100.0, 0).text,
                error_of(row).text);
    }
}

static void density_words(FILE *p, const json_t *row)
{
    fprintf(p, "\ndensity of %s points (%s) from .npy to .npy, %s\n\n", count(number(row, "n")).text, name(row, "name"),
            json_is_true(json_object_get(row, "mapped")) ? "mapped" : "read into memory");
    fprintf(p, "%9s %20s %12s %12s %14s %9s %9s\n", "seconds", "quartiles", "read in", "evaluated in", "million a s",
            "share %", "error");
    fprintf(p, "%9s %20s %12s %12s %14s %9s %9s\n", real(row, "seconds", 1.0, 2).text,
            range(row, "seconds_low", "seconds_high", 1.0, 2).text, real(row, "read_seconds", 1.0, 2).text,
            real(row, "evaluate_seconds", 1.0, 2).text, real(row, "points_per_second", 1e-6, 3).text,
            real(row, "share", 100.0, 0).text, error_of(row).text);
}

static void scaling_words(FILE *p, const json_t *part)
{
    const json_t *base = json_object_get(part, "base"), *rows = json_object_get(part, "rows");
    fprintf(p, "\nscaling, ms; all but one size as here: %s, n %s, q1 %s, q2 %s, K %s, W %s, L %s\n",
            name(base, "domain"), count(number(base, "n")).text, count(number(base, "q1")).text,
            count(number(base, "q2")).text, count(number(base, "features")).text, count(number(base, "width")).text,
            count(number(base, "depth")).text);
    fprintf(p, "at the end: the exponent of the time, and of the operation count\n\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *values = json_object_get(row, "values"), *ms = json_object_get(row, "ms");
        fprintf(p, "%-2s %-14s", name(row, "name"), name(row, "what"));
        for (size_t k = 0; k < json_array_size(values) && k < json_array_size(ms) && k < 4; k++) {
            char at[160];
            snprintf(at, sizeof at, "%s: %.1f", count(json_number_value(json_array_get(values, k))).text,
                     json_number_value(json_array_get(ms, k)));
            fprintf(p, " %16s", at);
        }
        fprintf(p, " %6s %6s\n", real(row, "exponent", 1.0, 2).text, real(row, "exponent_counted", 1.0, 2).text);
    }
}

static void device_words(FILE *p, const json_t *rows)
{
    fprintf(p, "%-22s %10s %10s %8s %9s   %s\n", "step", "ms", "floor", "ratio", "TFLOP/s",
            "worst gradient: fast, exact");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!isfinite(number(row, "ms"))) {
            fprintf(p, "%-22s %.3g points in %.2f s: %.3g a second\n", name(row, "name"), number(row, "points"),
                    number(row, "seconds"), number(row, "per_second"));
            continue;
        }
        fprintf(p, "%-22s %10s %10s %8s %9s   %.1e, %.1e\n", name(row, "title"), real(row, "ms", 1.0, 4).text,
                real(row, "floor_ms", 1.0, 4).text, real(row, "ratio", 1.0, 2).text, real(row, "tflops", 1.0, 1).text,
                number(row, "error_fast"), number(row, "error_exact"));
    }
}

static const struct {
    const char *key;
    void (*words)(FILE *p, const json_t *part);
} PARTS[] = { { "machine", machine_words },       { "kernels", kernel_words },  { "steps", step_words },
              { "evaluation", evaluation_words }, { "density", density_words }, { "scaling", scaling_words },
              { "device", device_words } };

npmd_status bench_words(const char *json, char **text, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *root = NULL;
    char *page = NULL;
    size_t size = 0;
    TRY(json_from_text(json, strlen(json), "the benchmark", &root, err));
    if (!json_is_object(json_object_get(root, "machine")) && !json_is_array(json_object_get(root, "device")))
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "an object of npmd_bench was expected, with its key \"machine\""));
    FILE *p = open_memstream(&page, &size);
    for (size_t i = 0; p != NULL && i < sizeof PARTS / sizeof *PARTS; i++) {
        const json_t *part = json_object_get(root, PARTS[i].key);
        if (part != NULL)
            PARTS[i].words(p, part);
    }
    if (p != NULL)
        fprintf(p, "\n%.0f s, everything verified before it was timed\n", number(root, "seconds"));
    const bool failed = p == NULL || ferror(p);
    if ((p != NULL && fclose(p) != 0) || failed)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory for the words of the benchmark"));
    *text = page;
    page = NULL;
done:
    free(page);
    json_decref(root);
    return st;
}
