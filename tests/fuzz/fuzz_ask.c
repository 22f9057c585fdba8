/* fuzz_ask.c - models from bytes: draws, scores, marginal and conditional densities, probabilities, at sizes that fit into a
 * run. */
#include "fuzz_models.h"

#define SECONDS 0.05 /* of each question */
#define ROUGH 0.1    /* accuracy of integrals */

/* Of the first factor, where there are more. */
static void ask_marginals(const npmd_model *m, const npmd_points *pts, const double *x)
{
    const npmd_domain *dom = npmd_model_domain(m);
    npmd_error err = { 0 };
    npmd_domain *first = NULL;
    npmd_points *some = NULL;
    double row[FUZZ_POINTS * 3], value[FUZZ_POINTS], se[FUZZ_POINTS], draws[FUZZ_POINTS * 2 * 3 * NPMD_MAX_FACTORS];
    if (npmd_domain_factors(dom) < 2)
        return;
    PROMISE(npmd_domain_part(dom, 1u, &first, &err) == NPMD_OK);
    const size_t columns = (size_t)npmd_domain_columns(first), all = (size_t)npmd_domain_columns(dom);
    for (size_t i = 0; i < FUZZ_POINTS; i++)
        memcpy(row + i * columns, x + i * all, columns * sizeof *row);
    PROMISE(npmd_points_from(row, FUZZ_POINTS, columns, first, NPMD_COORDS_DEFAULT, &some, &err) == NPMD_OK);
    npmd_compute how = fuzz_compute(SECONDS);
    fuzz_promise(npmd_marginal_at(m, 1u, some, NPMD_LOG_DENSITY, ROUGH, 3, &how, value, se, &err), &err, value,
                 FUZZ_POINTS);
    how = fuzz_compute(SECONDS);
    err.text[0] = 0;
    fuzz_promise(npmd_conditional_at(m, 1u, pts, NPMD_LOG_DENSITY, ROUGH, 3, &how, value, NULL, &err), &err, value,
                 FUZZ_POINTS);
    how = fuzz_compute(SECONDS);
    err.text[0] = 0;
    fuzz_promise(npmd_sample_given(m, 1u, some, 3, 2, &how, draws, NULL, &err), &err, draws, 2 * FUZZ_POINTS * all);
    npmd_points_free(some);
    npmd_domain_free(first);
}

static void ask_probability(const npmd_model *m, const double *x)
{
    const npmd_domain *dom = npmd_model_domain(m);
    npmd_error err = { 0 };
    npmd_points *centre = NULL;
    npmd_probability found = NPMD_SIZED(npmd_probability);
    double radius[NPMD_MAX_FACTORS];
    for (int d = 0; d < NPMD_MAX_FACTORS; d++)
        radius[d] = 0.5;
    PROMISE(npmd_points_from(x, 1, (size_t)npmd_domain_columns(dom), dom, NPMD_COORDS_DEFAULT, &centre, &err)
            == NPMD_OK);
    const npmd_compute how = fuzz_compute(SECONDS);
    const npmd_status st = npmd_probability_near(m, centre, radius, ROUGH, 3, &how, &found, &err);
    PROMISE(st == NPMD_OK || err.text[0] != 0);
    PROMISE(st != NPMD_OK || found.probability >= 0.0);
    npmd_points_free(centre);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_model *m = fuzz_model(data, size);
    if (m == NULL)
        return 0;
    double x[FUZZ_POINTS * 3 * NPMD_MAX_FACTORS], draws[FUZZ_POINTS * 3 * NPMD_MAX_FACTORS];
    const npmd_domain *dom = npmd_model_domain(m);
    npmd_points *pts = fuzz_points(dom, x);
    npmd_error err = { 0 };
    npmd_score score = NPMD_SIZED(npmd_score);
    npmd_compute how = fuzz_compute(SECONDS);
    fuzz_promise(npmd_sample(m, 3, FUZZ_POINTS, &how, draws, NULL, &err), &err, draws,
                 FUZZ_POINTS * (size_t)npmd_domain_columns(dom));
    how = fuzz_compute(SECONDS);
    err.text[0] = 0;
    const npmd_status st = npmd_score_points(m, pts, 3, &how, &score, &err);
    fuzz_promise(st, &err, (const double[]){ score.log_integral, score.nll }, 2);
    ask_marginals(m, pts, x);
    ask_probability(m, x);
    npmd_points_free(pts);
    npmd_model_free(m);
    return 0;
}
