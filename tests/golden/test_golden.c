/* test_golden.c - the library against numbers that it did not make: values, gradients, Laplacians,
 * parameter gradients and ten Adam steps of the paper's networks, from the authors' PyTorch modules in
 * double precision.
 *
 * Files: $NEUROPMD_SHARED/golden (default ../shared/golden), described in the README there; a test whose
 * file is absent is skipped and says so. "reference" is held to double precision, "cpu" to float32. */
#include "fixture.h"
#include "npz.h"

/* Bounds, relative in norm. reference: sums of at most 32 terms through 4 layers of gain below 30 in
 * double lie at 1e-13, and Laplacians (frequencies up to 10, omega 10: terms of 1e3 to 1e4 that cancel) at
 * 1e-12; 1e-10 leaves room for another order of summation. Adam divides by sqrt of the second moment, so
 * an entry whose gradient is small, relatively less exact, moves as far as the others: the trajectory is
 * held to 1e-7. cpu: eps is 6e-8, the same amplification gives 1e-6 .. 1e-5 (gradients) and, through two
 * derivatives, 1e-4 (Laplacians); losses after ten steps sum all this up: 1e-3. One entry whose gradient
 * has the wrong sign from rounding goes astray by 2 x 10 steps x rate 1e-3 = 0.02, where |theta| is about
 * 4: weights to 5e-3. */
typedef struct tolerance {
    double value, gradient, laplacian, parameters, trajectory, weights;
} tolerance;
static const tolerance DOUBLE = { 1e-10, 1e-10, 1e-10, 1e-10, 1e-7, 1e-7 };
static const tolerance SINGLE = { 1e-5, 1e-5, 1e-4, 1e-5, 1e-3, 5e-3 };

static int golden_open(const char *name, npz *z)
{
    const char *shared = getenv("NEUROPMD_SHARED"), *why = NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/golden/%s", shared != NULL && shared[0] != '\0' ? shared : "../shared", name);
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        print_message("    %s is absent: skipped (set NEUROPMD_SHARED)\n", path);
        return 0;
    }
    fclose(in);
    if (npz_read(path, z, &why) != 0) /* a file that is there must make sense */
        fail_msg("%s %s", path, why);
    return 1;
}

static const npz_array *array(const npz *z, const char *name, size_t rows, size_t cols)
{
    const npz_array *a = npz_find(z, name);
    if (a == NULL || a->rows != rows || a->cols != cols)
        fail_msg("array %s is absent or not %zu x %zu", name, rows, cols);
    return a;
}

static double scalar(const npz *z, const char *name)
{
    return array(z, name, 1, 1)->x[0];
}

/* Arrays prefix_W1, prefix_b1, ... in the layout of theta. */
static void gather(const npz *z, const char *weights, const char *biases, const field_shape *s, double *theta)
{
    for (int layer = 1; layer <= s->depth; layer++) {
        const size_t inputs = (size_t)field_inputs(s, layer), outputs = (size_t)field_outputs(s, layer);
        char name[32];
        snprintf(name, sizeof name, "%s%d", weights, layer);
        memcpy(theta + field_weights(s, layer), array(z, name, outputs, inputs)->x, outputs * inputs * sizeof *theta);
        snprintf(name, sizeof name, "%s%d", biases, layer);
        memcpy(theta + field_biases(s, layer), array(z, name, outputs, 1)->x, outputs * sizeof *theta);
    }
}

/* f->domain and f->enc are made; the rest comes from the file. */
static void golden_field(const npz *z, int depth, fixture *f)
{
    const npz_array *first = npz_find(z, "W1");
    assert_non_null(first);
    assert_int_equal(first->cols, f->enc.features);
    f->shape = (field_shape){ .features = f->enc.features,
                              .width = (int)first->rows,
                              .depth = depth,
                              .directions = f->domain->dimension,
                              .skip = false,
                              .omega = scalar(z, "omega0") };
    f->plan = (field_plan){ .domain = f->domain, .encoding = &f->enc, .shape = f->shape };
    f->parameters = field_parameters(&f->shape);
    f->theta = doubles(f->parameters);
    gather(z, "W", "b", &f->shape, f->theta);
}

static void golden_encoding(const fixture *f, const npz_array *x, const npz_array *expected)
{
    const size_t K = (size_t)f->enc.features;
    assert_int_equal(expected->rows, x->rows);
    assert_int_equal(expected->cols, K);
    double *work = doubles(encoding_work(&f->enc)), *eta = doubles(x->rows * K);
    for (size_t i = 0; i < x->rows; i++)
        encoding_jet(&f->enc, x->x + i * x->cols, 1, work, eta + i * K);
    check_below("encoding", relative_norm(eta, expected->x, x->rows * K), 1e-10);
    free(work), free(eta);
}

