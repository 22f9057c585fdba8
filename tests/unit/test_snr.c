/* test_snr.c - signal-to-noise ratios of gradients against those of every point's own gradient.
 *
 * Here the gradients are formed one by one in double precision, their variances in two passes. Bounds. The reference
 * does the same with one pass: a variance is then the difference of sums, off by u (1 + SNR_p) of it for every
 * parameter, u = 1e-16, and no SNR_p of these fields is above 1e4: 1e-11. The cpu's gradients are float32: a sum over R
 * rows and the layers above is off by about 1e-6 of its size (see test_backends.c), half of it at random from point to
 * point, and its square and its mean by as much; the average over parameters weighs them by their own size: 1e-5. A
 * missing pair of rows or a wrong factor is of order 1e-1. */
#include "fixture.h"
#include "training.h"

enum { N = 700, STEP = 3 };

typedef struct stage {
    fixture field;
    settings opt;
    npmd_points *points;
    objective terms;
} stage;

static void stage_open(const field_case *c, bool weighted, penalty_kind penalty, stage *s)
{
    uint64_t seed = 11;
    memset(s, 0, sizeof *s);
    fixture_open(c, 5, &s->field);
    const npmd_domain *dom = s->field.domain;
    double *x = doubles((size_t)(N * dom->columns)), total = 0.0;
    fixture_points(dom, N, 1.0, &seed, x);
    assert_int_equal(points_from(x, N, dom, &s->points, NULL), NPMD_OK);
    free(x);
    if (weighted) {
        assert_int_equal(memory_new(&s->points->weight, N, NULL), NPMD_OK);
        for (int i = 0; i < N; i++)
            total += s->points->weight[i] = 0.2 + test_uniform(&seed);
        for (int i = 0; i < N; i++)
            s->points->weight[i] *= N / total;
    }
    npmd_options usual;
    options_init(&usual);
    s->opt = usual.set;
    s->opt.descent.batch = weighted ? N : 300;
    s->opt.descent.q1 = 411;
    s->opt.descent.q2 = 157;
    s->opt.tau = 1e-4;
    s->opt.penalty = (int)penalty;
    s->opt.descent.integral = INTEGRAL_UNIFORM; /* of training: no matter here */
    assert_int_equal(objective_open(&s->terms, dom, s->points, &s->opt, NULL), NPMD_OK);
}

static void stage_close(stage *s)
{
    objective_close(&s->terms);
    npmd_points_free(s->points);
    fixture_close(&s->field);
}

/* From gradients one by one. */
static double explicit_ratio(const stage *s, void *reference, term_kind kind, const point_source *points)
{
    const size_t n = points->count, P = s->field.parameters;
    double *g = doubles(n * P), sum = 0.0, x[DOMAIN_MAX_COLUMNS], weight;
    size_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        point_source one;
        source_fill(points, i, 1, x, &weight);
        weight *= (double)n;
        source_fixed(&one, s->field.domain, x, &weight, 1);
        fixture_term(&s->field, &BACKEND_REFERENCE, reference, kind, &one, 1.0, g + i * P);
    }
    for (size_t p = 0; p < P; p++) {
        double mean = 0.0, variance = 0.0;
        for (size_t i = 0; i < n; i++)
            mean += g[i * P + p] / (double)n;
        for (size_t i = 0; i < n; i++)
            variance += (g[i * P + p] - mean) * (g[i * P + p] - mean) / (double)(n - 1);
        if (variance <= 1e-12 * mean * mean)
            continue;
        sum += mean * mean / variance;
        counted++;
    }
    free(g);
    return sum / (double)counted;
}

