/* test_finite.c - what is not finite is not given to anybody.
 *
 * The weights of small models of every kind are made huge, one tensor at a time, and every public function that returns
 * numbers is asked: it answers with a status and a sentence, or with finite numbers, never with NaN or infinity. Models of
 * an older version, $NEUROPMD_SHARED/attack/base_models, are treated alike where they are. */
#include "json.h"
#include "place.h"

#include <time.h>

enum { N = 5, ROOM = 512 };
static int answers, refusals;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A function that takes long may say so: what it would say at the end it says of the first points, too. */
static int enough(const npmd_report *now, void *until)
{
    (void)now;
    return seconds() > *(const double *)until;
}

static void verdict(const char *what, npmd_status st, const npmd_error *err, const double *x, size_t n)
{
    if (st != NPMD_OK) {
        refusals++;
        if (err->text[0] == '\0' || err->status != st)
            fail_msg("%s: status %d without a sentence", what, (int)st);
        return;
    }
    answers++;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            fail_msg("%s: OK, and number %zu is %g", what, i, x[i]);
}

/* Everything that can be asked of a model at points. */
static void ask_values(const npmd_model *m, const npmd_points *pts, const double *x, const npmd_compute *how)
{
    npmd_error err = { 0 };
    double out[ROOM];
    const size_t columns = (size_t)npmd_domain_columns(npmd_model_domain(m));
    for (int w = 0; npmd_what_name(w) != NULL; w++) {
        const size_t n = N * (w == NPMD_GRADIENT ? columns : 1);
        err = (npmd_error){ 0 };
        const npmd_status st = npmd_evaluate_at(m, pts, (npmd_what)w, how, out, &err);
        verdict(npmd_what_name(w), st, &err, out, n);
    }
    err = (npmd_error){ 0 };
    const npmd_status st = npmd_log_density(m, x, N, out, &err);
    verdict("log density", st, &err, out, N);
}

static void ask_integrals(const npmd_model *m, const npmd_points *pts, const npmd_compute *how, double *until)
{
    npmd_error err = { 0 };
    npmd_score s = { .size = sizeof s };
    npmd_probability p = { .size = sizeof p };
    double radius[NPMD_MAX_FACTORS], x[ROOM];
    for (int d = 0; d < NPMD_MAX_FACTORS; d++)
        radius[d] = 0.5;
    *until = seconds() + 0.2;
    npmd_status st = npmd_score_points(m, pts, 3, how, &s, &err);
    verdict("score", st, &err,
            (const double[]){ s.nll, s.nll_se, s.log_integral, s.log_integral_se, s.ise_criterion, s.ise_criterion_se,
                              s.ise_criterion_relative },
            7);
    err = (npmd_error){ 0 };
    *until = seconds() + 0.2;
    st = npmd_probability_near(m, pts, radius, 0.1, 3, how, &p, &err);
    verdict("probability", st, &err, (const double[]){ p.share, p.probability, p.se }, 3);
    err = (npmd_error){ 0 };
    *until = seconds() + 0.2;
    st = npmd_sample(m, 3, 8, how, x, NULL, &err);
    verdict("sample", st, &err, x, 8 * (size_t)npmd_domain_columns(npmd_model_domain(m)));
}

static void ask_factors(const npmd_model *m, const npmd_points *pts, const double *x, const npmd_compute *how,
                        double *until)
{
    npmd_error err = { 0 };
    npmd_domain *first = NULL;
    npmd_points *at = NULL;
    const npmd_domain *dom = npmd_model_domain(m);
    const size_t columns = (size_t)npmd_domain_columns(dom);
    double part[ROOM], out[ROOM], se[N];
    if (npmd_domain_factors(dom) < 2)
        return;
    must(npmd_domain_part(dom, 1, &first, &err), &err);
    const size_t some = (size_t)npmd_domain_columns(first);
    for (size_t i = 0; i < N; i++)
        memcpy(part + i * some, x + i * columns, some * sizeof *part);
    must(npmd_points_from(part, N, some, first, NPMD_COORDS_DEFAULT, &at, &err), &err);
    *until = seconds() + 0.2;
    npmd_status st = npmd_marginal_at(m, 1, at, NPMD_DENSITY, 0.1, 3, how, out, se, &err);
    verdict("marginal", st, &err, out, N);
    if (st == NPMD_OK)
        verdict("error of a marginal", st, &err, se, N);
    err = (npmd_error){ 0 };
    *until = seconds() + 0.2;
    st = npmd_conditional_at(m, 1, pts, NPMD_LOG_DENSITY, 0.1, 3, how, out, se, &err);
    verdict("conditional", st, &err, out, N);
    err = (npmd_error){ 0 };
    *until = seconds() + 0.2;
    st = npmd_sample_given(m, 1, at, 3, 1, how, out, NULL, &err);
    verdict("sample given", st, &err, out, N * columns);
    npmd_points_free(at);
    npmd_domain_free(first);
}

static void ask_all(const npmd_model *m)
{
    const npmd_domain *dom = npmd_model_domain(m);
    const size_t columns = (size_t)npmd_domain_columns(dom), dimension = (size_t)npmd_domain_dimension(dom);
    double u[ROOM], x[ROOM], until = INFINITY;
    const npmd_compute how = { .size = sizeof how, .threads = 1, .progress = enough, .user = &until };
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    for (size_t i = 0; i < N * dimension; i++)
        u[i] = fmod(0.137 * (double)i + 0.31, 1.0);
    must(npmd_domain_uniform(dom, u, N, x, &err), &err);
    must(npmd_points_from(x, N, columns, dom, NPMD_COORDS_DEFAULT, &pts, &err), &err);
    ask_values(m, pts, x, &how);
    ask_integrals(m, pts, &how, &until);
    ask_factors(m, pts, x, &how, &until);
    npmd_points_free(pts);
}

