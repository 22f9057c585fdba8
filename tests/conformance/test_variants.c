/* test_variants.c - the cpu backend with every variant of the kernels that this machine can run, against
 * reference.c, on odd shapes: 0, 1 and 17 points; 1, 3 and 130 units; 1, 5 and 130 features. test_backends.c has
 * more shapes and sources, with the variant that the machine chooses.
 *
 * Bounds as there: 1e-5 relative to the size of what is summed (for one point the value itself, or 1 where that is
 * small: a network's values are of order 1), 1e-4 in norm for gradients, derivatives and Laplacians. No point lies
 * within rounding of a kink of ReLUs. */
#include "fixture.h"
#include "kernels.h"

static const char *const VARIANTS[] = { "avx512", "avx2", "plain" };
static const struct {
    const char *domain;
    bool separable;
    double omega;
} LAYOUTS[] = { { "T2", true, 3.0 },       { "T3", false, 3.0 }, { "S2 x S1", true, 3.0 },
                { "S2 x S1", false, 3.0 }, { "T2", true, 0.0 }, /* ReLUs; in the place of one feature the columns */
                { "S2 x S1", true, 0.0 } };
static const int WIDTH[] = { 1, 3, 130 }, FEATURES[] = { 1, 5, 130 }, POINTS[] = { 0, 1, 17 };
static const char *const TERM[] = { "data", "integral", "Laplacian", "gradient" };
enum { MOST = 17, VARIANT_COUNT = 3 };
#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

typedef struct tally {
    int compared;
    double sum, gradient, value, jet;
} tally;

/* |a - b| relative to |b|, or to floor where b is smaller: what cancels has no digits to compare. */
static double distance(const double *a, const double *b, size_t n, double floor)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(difference) / fmax(sqrt(size), floor);
}

static void compare_terms(const fixture *f, void *self, void *reference, const point_source *points, tally *t)
{
    double *a = doubles(f->parameters), *b = doubles(f->parameters);
    for (int kind = 0; kind < COUNT(TERM); kind++) {
        const double found = fixture_term(f, &BACKEND_CPU, self, (term_kind)kind, points, 0.7, a);
        const double expected = fixture_term(f, &BACKEND_REFERENCE, reference, (term_kind)kind, points, 0.7, b);
        const double sum = fabs(found - expected) / fmax(fabs(expected), 1.0);
        const double gradient = distance(a, b, f->parameters, 1e-3);
        const double sum_bound = kind == TERM_LAPLACIAN || kind == TERM_GRADIENT ? 1e-4 : 1e-5;
        if (!(sum <= sum_bound && gradient <= 1e-4))
            fail_msg("%s, %d features, %d units, %zu points, %s: sum %.2e, gradient %.2e", f->domain->text,
                     f->shape.features, f->shape.width, points->count, TERM[kind], sum, gradient);
        t->sum = fmax(t->sum, sum);
        t->gradient = fmax(t->gradient, gradient);
        t->compared++;
    }
    free(a);
    free(b);
}

static void compare_values(const fixture *f, void *self, void *reference, const double *x, size_t n, tally *t)
{
    const size_t rows = (size_t)f->shape.directions + 2;
    double a[MOST * (DOMAIN_MAX_DIMENSION + 2)] = { 0 }, b[MOST * (DOMAIN_MAX_DIMENSION + 2)] = { 0 };
    assert_int_equal(BACKEND_CPU.evaluate(self, x, n, JET_VALUE, a, NULL), NPMD_OK);
    assert_int_equal(BACKEND_REFERENCE.evaluate(reference, x, n, JET_VALUE, b, NULL), NPMD_OK);
    const double value = distance(a, b, n, 1.0);
    assert_int_equal(BACKEND_CPU.evaluate(self, x, n, JET_ALL, a, NULL), NPMD_OK);
    assert_int_equal(BACKEND_REFERENCE.evaluate(reference, x, n, JET_ALL, b, NULL), NPMD_OK);
    const double jet = distance(a, b, n * rows, 1.0);
    if (!(value <= 1e-5 && jet <= 1e-4))
        fail_msg("%s, %d features, %d units, %zu points: values %.2e, jets %.2e", f->domain->text, f->shape.features,
                 f->shape.width, n, value, jet);
    t->value = fmax(t->value, value);
    t->jet = fmax(t->jet, jet);
    t->compared += 2;
}

static void one_shape(int layout, int width, int features, tally *t)
{
    const bool columns = LAYOUTS[layout].omega == 0.0 && features == 0;
    const field_case c = { .domain = LAYOUTS[layout].domain,
                           .separable = LAYOUTS[layout].separable,
                           .features = columns ? 0 : FEATURES[features],
                           .width = WIDTH[width],
                           .depth = 2 + (width + features) % 3,
                           .skip = (width + features + layout) % 2 == 0,
                           .omega = LAYOUTS[layout].omega,
                           .scale = SCALE_UNIT };
    uint64_t seed = (uint64_t)(100 * layout + 10 * width + features);
    double x[MOST * 4], weight[MOST]; /* S2 x S1 has four columns */
    fixture f;
    fixture_open(&c, seed + 1, &f);
    fixture_points_off_kinks(&f, MOST, 1e-5, &seed, x);
    for (int i = 0; i < MOST; i++)
        weight[i] = test_uniform(&seed) / MOST;
    void *self = fixture_backend(&f, &BACKEND_CPU, 1), *reference = fixture_backend(&f, &BACKEND_REFERENCE, 1);
    for (int v = 0; v < VARIANT_COUNT; v++) {
        const kernels *variant = kernels_select(VARIANTS[v]);
        if (variant == NULL)
            continue;
        cpu_set_kernels(self, variant);
        for (int i = 0; i < COUNT(POINTS); i++) {
            point_source points;
            source_fixed(&points, f.domain, x, weight, (size_t)POINTS[i]);
            compare_terms(&f, self, reference, &points, &t[v]);
            compare_values(&f, self, reference, x, (size_t)POINTS[i], &t[v]);
        }
    }
    BACKEND_CPU.close(self);
    BACKEND_REFERENCE.close(reference);
    fixture_close(&f);
}

static void every_variant_on_odd_shapes(void **state)
{
    (void)state;
    tally t[VARIANT_COUNT] = { { 0 } };
    for (int layout = 0; layout < COUNT(LAYOUTS); layout++)
        for (int width = 0; width < COUNT(WIDTH); width++)
            for (int features = 0; features < COUNT(FEATURES); features++)
                one_shape(layout, width, features, t);
    for (int v = 0; v < VARIANT_COUNT; v++) {
        print_message("    -- %s: %d comparisons\n", VARIANTS[v], t[v].compared);
        assert_int_equal(t[v].compared > 0, kernels_select(VARIANTS[v]) != NULL);
        check_below("sums", t[v].sum, 1e-4);
        check_below("gradients, in norm", t[v].gradient, 1e-4);
        check_below("values", t[v].value, 1e-5);
        check_below("jets", t[v].jet, 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_variant_on_odd_shapes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
