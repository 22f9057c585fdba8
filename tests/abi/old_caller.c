/* old_caller.c - a program of some day, compiled with the header of that day (first.h), that runs on the library of
 * today.
 *
 * Every struct that it hands over is followed by a guard: a library that writes beyond the size that the caller knows
 * is found out. */
#include "first.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GUARD 0x5a
#define GUARDED(type, name)                                                                                            \
    struct {                                                                                                           \
        type it;                                                                                                       \
        unsigned char guard[64];                                                                                       \
    } name;                                                                                                            \
    memset(&name, GUARD, sizeof name);                                                                                 \
    name.it = (type)NPMD_SIZED(type)
#define WHOLE(name) whole((name).guard, sizeof(name).guard)

static int whole(const unsigned char *guard, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (guard[i] != GUARD)
            return 0;
    return 1;
}

static int told;

static int count(const npmd_report *now, void *user)
{
    (void)user;
    told += now->size >= sizeof *now && now->step >= 0 && strcmp(now->doing, "fit") == 0;
    return 0;
}

int main(void)
{
    enum { N = 400 };
    double x[2 * N], log_f[N];
    char text[64];
    npmd_error err = { 0 };
    npmd_domain *torus = NULL;
    npmd_points *points = NULL;
    npmd_truth *truth = NULL;
    npmd_model *model = NULL;
    npmd_options *opt = npmd_options_new();
    GUARDED(npmd_compute, how);
    GUARDED(npmd_fit_facts, facts);
    GUARDED(npmd_score, score);
    how.it.threads = 1;
    int failed = opt == NULL || npmd_domain_parse("T2", &torus, &err) || npmd_truth_make("t2", 3, &truth, &err)
                 || npmd_truth_sample(truth, 1, N, &how.it, x, &err)
                 || npmd_points_from(x, N, 2, torus, NPMD_COORDS_DEFAULT, &points, &err)
                 || npmd_options_set(opt, "estimator", "field", &err) || npmd_options_set(opt, "tau", "1e-3", &err)
                 || npmd_options_set(opt, "steps", "20", &err) || npmd_options_set(opt, "threads", "1", &err);
    if (!failed)
        npmd_options_watch(opt, count, NULL);
    failed = failed || npmd_fit(torus, points, opt, &model, &err) || npmd_model_facts(model, &facts.it, &err)
             || npmd_score_points(model, points, 1, &how.it, &score.it, &err)
             || npmd_log_density(model, x, N, log_f, &err);
    if (failed)
        printf("failed: %s\n", err.text);
    const int right = !failed && facts.it.steps == 20 && facts.it.n == N && facts.it.tau == 1e-3
                      && isfinite(score.it.nll) && score.it.n == N && isfinite(log_f[N - 1]) && told > 0
                      && npmd_options_get(opt, "steps", text, sizeof text) == 2 && strcmp(text, "20") == 0
                      && npmd_options_number(opt, "tau") == 1e-3;
    const int kept = WHOLE(how) && WHOLE(facts) && WHOLE(score);
    printf("%s, %s, structs of %zu, %zu and %zu bytes: %s\n", npmd_version(), right ? "right" : "WRONG",
           sizeof facts.it, sizeof score.it, sizeof how.it, kept ? "nothing beyond them was touched" : "OVERRUN");
    npmd_model_free(model);
    npmd_points_free(points);
    npmd_truth_free(truth);
    npmd_domain_free(torus);
    npmd_options_free(opt);
    return right && kept ? 0 : 1;
}