static snr_values explicit_ratios(const stage *s)
{
    void *reference = fixture_backend(&s->field, &BACKEND_REFERENCE, 1);
    const term_kind penalty = s->opt.penalty == PENALTY_GRADIENT ? TERM_GRADIENT : TERM_LAPLACIAN;
    snr_values out;
    point_source points;
    objective_batch(&s->terms, STEP, &points);
    out.a = explicit_ratio(s, reference, TERM_DATA, &points);
    source_uniform(&points, s->field.domain, (size_t)s->opt.descent.q1, false,
                   rng_key_make(s->opt.seed, RNG_DIAGNOSE, 2 * STEP));
    out.b = explicit_ratio(s, reference, TERM_INTEGRAL, &points);
    source_uniform(&points, s->field.domain, (size_t)s->opt.descent.q2, false,
                   rng_key_make(s->opt.seed, RNG_DIAGNOSE, 2 * STEP + 1));
    out.c = explicit_ratio(s, reference, penalty, &points);
    BACKEND_REFERENCE.close(reference);
    return out;
}

static snr_values ratios(stage *s, const backend_ops *ops, int threads, bool cached)
{
    snr_values out = { 0 };
    snr room;
    npmd_error err = { 0 };
    backend b = { ops, fixture_backend(&s->field, ops, threads) };
    if (cached)
        assert_int_equal(ops->set_points(b.self, s->points, NULL), NPMD_OK);
    if (snr_open(&room, &s->field.plan, &b, threads, &err) != NPMD_OK
        || snr_at(&room, &s->terms, &b, STEP, &out, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    snr_close(&room);
    backend_close(&b);
    return out;
}

static void check_ratios(const char *what, const snr_values *found, const snr_values *known, double bound)
{
    char line[128];
    const double error = fmax(fabs(found->a / known->a - 1.0),
                              fmax(fabs(found->b / known->b - 1.0), fabs(found->c / known->c - 1.0)));
    snprintf(line, sizeof line, "%s: %.4g, %.4g, %.4g", what, known->a, known->b, known->c);
    check_below(line, error, bound);
}

static void as_gradients_one_by_one(void **state)
{
    static const struct {
        field_case field;
        bool weighted;
        penalty_kind penalty;
    } CASES[] = {
        { { "T2", true, 12, 17, 3, false, 3.0, SCALE_UNIT }, false, PENALTY_LAPLACIAN },
        { { "T2", true, 12, 17, 3, true, 3.0, SCALE_UNIT }, true, PENALTY_LAPLACIAN },
        { { "T4", false, 20, 16, 4, false, 2.0, SCALE_UNIT }, false, PENALTY_LAPLACIAN },
        { { "T4", false, 19, 16, 4, true, 2.0, SCALE_UNIT }, false, PENALTY_GRADIENT },
        { { "S2 x S1", true, 15, 9, 3, false, 2.0, SCALE_UNIT }, true, PENALTY_LAPLACIAN },
        { { "S2 x S1", false, 15, 9, 3, true, 2.0, SCALE_UNIT }, false, PENALTY_LAPLACIAN },
        { { "T2", true, 12, 17, 1, false, 1.0, SCALE_ORTHONORMAL }, false, PENALTY_LAPLACIAN },
        { { "S2 x S1", true, 0, 17, 3, false, 0.0, SCALE_UNIT }, true, PENALTY_GRADIENT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        stage s;
        stage_open(&CASES[i].field, CASES[i].weighted, CASES[i].penalty, &s);
        const snr_values known = explicit_ratios(&s), reference = ratios(&s, &BACKEND_REFERENCE, 1, false),
                         cpu = ratios(&s, &BACKEND_CPU, 1, i % 2 == 0);
        check_ratios("reference", &reference, &known, 1e-11);
        check_ratios(CASES[i].field.domain, &cpu, &known, 1e-5);
        stage_close(&s);
    }
}

/* Nor does the number of threads, or that a backend has to ask another one. */
static void the_backend_changes_nothing(void **state)
{
    backend_ops blind = BACKEND_CPU;
    stage s;
    (void)state;
    blind.squares = NULL;
    stage_open(&(field_case){ "S2 x S1", true, 15, 9, 3, true, 2.0, SCALE_UNIT }, false, PENALTY_LAPLACIAN, &s);
    const snr_values one = ratios(&s, &BACKEND_CPU, 1, false), three = ratios(&s, &BACKEND_CPU, 3, false),
                     other = ratios(&s, &blind, 2, false);
    assert_memory_equal(&one, &three, sizeof one);
    assert_memory_equal(&one, &other, sizeof one);
    s.opt.penalty = PENALTY_NONE;
    const snr_values without = ratios(&s, &BACKEND_CPU, 1, false);
    assert_true(without.a == one.a && without.b == one.b && isnan(without.c));
    stage_close(&s);
}

/* What accumulates in a backend is left alone. */
static void the_gradient_of_a_step_stays(void **state)
{
    static const backend_ops *const ALL[] = { &BACKEND_CPU, &BACKEND_REFERENCE };
    stage s;
    (void)state;
    stage_open(&(field_case){ "T2", true, 12, 17, 3, true, 3.0, SCALE_UNIT }, false, PENALTY_LAPLACIAN, &s);
    for (int i = 0; i < 2; i++) {
        const size_t P = s.field.parameters;
        double *alone = doubles(P), *beside = doubles(P), *gradient = doubles(P), *square = doubles(P), sum;
        void *self = fixture_backend(&s.field, ALL[i], 1);
        point_source points;
        objective_batch(&s.terms, STEP, &points);
        const term_request what = { TERM_DATA, &points, -1.0 };
        fixture_term(&s.field, ALL[i], self, TERM_DATA, &points, -1.0, alone);
        memset(gradient, 0, P * sizeof *gradient);
        assert_int_equal(ALL[i]->put(self, VECTOR_GRADIENT, gradient, NULL), NPMD_OK);
        assert_int_equal(ALL[i]->term(self, &what, &sum, NULL), NPMD_OK);
        assert_int_equal(ALL[i]->squares(self, &what, gradient, square, NULL), NPMD_OK);
        assert_int_equal(ALL[i]->get(self, VECTOR_GRADIENT, beside, NULL), NPMD_OK);
        assert_memory_equal(alone, beside, P * sizeof *alone);
        check_below("its own gradient is the same", relative_norm(gradient, alone, P), 1e-4);
        ALL[i]->close(self);
        free(alone), free(beside), free(gradient), free(square);
    }
    stage_close(&s);
}

/* v = 0 and a linear field: the gradient of the integral at a point is eta, whose mean over the domain is 0. There is
 * no signal, and the mean of q1 independent points has 1 / q1 of the variance: SNR_b is the average of K variables
 * chi^2_1 / q1, uncorrelated since the features are orthogonal. The output's bias has the gradient 1 everywhere, and
 * would make it infinite. */
static void no_signal(void **state)
{
    enum { K = 40 };
    stage s;
    (void)state;
    stage_open(&(field_case){ "T2", true, 1, 1, 1, false, 1.0, SCALE_UNIT }, false, PENALTY_NONE, &s);
    int function[2 * K];
    for (int k = 0; k < K; k++) {
        function[2 * k] = 1 + k % 8;
        function[2 * k + 1] = k / 8;
    }
    encoding_free(&s.field.enc);
    free(s.field.theta);
    assert_int_equal(encoding_make(s.field.domain, true, K, K, function, SCALE_UNIT, &s.field.enc, NULL), NPMD_OK);
    s.field.shape.features = s.field.plan.shape.features = K;
    s.field.parameters = field_parameters(&s.field.shape);
    s.field.theta = doubles(s.field.parameters);
    s.opt.descent.q1 = 20000;
    const snr_values found = ratios(&s, &BACKEND_CPU, 1, false);
    check_below("SNR_b x q1 is 1 within 4 standard errors", fabs(found.b * (double)s.opt.descent.q1 - 1.0),
                4.0 * sqrt(2.0 / K));
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_gradients_one_by_one),
        cmocka_unit_test(the_backend_changes_nothing),
        cmocka_unit_test(the_gradient_of_a_step_stays),
        cmocka_unit_test(no_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