static void golden_jets(const fixture *f, const npz *z, const backend_ops *ops, void *self, const tolerance *tol)
{
    const npz_array *x = npz_find(z, "penalty_points");
    const size_t n = x->rows, T = (size_t)f->domain->dimension;
    double *jet = doubles(n * (T + 2)), *value = doubles(n), *gradient = doubles(n * T), *lap = doubles(n);
    assert_int_equal(ops->evaluate(self, x->x, n, JET_ALL, jet, NULL), NPMD_OK);
    for (size_t i = 0; i < n; i++) {
        value[i] = jet[i * (T + 2)];
        memcpy(gradient + i * T, jet + i * (T + 2) + 1, T * sizeof *gradient);
        lap[i] = jet[i * (T + 2) + T + 1];
    }
    check_below("v", relative_norm(value, array(z, "v_at_penalty_points", n, 1)->x, n), tol->value);
    check_below("gradient", relative_norm(gradient, array(z, "gradient_at_penalty_points", n, T)->x, n * T),
                tol->gradient);
    check_below("Laplacian", relative_norm(lap, array(z, "laplacian_at_penalty_points", n, 1)->x, n), tol->laplacian);
    assert_int_equal(ops->evaluate(self, x->x, n, JET_VALUE, value, NULL), NPMD_OK);
    check_below("v alone", relative_norm(value, array(z, "v_at_penalty_points", n, 1)->x, n), tol->value);
    free(jet), free(value), free(gradient), free(lap);
}

/* The three terms at the current theta: their sums, the gradient of -data + integral + tau penalty
 * accumulates. */
static void golden_loss(const point_source source[3], double tau, const backend_ops *ops, void *self, double sums[4])
{
    static const term_kind KIND[3] = { TERM_DATA, TERM_INTEGRAL, TERM_LAPLACIAN };
    const double factor[3] = { -1.0, 1.0, tau };
    for (int t = 0; t < 3; t++) {
        const term_request what = { .kind = KIND[t], .points = &source[t], .factor = factor[t] };
        assert_int_equal(ops->term(self, &what, &sums[t], NULL), NPMD_OK);
    }
    sums[3] = -sums[0] + sums[1] + tau * sums[2];
}

static void golden_steps(const fixture *f, const npz *z, const backend_ops *ops, void *self, const tolerance *tol)
{
    static const char *const POINTS[3] = { "data", "integral_points", "penalty_points" };
    const double tau = scalar(z, "tau"), rate = scalar(z, "rate");
    const npz_array *trajectory = array(z, "trajectory", 10, 4);
    double *found = doubles(f->parameters), *expected = doubles(f->parameters), worst = 0.0;
    point_source source[3];
    for (int t = 0; t < 3; t++) {
        const npz_array *x = npz_find(z, POINTS[t]);
        source_fixed(&source[t], f->domain, x->x, NULL, x->rows);
    }
    for (int step = 1; step <= 10; step++) {
        double sums[4], norm;
        golden_loss(source, tau, ops, self, sums);
        for (int k = 0; k < 4; k++)
            worst = fmax(worst, fabs(sums[k] / trajectory->x[(step - 1) * 4 + k] - 1.0));
        if (step == 1) {
            assert_int_equal(ops->get(self, VECTOR_GRADIENT, found, NULL), NPMD_OK);
            gather(z, "gW", "gb", &f->shape, expected);
            check_below("parameter gradient, all", relative_norm(found, expected, f->parameters), tol->parameters);
            for (int layer = 1; layer <= f->shape.depth && tol == &DOUBLE; layer++) {
                const size_t w = field_weights(&f->shape, layer), b = field_biases(&f->shape, layer);
                const size_t outputs = (size_t)field_outputs(&f->shape, layer);
                check_quiet("gW of one layer", relative_norm(found + w, expected + w, b - w), tol->parameters);
                check_quiet("gb of one layer", relative_norm(found + b, expected + b, outputs), tol->parameters);
            }
        }
        const optimiser_step adam = { .kind = OPTIMISER_ADAM,
                                      .rate = rate,
                                      .beta1 = 0.9,
                                      .beta2 = 0.999,
                                      .epsilon = 1e-8,
                                      .correction1 = 1.0 - pow(0.9, step),
                                      .correction2 = 1.0 - pow(0.999, step),
                                      .max_norm = INFINITY };
        assert_int_equal(ops->update(self, &adam, &norm, NULL), NPMD_OK);
        if (step == 1) { /* found is still the gradient that update saw */
            double size = 0.0;
            for (size_t p = 0; p < f->parameters; p++)
                size += found[p] * found[p];
            check_quiet("norm told by update", fabs(norm / sqrt(size) - 1.0), 1e-12);
        }
    }
    check_below("ten steps: sums and loss, largest relative error", worst, tol->trajectory);
    gather(z, "after_W", "after_b", &f->shape, expected);
    assert_int_equal(ops->get(self, VECTOR_THETA, found, NULL), NPMD_OK);
    check_below("weights after ten steps", relative_norm(found, expected, f->parameters), tol->weights);
    free(found), free(expected);
}

