/* test_columns.c - the point's own columns as an encoding, and ReLU networks on them: jets along geodesics, where a fit
 * begins, and the loop that trains any field. */
#include "fixture.h"
#include "line.h"
#include "training.h"

#define MAX_ROWS (DOMAIN_MAX_DIMENSION + 2)

static const field_case CASES[] = {
    { "T1", true, 0, 6, 2, false, 0.0, SCALE_UNIT },          { "T3", true, 0, 9, 3, true, 0.0, SCALE_UNIT },
    { "S2", true, 0, 9, 3, false, 0.0, SCALE_UNIT },          { "S1 x S2", true, 0, 9, 4, false, 0.0, SCALE_UNIT },
    { "S2 x S2 x S1", true, 0, 9, 2, true, 0.0, SCALE_UNIT }, { "S2 x S1", true, 0, 9, 3, false, 2.0, SCALE_UNIT },
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

/* ---- jets -------------------------------------------------------------------------------------------------------- */

/* The columns along the geodesic of direction t of factor d: an angle moves, a unit vector is x cos s + e_t sin s. */
static void geodesic(const npmd_domain *dom, const double *x, int d, int t, line *q)
{
    double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
    const manifold *m = dom->factor[d];
    for (int k = 0; k < dom->columns; k++)
        q[k] = line_constant(x[k]);
    m->frame(m, x + dom->column[d], frame);
    for (int j = 0; j < m->columns; j++) {
        const double at = x[dom->column[d] + j];
        q[dom->column[d] + j] = (line){ at, frame[t * m->columns + j], m == &CIRCLE ? 0.0 : -at };
    }
}

/* The network along a line, from the definition and the layout of theta in field.h. */
static line network_along(const fixture *f, const line *eta)
{
    const field_shape *s = &f->shape;
    const double *p = f->theta;
    line h[32], next[32];
    int inputs = s->features;
    memcpy(h, eta, (size_t)inputs * sizeof *h);
    for (int layer = 1; layer <= s->depth; layer++) {
        const int outputs = layer == s->depth ? 1 : s->width;
        const double *weight = p, *bias = p + outputs * inputs;
        for (int o = 0; o < outputs; o++) {
            line a = line_constant(bias[o]);
            for (int i = 0; i < inputs; i++)
                a = line_add(a, line_scale(weight[o * inputs + i], h[i]));
            next[o] = layer == s->depth             ? a
                      : s->activation == FIELD_SINE ? line_sin(line_scale(s->omega, a))
                      : a.value > 0.0               ? a
                                                    : line_constant(0.0);
        }
        memcpy(h, next, (size_t)outputs * sizeof *h);
        p = bias + outputs;
        inputs = outputs;
    }
    for (int k = 0; s->skip && k < s->features; k++)
        h[0] = line_add(h[0], line_scale(p[k], eta[k]));
    return h[0];
}

/* Rows of the jets of all features (rows, K) and of the field (rows), by second-order dual numbers: derivatives are
 * slopes along the frame's geodesics, the Laplacian is the sum of their bends. */
static void own_jets(const fixture *f, const double *x, double *eta, double *v)
{
    const npmd_domain *dom = f->domain;
    const int K = dom->columns, lap = dom->dimension + 1;
    memset(eta, 0, (size_t)((lap + 1) * K) * sizeof *eta);
    v[lap] = 0.0;
    for (int d = 0; d < dom->factors; d++)
        for (int t = 0; t < dom->factor[d]->dimension; t++) {
            const int row = 1 + dom->direction[d] + t;
            line q[DOMAIN_MAX_COLUMNS];
            geodesic(dom, x, d, t, q);
            const line along = network_along(f, q);
            v[0] = along.value;
            v[row] = along.slope;
            v[lap] += along.bend;
            for (int k = 0; k < K; k++) {
                eta[k] = q[k].value;
                eta[row * K + k] = q[k].slope;
                eta[lap * K + k] += q[k].bend;
            }
        }
}

/* Sums of a few products a layer: 1e-14 of their size, which is below 100. The reference differs from these in nothing
 * else, also where a sphere's frame is that of a pole; the cpu by float32, 1e-5 of what is summed. */
static void jets_along_geodesics(void **state)
{
    (void)state;
    enum { POINTS = 33 };
    double worst[3] = { 0 };
    for (int c = 0; c < CASE_COUNT; c++) {
        fixture f;
        uint64_t seed = (uint64_t)c;
        fixture_open(&CASES[c], 20 + seed, &f);
        const int R = f.domain->dimension + 2, K = f.domain->columns;
        double *x = doubles((size_t)(POINTS * K)), *work = doubles(encoding_work(&f.enc)),
               *eta = doubles((size_t)(MAX_ROWS * K)), *own = doubles((size_t)(MAX_ROWS * K)),
               *v = doubles((size_t)(POINTS * R)), *v_cpu = doubles((size_t)(POINTS * R)), own_v[MAX_ROWS];
        void *reference = fixture_backend(&f, &BACKEND_REFERENCE, 1), *cpu = fixture_backend(&f, &BACKEND_CPU, 1);
        fixture_points_off_kinks(&f, POINTS, 1e-5, &seed, x);
        for (int d = 0; d < f.domain->factors; d++)
            if (f.domain->factor[d] == &SPHERE) /* the first point: a pole */
                memcpy(x + f.domain->column[d], (const double[]){ 0.0, 0.0, -1.0 }, 3 * sizeof *x);
        assert_int_equal(f.enc.features, K);
        assert_int_equal(BACKEND_REFERENCE.evaluate(reference, x, POINTS, JET_ALL, v, NULL), NPMD_OK);
        assert_int_equal(BACKEND_CPU.evaluate(cpu, x, POINTS, JET_ALL, v_cpu, NULL), NPMD_OK);
        for (int i = 0; i < POINTS; i++) {
            own_jets(&f, x + i * K, own, own_v);
            encoding_jet(&f.enc, x + i * K, R, work, eta);
            for (int k = 0; k < R * K; k++)
                worst[0] = fmax(worst[0], fabs(eta[k] - own[k]));
            for (int r = 0; r < R; r++) {
                worst[1] = fmax(worst[1], fabs(v[i * R + r] - own_v[r]));
                worst[2] = fmax(worst[2], fabs(v_cpu[i * R + r] - own_v[r]));
            }
            encoding_jet(&f.enc, x + i * K, 1, work, eta);
            assert_memory_equal(eta, x + i * K, (size_t)K * sizeof *eta);
        }
        BACKEND_REFERENCE.close(reference);
        BACKEND_CPU.close(cpu);
        free(x), free(work), free(eta), free(own), free(v), free(v_cpu);
        fixture_close(&f);
    }
    check_below("features", worst[0], 0.0);
    check_below("fields, reference", worst[1], 1e-12);
    check_below("fields, cpu", worst[2], 1e-4);
}

/* The sum of the mean squares, for the start of sines: 4 pi^2 / 3 an angle, 1 a unit vector. */
static void mean_squares(void **state)
{
    (void)state;
    npmd_domain *dom = NULL;
    encoding enc;
    assert_int_equal(npmd_domain_parse("S2 x S1", &dom, NULL), NPMD_OK);
    assert_int_equal(encoding_columns(dom, &enc, NULL), NPMD_OK);
    check_quiet("mean squares", fabs(enc.square - 1.0 - 4.0 * (double)(CHECK_PI * CHECK_PI) / 3.0), 1e-14);
    encoding_free(&enc);
    npmd_domain_free(dom);
}

/* ---- where a fit begins ------------------------------------------------------------------------------------------ */

static void starts(void **state)
{
    (void)state;
    enum { K = 3, W = 200 };
    const field_shape s = { .features = K, .width = W, .depth = 3, .directions = 2, .activation = FIELD_RELU };
    const size_t P = field_parameters(&s);
    double *theta = doubles(P), *rows = doubles(W * K), square[3] = { 0 }, largest = 0.0;
    uint64_t seed = 3;
    for (size_t p = 0; p < P; p++)
        theta[p] = NAN; /* whatever is not written is seen */
    field_start(&s, false, 7, theta);
    for (int l = 1; l <= 3; l++) {
        const size_t weights = field_biases(&s, l) - field_weights(&s, l);
        for (size_t i = 0; i < weights; i++)
            square[l - 1] += theta[field_weights(&s, l) + i] * theta[field_weights(&s, l) + i] / (double)weights;
        for (int i = 0; i < field_outputs(&s, l); i++)
            assert_true(theta[field_biases(&s, l) + (size_t)i] == 0.0);
    }
    /* squares of normal numbers: within four standard errors */
    check_below("variance of the first weights x inputs / 2", fabs(square[0] * K / 2.0 - 1.0),
                4.0 * sqrt(2.0 / (W * K)));
    check_below("variance of the second", fabs(square[1] * W / 2.0 - 1.0), 4.0 * sqrt(2.0 / (W * W)));
    assert_true(square[2] == 0.0);
    for (int i = 0; i < W * K; i++)
        rows[i] = test_normal(&seed);
    field_start_kinks(&s, rows, theta);
    for (int i = 0; i < W; i++) {
        double a = theta[field_biases(&s, 1) + (size_t)i];
        for (int k = 0; k < K; k++)
            a += theta[i * K + k] * rows[i * K + k];
        check_quiet("a unit's kink passes through its row", fabs(a), 1e-14);
    }
    field_start(&s, true, 7, theta);
    for (int l = 1; l <= 3; l++)
        for (size_t p = field_weights(&s, l); p < field_weights(&s, l + 1); p++)
            largest = fmax(largest, fabs(theta[p]) * sqrt(field_inputs(&s, l)));
    check_below("authors: all within 1 / sqrt(inputs)", largest, 1.0);
    assert_true(largest > 0.999);
    free(theta), free(rows);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* A wrapped normal of standard deviation 1/2 on T2: the objective of the truth is 1 - log(4 pi^2) + log(2 pi e / 4) =
 * -1.22. Adam with a rate of 1e-2 moves every weight by up to 2 in 200 steps, which is far enough for most of it. */
static void a_relu_field_is_trained(void **state)
{
    (void)state;
    enum { N = 1000 };
    fixture f;
    npmd_options opt;
    npmd_points *pts = NULL;
    objective o = { 0 };
    train_result done = { 0 };
    uint64_t seed = 5;
    double x[2 * N], eta[2 * 32];
    fixture_open(&(field_case){ "T2", true, 0, 32, 3, false, 0.0, SCALE_UNIT }, 1, &f);
    for (int i = 0; i < 2 * N; i++)
        x[i] = 3.0 + 0.5 * test_normal(&seed);
    assert_int_equal(points_from(x, N, f.domain, &pts, NULL), NPMD_OK);
    options_init(&opt);
    opt.set.descent.steps = opt.watch.log_every = 200;
    opt.set.descent.rate = 1e-2;
    opt.set.descent.batch = N;
    opt.set.descent.q1 = 512;
    opt.set.penalty = PENALTY_NONE;
    opt.set.tau = 0.0;
    opt.set.descent.integral = INTEGRAL_UNIFORM;
    opt.set.machine.threads = 1;
    assert_int_equal(objective_open(&o, f.domain, pts, &opt.set, NULL), NPMD_OK);
    field_start(&f.shape, false, 7, f.theta);
    for (size_t i = 0; i < 32; i++)
        points_row(pts, i, eta + 2 * i);
    field_start_kinks(&f.shape, eta, f.theta);
    for (int skip = 0; skip < 2; skip++) { /* a linear part of columns has no start of its own, and needs none */
        npmd_error err = { 0 };
        backend b = { 0 };
        f.plan.shape.skip = skip != 0;
        const field_training what = { .backend = &b,
                                      .shape = &f.plan.shape,
                                      .encoding = &f.enc,
                                      .from = skip ? NULL : f.theta,
                                      .terms = &o,
                                      .set = &opt.set,
                                      .watch = &opt.watch };
        if (backend_open("cpu", 1, &f.plan, &b, &err) != NPMD_OK || b.ops->set_points(b.self, pts, &err) != NPMD_OK
            || train(&what, &done, &err) != NPMD_OK)
            fail_msg("%s", err.text);
        print_message("    objective %.3f after %lld steps\n", done.objective, (long long)done.steps);
        assert_true(done.objective < -0.7 && done.objective > -1.5);
        assert_true(done.restarts == 0 && !done.linear && !done.unfinished);
        backend_close(&b);
    }
    objective_close(&o);
    npmd_points_free(pts);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jets_along_geodesics),
        cmocka_unit_test(mean_squares),
        cmocka_unit_test(starts),
        cmocka_unit_test(a_relu_field_is_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
