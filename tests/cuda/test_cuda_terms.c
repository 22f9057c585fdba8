/* test_cuda_terms.c - terms and steps on a card with fast products, which test_backends (exact ones) does not see: few
 * points, shapes of every path. "few" as an argument: one number of points for each term, for compute-sanitizer.
 * Without a card there is nothing to test, which it says.
 *
 * Bounds, in norm. TF32 rounds an operand by up to u = 2^-11 = 5e-4, so a product of two errs by about u. A gradient
 * goes through at most four products up and four back; a sine layer multiplies an error by omega |W| <= 3 at most, and
 * where one point stands alone nothing averages: 8 u x 3 = 1.2e-2, for second derivatives twice that. Where a Laplacian
 * is near its zero at the only point, it and its gradient are small by cancellation: errors are measured against the
 * larger of a gradient's norm and that of most points. A misplaced row, weight or sign is of order 1e-1 or more. Exact
 * products: 1e-4, as test_backends. What goes into a ReLU, a few products of size 4 at most (angles), is known to 2 u x
 * 4 = 4e-3: no point is closer to a kink than twice that, so that no ReLU changes sides. */
#include "cuda_device.h"
#include "fixture.h"
#include "sampling.h"

#define FAST_BOUND 2.4e-2
#define EXACT_BOUND 1e-4
#define OFF_KINKS 1e-2

static const size_t POINTS[] = { 257, 128, 17, 1 }; /* most first */
static bool few;
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS, DATA = 300 };