static void golden_backend(const fixture *f, const npz *z, const backend_ops *ops, const tolerance *tol)
{
    print_message("    -- %s\n", ops->name);
    void *self = fixture_backend(f, ops, 2);
    golden_jets(f, z, ops, self, tol);
    golden_steps(f, z, ops, self, tol);
    ops->close(self);
}

static void golden_t2(void **state)
{
    (void)state;
    npz z;
    if (!golden_open("t2_separable.npz", &z))
        skip();
    fixture f = { 0 };
    int function[32 * 2];
    const npz_array *frequency = array(&z, "frequency", 32, 2), *sine = array(&z, "is_sine", 32, 2);
    for (int i = 0; i < 64; i++) {
        const int k = (int)frequency->x[i], is_sine = sine->x[i] != 0.0;
        assert_false(k == 0 && is_sine);
        function[i] = k == 0 ? 0 : 2 * k - 1 + is_sine;
    }
    assert_int_equal(npmd_domain_parse("T2", &f.domain, NULL), NPMD_OK);
    assert_int_equal(encoding_make(f.domain, true, 32, 32, function, SCALE_ORTHONORMAL, &f.enc, NULL), NPMD_OK);
    golden_field(&z, 3, &f);
    golden_encoding(&f, npz_find(&z, "data"), npz_find(&z, "encoding_at_data"));
    golden_backend(&f, &z, &BACKEND_REFERENCE, &DOUBLE);
    golden_backend(&f, &z, &BACKEND_CPU, &SINGLE);
    fixture_close(&f);
    npz_free(&z);
}

static void golden_t4(void **state)
{
    (void)state;
    npz z;
    if (!golden_open("t4_nonseparable.npz", &z))
        skip();
    fixture f = { 0 };
    int function[16 * 4];
    const npz_array *frequency = array(&z, "frequency", 16, 4);
    for (int i = 0; i < 64; i++)
        function[i] = (int)frequency->x[i];
    assert_int_equal(npmd_domain_parse("T4", &f.domain, NULL), NPMD_OK);
    assert_int_equal(encoding_make(f.domain, false, 32, 16, function, SCALE_NONE, &f.enc, NULL), NPMD_OK);
    golden_field(&z, 4, &f);
    golden_encoding(&f, npz_find(&z, "data"), npz_find(&z, "encoding_at_data"));
    golden_backend(&f, &z, &BACKEND_REFERENCE, &DOUBLE);
    golden_backend(&f, &z, &BACKEND_CPU, &SINGLE);
    fixture_close(&f);
    npz_free(&z);
}

/* Laplacians in the file come from fourth-order differences along great circles and are good to about
 * 1e-6. */
static void golden_s2s2(void **state)
{
    (void)state;
    npz z;
    if (!golden_open("s2s2_separable.npz", &z))
        skip();
    fixture f = { 0 };
    int function[24 * 2];
    for (int d = 0; d < 2; d++) {
        const npz_array *index = array(&z, d == 0 ? "degree_order_1" : "degree_order_2", 24, 2);
        for (int k = 0; k < 24; k++) {
            const int l = (int)index->x[2 * k], m = (int)index->x[2 * k + 1];
            function[2 * k + d] = l * l + l + m;
        }
    }
    assert_int_equal(npmd_domain_parse("S2 x S2", &f.domain, NULL), NPMD_OK);
    assert_int_equal(encoding_make(f.domain, true, 24, 24, function, SCALE_ORTHONORMAL, &f.enc, NULL), NPMD_OK);
    golden_field(&z, 4, &f);
    const npz_array *x = array(&z, "points", 30, 6);
    golden_encoding(&f, x, npz_find(&z, "encoding"));
    static const backend_ops *const OPS[2] = { &BACKEND_REFERENCE, &BACKEND_CPU };
    for (int b = 0; b < 2; b++) {
        double jet[30 * 6], value[30], lap[30];
        void *self = fixture_backend(&f, OPS[b], 2);
        assert_int_equal(OPS[b]->evaluate(self, x->x, 30, JET_ALL, jet, NULL), NPMD_OK);
        for (int i = 0; i < 30; i++) {
            value[i] = jet[i * 6];
            lap[i] = jet[i * 6 + 5];
        }
        print_message("    -- %s\n", OPS[b]->name);
        check_below("v", relative_norm(value, array(&z, "v", 30, 1)->x, 30), b == 0 ? 1e-10 : SINGLE.value);
        check_below("Laplacian", relative_norm(lap, array(&z, "laplacian", 30, 1)->x, 30),
                    b == 0 ? 1e-6 : SINGLE.laplacian);
        OPS[b]->close(self);
    }
    fixture_close(&f);
    npz_free(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_t2),
        cmocka_unit_test(golden_t4),
        cmocka_unit_test(golden_s2s2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