/* ---- models with huge weights ------------------------------------------------------------------------------------ */

/* Every number of a tensor times this much, or as large as it can be. */
static void enlarge(char *bytes, size_t from, size_t to, bool wide, double size)
{
    for (size_t at = from; at + (wide ? 8 : 4) <= to; at += wide ? 8 : 4)
        if (wide) {
            double value;
            memcpy(&value, bytes + at, sizeof value);
            value *= size;
            memcpy(bytes + at, &value, sizeof value);
        } else {
            float value;
            memcpy(&value, bytes + at, sizeof value);
            value = fminf(fmaxf((float)(value * size), -FLT_MAX), FLT_MAX);
            memcpy(bytes + at, &value, sizeof value);
        }
}

/* One tensor at a time, of those in the header; the loader may refuse it. */
static void mutate_and_ask(const char *bytes, size_t size)
{
    static const double SIZES[] = { 1e4, 1e30, 1e200 };
    uint64_t header = 0;
    npmd_error err = { 0 };
    json_t *root = NULL;
    memcpy(&header, bytes, sizeof header);
    assert_true(header + 8 <= size);
    char *text = strndup(bytes + 8, header);
    must(json_from_text(text, header, "the model", &root, &err), &err);
    int tensors = 0;
    for (size_t i = 0; i < json_object_size(root); i++) {
        const json_t *one = json_object_value(root, i);
        const char *type = json_string_value(json_object_get(one, "dtype"));
        const json_t *offsets = json_object_get(one, "data_offsets");
        if (type == NULL || (strcmp(type, "F64") != 0 && strcmp(type, "F32") != 0))
            continue;
        char *changed = malloc(size);
        npmd_model *m = NULL;
        assert_non_null(changed);
        memcpy(changed, bytes, size);
        enlarge(changed, 8 + header + (size_t)json_integer_value(json_array_get(offsets, 0)),
                8 + header + (size_t)json_integer_value(json_array_get(offsets, 1)), strcmp(type, "F64") == 0,
                SIZES[tensors++ % 3]);
        err = (npmd_error){ 0 };
        const npmd_status st = npmd_model_unpack(changed, size, &m, &err);
        if (st == NPMD_OK)
            ask_all(m);
        else
            verdict("unpack", st, &err, NULL, 0);
        npmd_model_free(m);
        free(changed);
    }
    json_decref(root);
    free(text);
}

typedef struct small {
    const char *domain, *set[6][2];
} small;
#define FEW                                                                                                            \
    { "steps", "4" },                                                                                                  \
    {                                                                                                                  \
        "width", "5"                                                                                                   \
    }
static const small SMALL[] = {
    { "T2", { { "tau", "1e-3" }, { "base", "none" }, { "convex-gap", "off" }, FEW } },
    { "S2 x S1", { { "tau", "1e-3" }, { "base", "none" }, { "members", "2" }, { "convex-gap", "off" }, FEW } },
    { "S2", { { "estimator", "relu" }, FEW } },
    { "S2", { { "estimator", "psnf" }, FEW } },
    { "S2", { { "estimator", "series" }, { "max-frequency", "3" }, { "tau", "1e-3" } } },
    { "T2", { { "estimator", "kde" }, { "kappa", "4" } } },
};

static void huge_weights(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++) {
        npmd_error err = { 0 };
        npmd_domain *dom = NULL;
        npmd_points *pts = NULL;
        npmd_model *m = NULL;
        npmd_options *opt = npmd_options_new();
        uint64_t seed = 7;
        double u[60 * 4], x[60 * 6];
        char *bytes = NULL;
        size_t size = 0;
        assert_non_null(opt);
        must(npmd_domain_parse(SMALL[i].domain, &dom, &err), &err);
        for (size_t j = 0; j < sizeof u / sizeof *u; j++)
            u[j] = 0.6 * test_uniform(&seed);
        must(npmd_domain_uniform(dom, u, 60, x, &err), &err);
        must(npmd_points_from(x, 60, (size_t)npmd_domain_columns(dom), dom, NPMD_COORDS_DEFAULT, &pts, &err), &err);
        must(npmd_options_set(opt, "threads", "1", &err), &err);
        must(npmd_options_set(opt, "accuracy", "1", &err), &err); /* four steps may leave anything */
        for (int j = 0; j < 6 && SMALL[i].set[j][0] != NULL; j++)
            must(npmd_options_set(opt, SMALL[i].set[j][0], SMALL[i].set[j][1], &err), &err);
        must(npmd_fit(dom, pts, opt, &m, &err), &err);
        must(npmd_model_pack(m, &bytes, &size, &err), &err);
        mutate_and_ask(bytes, size);
        npmd_text_free(bytes);
        npmd_model_free(m);
        npmd_points_free(pts);
        npmd_domain_free(dom);
        npmd_options_free(opt);
    }
    print_message("    %d answers, %d refusals\n", answers, refusals);
    assert_true(answers > 0 && refusals > 0);
}

/* Its weights reach a density that overflows, found by an attack on 0.1.0. */
static void models_of_an_attack(void **state)
{
    static const char *const FILES[] = { "attack/models/003752.st", "attack/models/004068.st",
                                         "attack/models/006880.st", "attack/models/008473.st" };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        const char *path = shared_file(*state, FILES[i]);
        npmd_model *m = NULL;
        npmd_error err = { 0 };
        if (path == NULL)
            continue; /* it has said so */
        if (npmd_load(path, &m, &err) == NPMD_OK)
            ask_all(m);
        else
            assert_true(err.text[0] != '\0');
        npmd_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(huge_weights), cmocka_unit_test(models_of_an_attack) };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
