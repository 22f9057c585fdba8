/* score_and_save.c - fits on S2 x S1, saves the model, loads it again, and scores fresh points.
 *
 * The truth is an even mixture of two products of a von Mises-Fisher density (S2) and a von Mises density
 * (S1). For points drawn from a density f the mean of -log f_hat splits into what nobody can avoid and what
 * the estimate adds:
 *
 *     E[-log f_hat(x)] = entropy(f) + KL(f || f_hat),      KL >= 0
 *
 * Checked: a loaded model gives the same bits as the saved one; its stored density integrates to one,
 * log(integral of f_hat) = 0 within its standard error; and the score of fresh points obeys the identity,
 * both sides being computed from different points. */
#include <neuropmd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN = 4000, TEST = 4000, COLUMNS = 4 };

static const char *const TRUTH =
    "{ \"domain\": \"S2 x S1\", \"kind\": \"von Mises-Fisher mixture\", \"weights\": [0.5, 0.5],\n"
    "  \"means\": [[0, 0, 1, 0.5], [1, 0, 0, 3.5]], \"kappas\": [[4, 2], [3, 3]] }\n";
static const char *const TRUTH_PATH = "score_and_save.json", *const MODEL_PATH = "score_and_save.safetensors";

static int write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    const int written = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && written ? 0 : 1;
}

static int check(const char *what, double found, double expected, double tolerance)
{
    const int good = fabs(found - expected) <= tolerance; /* false for NaN */
    printf("%-28s %9.5f   expected %9.5f +- %.5f   %s\n", what, found, expected, tolerance, good ? "ok" : "WRONG");
    return !good;
}

/* A fit that takes seconds; without these lines the sizes follow from the data. The truth is smooth and the points are
 * few, hence more penalty than the default of 1e-4. */
static npmd_status small_fit(npmd_options *opt, npmd_error *err)
{
    static const char *const SET[][2] = { { "steps", "800" },   { "batch", "500" },       { "q1", "1024" },
                                          { "q2", "128" },      { "centres", "64" },      { "width", "32" },
                                          { "features", "48" }, { "max-frequency", "6" }, { "tau", "1e-3" },
                                          { "seed", "1" } };
    npmd_status st = NPMD_OK;
    for (size_t i = 0; i < sizeof SET / sizeof *SET && st == NPMD_OK; i++)
        st = npmd_options_set(opt, SET[i][0], SET[i][1], err);
    return st;
}

int main(void)
{
    static double x[TRAIN][COLUMNS], fresh[TEST][COLUMNS], before[TEST], after[TEST];
    npmd_error err = { 0 };
    npmd_truth *truth = NULL;
    npmd_points *points = NULL, *test = NULL;
    npmd_model *model = NULL, *loaded = NULL;
    npmd_comparison distance = NPMD_SIZED(npmd_comparison);
    npmd_score score = NPMD_SIZED(npmd_score);
    npmd_options *opt = npmd_options_new();
    double entropy = 0.0, entropy_se = 0.0;
    int wrong = 0;

    if (opt == NULL || small_fit(opt, &err) != NPMD_OK) {
        fprintf(stderr, "score_and_save: %s\n", opt == NULL ? "not enough memory" : err.text);
        npmd_options_free(opt);
        return EXIT_FAILURE;
    }
    if (write_text(TRUTH_PATH, TRUTH) != 0) {
        perror(TRUTH_PATH);
        npmd_options_free(opt);
        return EXIT_FAILURE;
    }
    /* Seed 1 draws the points of the fit, seed 2 those of the score. */
    if (npmd_truth_read(TRUTH_PATH, &truth, &err) || npmd_truth_entropy(truth, 1, NULL, &entropy, &entropy_se, &err)
        || npmd_truth_sample(truth, 1, TRAIN, NULL, &x[0][0], &err)
        || npmd_truth_sample(truth, 2, TEST, NULL, &fresh[0][0], &err)
        || npmd_points_from(&x[0][0], TRAIN, COLUMNS, npmd_truth_domain(truth), NPMD_COORDS_DEFAULT, &points, &err)
        || npmd_points_from(&fresh[0][0], TEST, COLUMNS, npmd_truth_domain(truth), NPMD_COORDS_DEFAULT, &test, &err)
        || npmd_fit(npmd_truth_domain(truth), points, opt, &model, &err) || npmd_save(model, MODEL_PATH, &err)
        || npmd_load(MODEL_PATH, &loaded, &err) || npmd_log_density(model, &fresh[0][0], TEST, before, &err)
        || npmd_log_density(loaded, &fresh[0][0], TEST, after, &err)
        || npmd_score_points(loaded, test, 3, NULL, &score, &err)
        || npmd_compare(loaded, truth, NPMD_GRID_FINE, 65536, 4, NULL, &distance, &err)) {
        fprintf(stderr, "score_and_save: %s\n", err.text);
        wrong = 1;
    } else {
        const double kl_se = distance.kl_se > 0.0 ? distance.kl_se : 0.0; /* NaN where a grid was used */
        const double entropy_error = entropy_se > 0.0 ? entropy_se : 0.0;
        const int same = memcmp(before, after, sizeof before) == 0;
        printf("%-28s %s\n", "saved and loaded", same ? "equal bits   ok" : "they differ   WRONG");
        wrong |= !same;
        /* Stored and fresh integral carry one error each: 4 joint standard deviations; 1e-3 for float32. */
        wrong |= check("log of the integral", score.log_integral, 0.0, 4.0 * sqrt(2.0) * score.log_integral_se + 1e-3);
        wrong |= check("mean of -log f_hat", score.nll, entropy + distance.kl,
                       4.0 * sqrt(score.nll_se * score.nll_se + entropy_error * entropy_error + kl_se * kl_se));
        /* A tenth of what is lost by an estimate that learned nothing. */
        wrong |= check("KL(f || f_hat)", distance.kl, 0.0,
                       0.1 * (log(npmd_domain_volume(npmd_truth_domain(truth))) - entropy));
    }
    remove(TRUTH_PATH);
    remove(MODEL_PATH);
    npmd_model_free(loaded);
    npmd_model_free(model);
    npmd_options_free(opt);
    npmd_points_free(test);
    npmd_points_free(points);
    npmd_truth_free(truth);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