static const field_case CASES[] = {
    { "T2", true, 128, 128, 3, false, 3.0, SCALE_UNIT },                  /* fused, two layers, jets of four rows */
    { "T4", false, 70, 128, 4, false, 3.0, SCALE_UNIT },                  /* fused, three layers, jets of six */
    { "S2 x S1", true, 40, 40, 4, true, 2.0, SCALE_UNIT },                /* fused, jets of five, with a linear part */
    { "T1", true, 5, 33, 3, true, 2.0, SCALE_UNIT },                      /* fused, less than a tile of everything */
    { "S2 x S2", true, 33, 130, 3, true, 2.0, SCALE_UNIT },               /* layer by layer: wide */
    { "T3", true, 20, 16, 5, false, 2.0, SCALE_ORTHONORMAL },             /* layer by layer: deep */
    { FIXTURE_SURFACE "^2", true, 64, 128, 3, false, 2.0, SCALE_UNIT },   /* fused, jets of six */
    { FIXTURE_SURFACE " x S1", true, 40, 130, 3, true, 2.0, SCALE_UNIT }, /* layer by layer */
    { "T2", true, 0, 128, 3, false, 0.0, SCALE_UNIT },                    /* ReLUs, always layer by layer, on columns */
    { "S2 x S1", true, 0, 40, 4, true, 0.0, SCALE_UNIT },
    { "S2 x S2", true, 33, 130, 3, false, 0.0, SCALE_UNIT }
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static void points_of(const fixture *f, uint64_t seed, npmd_points **out)
{
    const npmd_domain *dom = f->domain;
    double *x = doubles((size_t)(DATA * dom->columns));
    fixture_points_off_kinks(f, DATA, OFF_KINKS, &seed, x);
    for (int i = 0; i < DATA; i++) /* in the user's coordinates */
        domain_position(dom, x + i * dom->columns);
    assert_int_equal(points_from(x, DATA, dom, out, NULL), NPMD_OK);
    free(x);
}

static double norm(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void compare_terms(const field_case *c, bool exact, double bound)
{
    fixture f;
    npmd_points *data = NULL;
    fixture_open(c, 11, &f);
    points_of(&f, 12, &data);
    f.plan.exact = exact;
    void *self = fixture_backend(&f, &BACKEND_CUDA, 1), *reference = fixture_backend(&f, &BACKEND_REFERENCE, 1);
    double *found = doubles(f.parameters), *expected = doubles(f.parameters);
    assert_int_equal(BACKEND_CUDA.set_points(self, data, NULL), NPMD_OK);
    assert_int_equal(BACKEND_REFERENCE.set_points(reference, data, NULL), NPMD_OK);
    for (int kind = TERM_DATA; kind <= TERM_GRADIENT; kind++) {
        double most = 0.0;
        for (int i = 0; i < POINT_COUNT; i++) {
            if (few && i != (kind + 2) % POINT_COUNT)
                continue;
            const rng_key key = rng_key_make(5, RNG_TEST, (uint64_t)i);
            const double factor = kind == TERM_DATA ? -1.0 : 0.7;
            point_source s;
            if (kind == TERM_DATA)
                source_data(&s, data, 0, POINTS[i], true, key);
            else if (f.shape.activation == FIELD_RELU)
                source_fixed(&s, f.domain, data->x, NULL, POINTS[i]);
            else
                source_uniform(&s, f.domain, POINTS[i], true, key);
            const double a = fixture_term(&f, &BACKEND_CUDA, self, (term_kind)kind, &s, factor, found),
                         b = fixture_term(&f, &BACKEND_REFERENCE, reference, (term_kind)kind, &s, factor, expected),
                         size = norm(expected, f.parameters);
            most = fmax(most, size);
            const double error = size == 0.0 ? norm(found, f.parameters)
                                             : relative_norm(found, expected, f.parameters) * size / most;
            if (!(error <= bound))
                fail_msg("%s, W %d, L %d, %s, term %d, %zu points: gradient error %.2e, sum %.6g, expected %.6g",
                         c->domain, c->width, c->depth, exact ? "exact" : "fast", kind, POINTS[i], error, a, b);
        }
    }
    BACKEND_CUDA.close(self);
    BACKEND_REFERENCE.close(reference);
    npmd_points_free(data);
    free(found), free(expected);
    fixture_close(&f);
}

static void terms_agree_with_the_reference(void **state)
{
    (void)state;
    for (int i = 0; i < CASE_COUNT; i++) {
        compare_terms(&CASES[i], false, FAST_BOUND);
        if (!few || i == 0)
            compare_terms(&CASES[i], true, EXACT_BOUND);
    }
}

/* Steps as training runs them: one graph, three streams. theta (parameters) gets where they lead. */
static void run_steps(const field_case *c, double *theta)
{
    enum { STEPS = 2 };
    fixture f;
    npmd_points *data = NULL;
    npmd_error err = { 0 };
    optimiser_step step[STEPS];
    step_record found[STEPS];
    const step_recipe recipe = { .seed = 3,
                                 .batch = 128,
                                 .q1 = 257,
                                 .q2 = 129,
                                 .steps_an_epoch = DATA / 128,
                                 .quasi = true,
                                 .penalised = true,
                                 .penalty = TERM_LAPLACIAN,
                                 .tau = 1e-4 };
    fixture_open(c, 11, &f);
    points_of(&f, 12, &data);
    f.plan.exact = false;
    void *self = fixture_backend(&f, &BACKEND_CUDA, 1);
    for (int i = 0; i < STEPS; i++)
        step[i] = (optimiser_step){ .kind = OPTIMISER_ADAM,
                                    .rate = 1e-3,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .correction1 = 1.0 - pow(0.9, i + 1),
                                    .correction2 = 1.0 - pow(0.999, i + 1),
                                    .max_norm = INFINITY };
    if (BACKEND_CUDA.set_points(self, data, &err) != NPMD_OK
        || BACKEND_CUDA.run(self, &recipe, 0, STEPS, step, 0.0, 0.0, found, &err) != NPMD_OK
        || BACKEND_CUDA.get(self, VECTOR_THETA, theta, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    BACKEND_CUDA.close(self);
    npmd_points_free(data);
    fixture_close(&f);
}

static void equal_steps_give_equal_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < (few ? 2 : CASE_COUNT); i++) {
        fixture f;
        fixture_open(&CASES[i], 11, &f);
        double *once = doubles(f.parameters), *again = doubles(f.parameters);
        run_steps(&CASES[i], once);
        run_steps(&CASES[i], again);
        assert_memory_equal(once, again, f.parameters * sizeof *once);
        assert_memory_not_equal(once, f.theta, f.parameters * sizeof *once);
        free(once), free(again);
        fixture_close(&f);
    }
}

/* float32 sums of up to 40,000 terms by tiles of 128: a term errs by 2^-24 x (|exponent| + columns + 4) < 4e-6 for
 * exponents down to -20, below which terms do not count; a tile's sum by 128 x 2^-24 = 8e-6 at worst, at random by
 * 7e-7. */
static void kernels_agree_with_plain_sums(void **state)
{
    (void)state;
    static const int COLUMNS[] = { 2, 3, 5, 6, 8, 10, 16, 20 };
    static const size_t CENTRES[] = { 1, 130, 40000 }, QUERIES[] = { 1, 17, 257 };
    double worst = 0.0;
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof COLUMNS / sizeof *COLUMNS; i++)
        for (int size = 0; size < (few ? 2 : 3); size++) {
            const size_t columns = (size_t)COLUMNS[i], m = CENTRES[size], n = QUERIES[size];
            float *y = calloc(columns * m, sizeof *y), *scale = calloc(m, sizeof *scale),
                  *offset = calloc(m, sizeof *offset), *x = calloc(columns * n, sizeof *x);
            int64_t *skip = calloc(n, sizeof *skip);
            double *out = doubles(n);
            for (size_t k = 0; k < columns * m; k++)
                y[k] = (float)test_normal(&seed);
            for (size_t k = 0; k < columns * n; k++)
                x[k] = (float)test_normal(&seed);
            for (size_t c = 0; c < m; c++) {
                scale[c] = (float)(0.1 + test_uniform(&seed));
                offset[c] = c % 7 == 3 ? -1e30f : (float)-test_uniform(&seed);
            }
            for (size_t q = 0; q < n; q++)
                skip[q] = q % 2 == 0 ? -1 : (int64_t)(q % m);
            const kernel_request what = { .columns = COLUMNS[i],
                                          .centres = m,
                                          .y = y,
                                          .scale = scale,
                                          .offset = offset,
                                          .n = n,
                                          .x = x,
                                          .skip = skip,
                                          .out = out };
            assert_int_equal(BACKEND_CUDA.kernel_sums(0, &what, NULL), NPMD_OK);
            for (size_t q = 0; q < n; q++) {
                double sum = 0.0;
                for (size_t c = 0; c < m; c++) {
                    double z = 0.0;
                    for (size_t j = 0; j < columns; j++)
                        z += pow((double)x[q * columns + j] - (double)y[j * m + c], 2.0);
                    sum += (int64_t)c == skip[q] ? 0.0 : exp((double)offset[c] - (double)scale[c] * z);
                }
                worst = fmax(worst, fabs(out[q] - sum) / fmax(sum, 1e-30));
            }
            free(y), free(scale), free(offset), free(x), free(skip), free(out);
        }
    check_below("sums of kernels", worst, 1.2e-5);
}

int main(int argc, char **argv)
{
    int count = 0;
    const int status = device_count(&count);
    if (count == 0) {
        printf("1..1\nok 1 - a CUDA device # SKIP none was found (%s)\n", device_text(status));
        return 0;
    }
    few = argc > 1 && strcmp(argv[1], "few") == 0;
    const struct CMUnitTest tests[] = { cmocka_unit_test(terms_agree_with_the_reference),
                                        cmocka_unit_test(equal_steps_give_equal_bytes),
                                        cmocka_unit_test(kernels_agree_with_plain_sums) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
