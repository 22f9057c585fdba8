/* test_backends.c - every operation of every backend against reference.c, over many shapes. A new backend
 * adds its name to the list and no other line.
 *
 * Bounds. A float32 backend rounds with u = 6e-8. A value is a sum over K <= 130 features of
 * size about 1, then W <= 130 units a layer, at most 4 layers; errors of single products are independent, so
 * sums err by u sqrt(K), and a sine layer multiplies by omega |W h| <= 10: about 10 layers^(1/2) u
 * sqrt(130) = 1e-6 to 1e-5 relative to the terms that are summed.
 *   values and sums     1e-5 relative to the size of what is summed: at each point the larger of |g| and the
 *                       mean of |g| over 100 points, for a value, derivative or Laplacian near one of its
 *                       zeros is itself a sum that cancels
 *   gradients           1e-4 in norm: forward and backward pass, each with the same gain
 *   Laplacian rows      1e-4 in norm: two derivatives, lambda up to 100 where terms cancel; sizes as above
 * A misplaced row, weight, sign or omega is of order 1e-1 or more. Everything kept in double (theta,
 * moments, update) is held to 1e-13.
 *
 * What goes into a ReLU is known to 1e-5, as a value is. Where a point lies closer to a kink, a backend may see it on
 * the other side by right, and its derivatives are no errors: such terms and jets are left out, and counted. */
#include "fixture.h"

/* NPMD_TEST_DEVICE=cuda: the card in place of the cpu, with exact products; the cpu's bounds hold for these. */
static const backend_ops *BACKENDS[] = { &BACKEND_CPU };
enum { BACKEND_COUNT = sizeof BACKENDS / sizeof *BACKENDS, DATA = 1000, SOURCES = 8 };

static const char *const DOMAIN[] = {
    "T1", "T3",      "T4",      "S2", "S2 x S1", "S2 x S2", FIXTURE_SURFACE, "S1 x " FIXTURE_SURFACE "^2",
    "S2", "S2 x S1", "S2 x S2", "T3", "S2 x S1"
};
enum { DOMAIN_COUNT = sizeof DOMAIN / sizeof *DOMAIN, WAVES = 2, ROTATED = 8, RELU = 11 }; /* from there on */
static const int WIDTH[] = { 1, 3, 16, 130 }, FEATURES[] = { 1, 5, 64, 130 };
static const char *const SOURCE_NAME[SOURCES] = { "fixed, weighted",   "data",
                                                  "data, shuffled",    "data, weighted and shuffled",
                                                  "uniform, quasi",    "uniform, independent",
                                                  "importance, quasi", "importance, independent" };

/* What the sources of one field refer to. */
typedef struct stage {
    fixture field;
    double *x, weight[DATA];
    npmd_points *plain, *weighted;
    double *cumulative;
    proposal importance;
    double typical[4]; /* mean of |g| over the data, one a term */
    double size[3];    /* root mean square of values, derivatives (all together), Laplacians */
} stage;

/* |g| of the four terms at one jet. */
static void term_sizes(const double *jet, int T, double g[4])
{
    g[TERM_DATA] = fabs(jet[0]);
    g[TERM_INTEGRAL] = exp(jet[0]);
    g[TERM_LAPLACIAN] = jet[T + 1] * jet[T + 1];
    g[TERM_GRADIENT] = 0.0;
    for (int t = 1; t <= T; t++)
        g[TERM_GRADIENT] += jet[t] * jet[t];
}

static field_case stage_case(int domain, int width, int features)
{
    const int turn = domain + width + 2 * features;
    const bool waves = domain == WAVES && features > 0; /* T4: plane waves, an odd number of features among them */
    const bool relu = domain >= RELU && features != 2;  /* of columns: with ReLUs, and with sines */
    return (field_case){ .domain = DOMAIN[domain],
                         .separable = !waves && (domain < ROTATED || domain >= RELU),
                         .features = domain >= RELU && features % 2 == 0 ? 0 : FEATURES[features],
                         .width = WIDTH[width],
                         .depth = 1 + turn % 4,
                         .skip = (features + domain / 2) % 2 == 0,
                         .omega = relu ? 0.0 : 1.0 + turn % 5,
                         .scale = turn % 3 ? SCALE_UNIT : SCALE_ORTHONORMAL };
}

static void stage_open(const field_case *c, uint64_t seed, stage *s)
{
    memset(s, 0, sizeof *s);
    fixture_open(c, seed, &s->field);
    const npmd_domain *dom = s->field.domain;
    s->x = doubles((size_t)(DATA * dom->columns));
    double *rows = doubles((size_t)(DATA * dom->columns)); /* in the user's coordinates */
    fixture_points(dom, DATA, 1.0, &seed, s->x);
    memcpy(rows, s->x, (size_t)(DATA * dom->columns) * sizeof *rows);
    for (int i = 0; i < DATA; i++)
        domain_position(dom, rows + i * dom->columns);
    assert_int_equal(points_from(rows, DATA, dom, &s->plain, NULL), NPMD_OK);
    assert_int_equal(points_from(rows, DATA, dom, &s->weighted, NULL), NPMD_OK);
    free(rows);
    assert_int_equal(memory_new(&s->weighted->weight, DATA, NULL), NPMD_OK);
    double total = 0.0;
    for (int i = 0; i < DATA; i++) {
        s->weight[i] = 0.01 * test_uniform(&seed);
        total += s->weighted->weight[i] = 0.5 + test_uniform(&seed);
    }
    for (int i = 0; i < DATA; i++)
        s->weighted->weight[i] *= DATA / total; /* mean 1, as points.h says */
    s->weighted->total = total;
    assert_int_equal(points_cumulative(s->weighted, &s->cumulative, NULL), NPMD_OK);
    assert_int_equal(proposal_open(dom, 0.3, 0.6, 50, &s->importance, NULL), NPMD_OK);
    proposal_aim(&s->importance, s->weighted, s->cumulative, rng_key_make(seed, RNG_CENTRES, 1));
}

/* Sizes of the field, from the reference at the first hundred data points. */
static void stage_measure(stage *s, void *reference)
{
    enum { SEEN = 100 };
    const int T = s->field.shape.directions;
    double *jet = doubles((size_t)(SEEN * (T + 2))), g[4];
    memset(s->typical, 0, sizeof s->typical);
    memset(s->size, 0, sizeof s->size);
    assert_int_equal(BACKEND_REFERENCE.evaluate(reference, s->x, SEEN, JET_ALL, jet, NULL), NPMD_OK);
    for (int i = 0; i < SEEN; i++) {
        term_sizes(jet + i * (T + 2), T, g);
        for (int k = 0; k < 4; k++)
            s->typical[k] += g[k] / SEEN;
        s->size[0] += g[TERM_DATA] * g[TERM_DATA] / SEEN;
    }
    s->size[0] = sqrt(s->size[0]);
    s->size[1] = sqrt(s->typical[TERM_GRADIENT]);
    s->size[2] = sqrt(s->typical[TERM_LAPLACIAN]);
    free(jet);
}

static void stage_close(stage *s)
{
    proposal_close(&s->importance);
    memory_free(s->cumulative);
    npmd_points_free(s->plain);
    npmd_points_free(s->weighted);
    free(s->x);
    fixture_close(&s->field);
}

static const npmd_points *stage_source(const stage *s, int kind, size_t count, point_source *out)
{
    const rng_key key = rng_key_make(count + 1, RNG_TEST, (uint64_t)kind);
    const size_t first = (DATA - count) / 3; /* a batch that starts somewhere */
    switch (kind) {
    case 0:
        source_fixed(out, s->field.domain, s->x, s->weight, count);
        return s->plain;
    case 1:
        source_data(out, s->plain, first, count, false, key);
        return s->plain;
    case 2:
        source_data(out, s->plain, first, count, true, key);
        return s->plain;
    case 3:
        source_data(out, s->weighted, first, count, true, key);
        return s->weighted;
    case 4:
    case 5:
        source_uniform(out, s->field.domain, count, kind == 4, key);
        return s->plain;
    default:
        source_importance(out, &s->importance, count, kind == 6, key);
        return s->plain;
    }
}

/* The size of a sum: sum_i w_i max(|g(jet at x_i)|, typical |g|), from the reference. */
static double absolute_sum(const stage *s, void *reference, term_kind kind, const point_source *source)
{
    const size_t n = source->count;
    const int T = s->field.shape.directions;
    double *x = doubles(n * (size_t)s->field.domain->columns), *w = doubles(n), *jet = doubles(n * (size_t)(T + 2));
    double sum = 0.0, g[4];
    source_fill(source, 0, n, x, w);
    assert_int_equal(BACKEND_REFERENCE.evaluate(reference, x, n, JET_ALL, jet, NULL), NPMD_OK);
    for (size_t i = 0; i < n; i++) {
        term_sizes(jet + i * (size_t)(T + 2), T, g);
        sum += fabs(w[i]) * fmax(g[kind], s->typical[kind]);
    }
    free(x), free(w), free(jet);
    return sum;
}

/* No point of the source within rounding of a kink? */
static bool off_kinks(const stage *s, const point_source *source)
{
    const size_t columns = (size_t)s->field.domain->columns;
    double *x = doubles(source->count * columns), *w = doubles(source->count), least = INFINITY;
    source_fill(source, 0, source->count, x, w);
    for (size_t i = 0; i < source->count; i++)
        least = fmin(least, fixture_kink(&s->field, x + i * columns));
    free(x), free(w);
    return least > 1e-5;
}

static double worst_sum, worst_gradient, worst_value, worst_slope, worst_laplacian;
static int terms_compared, on_kinks, disagreements;

/* Says what disagrees and goes on: which shapes fail is worth knowing together. The test fails at its end. */
static void disagree(const backend_ops *ops, const field_case *c, size_t count, const char *what, const char *figures)
{
    if (disagreements++ < 20)
        print_error("%s: %s, K %d, W %d, L %d, skip %d, omega %g, %zu points, %s: %s\n", ops->name, c->domain,
                    c->features, c->width, c->depth, c->skip, c->omega, count, what, figures);
}

static void compare_term(const stage *s, const field_case *c, const backend_ops *ops, void *self, void *reference,
                         term_kind kind, int which, size_t count)
{
    const fixture *f = &s->field;
    point_source source;
    const npmd_points *data = stage_source(s, which, count, &source);
    if (!off_kinks(s, &source)) {
        on_kinks++;
        return;
    }
    double *found = doubles(f->parameters), *expected = doubles(f->parameters);
    assert_int_equal(ops->set_points(self, data, NULL), NPMD_OK);
    assert_int_equal(BACKEND_REFERENCE.set_points(reference, data, NULL), NPMD_OK);
    const double factor = kind == TERM_DATA ? -1.0 : 0.7;
    const double a = fixture_term(f, ops, self, kind, &source, factor, found);
    const double b = fixture_term(f, &BACKEND_REFERENCE, reference, kind, &source, factor, expected);
    const double scale = absolute_sum(s, reference, kind, &source);
    const double sum_error = a == b ? 0.0 : fabs(a - b) / scale;
    const double gradient_error = relative_norm(found, expected, f->parameters);
    if (count == 0)
        for (size_t p = 0; p < f->parameters; p++)
            assert_true(found[p] == 0.0 && expected[p] == 0.0);
    if (!(sum_error <= 1e-5) || !(gradient_error <= 1e-4)) {
        char what[64], figures[160];
        snprintf(what, sizeof what, "term %d (%s)", kind, SOURCE_NAME[which]);
        snprintf(figures, sizeof figures, "sum %.9g, expected %.9g (error %.2e), gradient error %.2e", a, b, sum_error,
                 gradient_error);
        disagree(ops, c, count, what, figures);
    }
    worst_sum = fmax(worst_sum, sum_error);
    worst_gradient = fmax(worst_gradient, gradient_error);
    terms_compared++;
    free(found), free(expected);
}

/* |a - b| over the larger of |b| and sqrt(n) times the typical size. */
static double size_error(const double *a, const double *b, size_t m, size_t n, double typical)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < m; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return difference == 0.0 ? 0.0 : sqrt(difference / fmax(size, (double)n * typical * typical));
}

static void compare_evaluate(const stage *s, const field_case *c, const backend_ops *ops, void *self, void *reference,
                             size_t n)
{
    const int T = s->field.shape.directions;
    const size_t rows = (size_t)(T + 2);
    double *a = doubles(n * rows), *b = doubles(n * rows), *one = doubles(n), error[4] = { 0 };
    assert_int_equal(ops->evaluate(self, s->x, n, JET_ALL, a, NULL), NPMD_OK);
    assert_int_equal(BACKEND_REFERENCE.evaluate(reference, s->x, n, JET_ALL, b, NULL), NPMD_OK);
    assert_int_equal(ops->evaluate(self, s->x, n, JET_VALUE, one, NULL), NPMD_OK);
    double *row_a = doubles(n * rows), *row_b = doubles(n * rows);
    for (int part = 0; part < 3; part++) { /* values, derivatives, Laplacians */
        const size_t first = part == 0   ? 0
                             : part == 1 ? 1
                                         : rows - 1,
                     last = part == 0   ? 1
                            : part == 1 ? rows - 1
                                        : rows;
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t r = first; r < last; r++, m++) {
                row_a[m] = a[i * rows + r];
                row_b[m] = b[i * rows + r];
            }
        error[part] = size_error(row_a, row_b, m, n, s->size[part]);
        if (part == 0)
            error[3] = size_error(one, row_b, m, n, s->size[part]);
    }
    point_source all;
    source_fixed(&all, s->field.domain, s->x, NULL, n);
    if (!off_kinks(s, &all))
        error[1] = error[2] = 0.0;
    if (!(error[0] <= 1e-5 && error[1] <= 1e-4 && error[2] <= 1e-4 && error[3] <= 1e-5)) {
        char figures[160];
        snprintf(figures, sizeof figures, "values %.2e and %.2e, derivatives %.2e, Laplacians %.2e", error[0], error[3],
                 error[1], error[2]);
        disagree(ops, c, n, "evaluate", figures);
    }
    worst_value = fmax(worst_value, fmax(error[0], error[3]));
    worst_slope = fmax(worst_slope, error[1]);
    worst_laplacian = fmax(worst_laplacian, error[2]);
    free(a), free(b), free(one), free(row_a), free(row_b);
}

static void terms_and_evaluation(void **state)
{
    (void)state;
    for (int k = 0; k < BACKEND_COUNT; k++) {
        const backend_ops *ops = BACKENDS[k];
        int turn = 0;
        worst_sum = worst_gradient = worst_value = worst_slope = worst_laplacian = 0.0;
        terms_compared = on_kinks = disagreements = 0;
        for (int domain = 0; domain < DOMAIN_COUNT; domain++)
            for (int width = 0; width < 4; width++)
                for (int features = 0; features < 4; features++) {
                    if (domain >= ROTATED && domain < RELU && (width + features) % 2 != 0)
                        continue; /* the layers above a rotation are as ever: half the shapes will do */
                    const field_case c = stage_case(domain, width, features);
                    const int work = c.width * FEATURES[features] + (c.depth - 1) * c.width * c.width;
                    stage s;
                    stage_open(&c, 1000 + (uint64_t)turn, &s);
                    void *self = fixture_backend(&s.field, ops, 1); /* more threads: see threads_change_nothing */
                    void *reference = fixture_backend(&s.field, &BACKEND_REFERENCE, 1);
                    stage_measure(&s, reference);
                    for (int kind = 0; kind < 4; kind++) {
                        compare_term(&s, &c, ops, self, reference, (term_kind)kind, turn++ % SOURCES, 0);
                        compare_term(&s, &c, ops, self, reference, (term_kind)kind, turn++ % SOURCES, 1);
                        compare_term(&s, &c, ops, self, reference, (term_kind)kind, turn++ % SOURCES, 17);
                        /* plain double loops are slow: the large sizes take turns */
                        if (work < 10000 || (work < 40000 && kind == (domain + width) % 4))
                            compare_term(&s, &c, ops, self, reference, (term_kind)kind, (turn + kind) % SOURCES, 257);
                        if (work < 1800 && kind == (domain + features) % 4)
                            compare_term(&s, &c, ops, self, reference, (term_kind)kind, (turn + 3) % SOURCES, 1000);
                    }
                    compare_evaluate(&s, &c, ops, self, reference, 0);
                    compare_evaluate(&s, &c, ops, self, reference, 1);
                    compare_evaluate(&s, &c, ops, self, reference, work < 10000 ? 257 : 17);
                    turn++; /* so that sources and terms do not keep step */
                    ops->close(self);
                    BACKEND_REFERENCE.close(reference);
                    stage_close(&s);
                }
        print_message("    -- %s: %d terms, %d at a kink, %d disagreements\n", ops->name, terms_compared, on_kinks,
                      disagreements);
        assert_true(on_kinks < terms_compared / 20);
        check_below("sums, relative to the absolute terms", worst_sum, 1e-5);
        check_below("gradients, in norm", worst_gradient, 1e-4);
        check_below("values", worst_value, 1e-5);
        check_below("derivatives", worst_slope, 1e-4);
        check_below("Laplacians", worst_laplacian, 1e-4);
        assert_int_equal(disagreements, 0);
    }
}

/* Every depth with every kind of source and term, at one moderate shape. */
static void every_source_with_every_term(void **state)
{
    (void)state;
    disagreements = 0;
    for (int k = 0; k < BACKEND_COUNT; k++)
        for (int domain = 0; domain < DOMAIN_COUNT; domain++) {
            const field_case c = { DOMAIN[domain],
                                   domain != WAVES && (domain < ROTATED || domain >= RELU),
                                   domain < RELU ? 10 : 0,
                                   12,
                                   domain < RELU ? 1 + domain % 4 : 3,
                                   domain % 2 == 0,
                                   domain < RELU ? 3.0 : 0.0,
                                   SCALE_UNIT };
            stage s;
            stage_open(&c, 7000 + (uint64_t)domain, &s);
            void *self = fixture_backend(&s.field, BACKENDS[k], 2);
            void *reference = fixture_backend(&s.field, &BACKEND_REFERENCE, 1);
            stage_measure(&s, reference);
            for (int which = 0; which < SOURCES; which++)
                for (int kind = 0; kind < 4; kind++)
                    compare_term(&s, &c, BACKENDS[k], self, reference, (term_kind)kind, which, 100);
            BACKENDS[k]->close(self);
            BACKEND_REFERENCE.close(reference);
            stage_close(&s);
        }
    assert_int_equal(disagreements, 0);
}

/* put and get return what was put, bit for bit; update agrees with the definition of Adam and of gradient
 * descent, and leaves the gradient zero. */
static void vectors_and_updates(void **state)
{
    (void)state;
    const field_case c = { "S2 x S1", true, 20, 17, 3, true, 4.0, SCALE_UNIT };
    fixture f;
    fixture_open(&c, 5, &f);
    const size_t P = f.parameters;
    double *theta = doubles(P), *g = doubles(P), *m = doubles(P), *v = doubles(P), *got = doubles(P);
    for (int k = -1; k < BACKEND_COUNT; k++) {
        const backend_ops *ops = k < 0 ? &BACKEND_REFERENCE : BACKENDS[k];
        void *self = fixture_backend(&f, ops, 3);
        uint64_t seed = 11;
        memcpy(theta, f.theta, P * sizeof *theta);
        for (size_t p = 0; p < P; p++) {
            m[p] = test_normal(&seed);
            v[p] = test_uniform(&seed);
        }
        assert_int_equal(ops->put(self, VECTOR_MOMENT1, m, NULL), NPMD_OK);
        assert_int_equal(ops->put(self, VECTOR_MOMENT2, v, NULL), NPMD_OK);
        assert_int_equal(ops->get(self, VECTOR_THETA, got, NULL), NPMD_OK);
        assert_memory_equal(got, theta, P * sizeof *got);
        assert_int_equal(ops->get(self, VECTOR_MOMENT1, got, NULL), NPMD_OK);
        assert_memory_equal(got, m, P * sizeof *got);
        assert_int_equal(ops->get(self, VECTOR_MOMENT2, got, NULL), NPMD_OK);
        assert_memory_equal(got, v, P * sizeof *got);
        double product1 = 1.0, product2 = 1.0;
        for (int step = 0; step < 6; step++) {
            const bool adam = step < 4, shortened = step % 2 == 1;
            double norm = 0.0, told = NAN;
            for (size_t p = 0; p < P; p++) {
                g[p] = test_normal(&seed);
                norm += g[p] * g[p];
            }
            norm = sqrt(norm);
            product1 *= 0.9, product2 *= 0.99;
            const optimiser_step how = { .kind = adam ? OPTIMISER_ADAM : OPTIMISER_SGD,
                                         .rate = 0.01,
                                         .beta1 = 0.9,
                                         .beta2 = 0.99,
                                         .epsilon = 1e-8,
                                         .correction1 = 1.0 - product1,
                                         .correction2 = 1.0 - product2,
                                         .max_norm = shortened ? norm / 3.0 : INFINITY };
            assert_int_equal(ops->put(self, VECTOR_GRADIENT, g, NULL), NPMD_OK);
            assert_int_equal(ops->get(self, VECTOR_GRADIENT, got, NULL), NPMD_OK);
            assert_memory_equal(got, g, P * sizeof *got);
            assert_int_equal(ops->update(self, &how, &told, NULL), NPMD_OK);
            check_quiet("norm of the gradient", fabs(told / norm - 1.0), 1e-13);
            for (size_t p = 0; p < P; p++) {
                const double h = shortened ? g[p] / 3.0 : g[p];
                if (adam) {
                    m[p] = 0.9 * m[p] + 0.1 * h;
                    v[p] = 0.99 * v[p] + 0.01 * h * h;
                    theta[p] -= 0.01 * (m[p] / how.correction1) / (sqrt(v[p] / how.correction2) + 1e-8);
                } else {
                    theta[p] -= 0.01 * h;
                }
            }
            assert_int_equal(ops->get(self, VECTOR_THETA, got, NULL), NPMD_OK);
            check_quiet("theta after update", relative_norm(got, theta, P), 1e-13);
            assert_int_equal(ops->get(self, VECTOR_GRADIENT, got, NULL), NPMD_OK);
            for (size_t p = 0; p < P; p++)
                assert_true(got[p] == 0.0);
        }
        ops->close(self);
    }
    free(theta), free(g), free(m), free(v), free(got);
    fixture_close(&f);
}

/* After an update the next term sees the new theta: no stale float copies. */
static void terms_follow_updates(void **state)
{
    (void)state;
    const field_case c = { "T3", true, 30, 16, 3, true, 4.0, SCALE_UNIT };
    stage s;
    disagreements = 0;
    stage_open(&c, 6, &s);
    for (int k = 0; k < BACKEND_COUNT; k++) {
        void *self = fixture_backend(&s.field, BACKENDS[k], 2),
             *reference = fixture_backend(&s.field, &BACKEND_REFERENCE, 1);
        const size_t P = s.field.parameters;
        double *g = doubles(P), norm;
        uint64_t seed = 3;
        stage_measure(&s, reference);
        for (int step = 0; step < 3; step++) {
            const optimiser_step descent = { .kind = OPTIMISER_SGD, .rate = 0.01, .max_norm = INFINITY };
            for (size_t p = 0; p < P; p++)
                g[p] = test_normal(&seed);
            assert_int_equal(BACKENDS[k]->put(self, VECTOR_GRADIENT, g, NULL), NPMD_OK);
            assert_int_equal(BACKENDS[k]->update(self, &descent, &norm, NULL), NPMD_OK);
            assert_int_equal(BACKEND_REFERENCE.put(reference, VECTOR_GRADIENT, g, NULL), NPMD_OK);
            assert_int_equal(BACKEND_REFERENCE.update(reference, &descent, &norm, NULL), NPMD_OK);
            compare_evaluate(&s, &c, BACKENDS[k], self, reference, 17);
            for (int kind = 0; kind < 4; kind++)
                compare_term(&s, &c, BACKENDS[k], self, reference, (term_kind)kind, (step + kind) % SOURCES, 50);
        }
        BACKENDS[k]->close(self);
        BACKEND_REFERENCE.close(reference);
        free(g);
    }
    stage_close(&s);
    assert_int_equal(disagreements, 0);
}

/* The same bytes for 1, 2, 3 and 7 threads: sums, gradients over all sources and terms, evaluation, and a
 * few steps. */
static void threads_change_nothing(void **state)
{
    (void)state;
    static const int THREADS[] = { 1, 2, 3, 7 };
    static const size_t COUNT[] = { 1, 17, 257, 1000 };
    for (int k = 0; k < BACKEND_COUNT; k++)
        for (int domain = 0; domain < DOMAIN_COUNT; domain++) {
            const backend_ops *ops = BACKENDS[k];
            const field_case c = { DOMAIN[domain],
                                   domain != WAVES && (domain < ROTATED || domain >= RELU),
                                   domain < RELU ? 64 : 0,
                                   16 + 7 * domain,
                                   2 + domain % 3,
                                   domain % 2 == 0,
                                   domain < RELU ? 5.0 : 0.0,
                                   SCALE_UNIT };
            stage s;
            stage_open(&c, 9000 + (uint64_t)domain, &s);
            const size_t P = s.field.parameters, rows = (size_t)s.field.shape.directions + 2;
            double *first = doubles(P), *other = doubles(P), *jet = doubles(DATA * rows),
                   *jet_other = doubles(DATA * rows);
            void *self[4];
            for (int t = 0; t < 4; t++)
                self[t] = fixture_backend(&s.field, ops, THREADS[t]);
            for (int which = 0; which < SOURCES; which++)
                for (int kind = 0; kind < 4; kind++) {
                    point_source source;
                    const npmd_points *data = stage_source(&s, which, COUNT[(which + kind) % 4], &source);
                    double sum = 0.0;
                    for (int t = 0; t < 4; t++) {
                        assert_int_equal(ops->set_points(self[t], data, NULL), NPMD_OK);
                        const double found = fixture_term(&s.field, ops, self[t], (term_kind)kind, &source, 0.7,
                                                          t == 0 ? first : other);
                        if (t == 0)
                            sum = found;
                        assert_memory_equal(&found, &sum, sizeof sum);
                        if (t > 0)
                            assert_memory_equal(other, first, P * sizeof *first);
                    }
                }
            for (int t = 0; t < 4; t++) {
                assert_int_equal(ops->evaluate(self[t], s.x, 333, JET_ALL, t == 0 ? jet : jet_other, NULL), NPMD_OK);
                if (t > 0)
                    assert_memory_equal(jet, jet_other, 333 * rows * sizeof *jet);
            }
            for (int step = 1; step <= 5; step++) /* a little training */
                for (int t = 0; t < 4; t++) {
                    point_source data, integral, penalty;
                    const npmd_points *points = stage_source(&s, 3, 300, &data);
                    stage_source(&s, 6, 257, &integral);
                    stage_source(&s, 4, 100, &penalty);
                    assert_int_equal(ops->set_points(self[t], points, NULL), NPMD_OK);
                    const term_request terms[] = { { TERM_DATA, &data, -1.0 },
                                                   { TERM_INTEGRAL, &integral, 1.0 },
                                                   { TERM_LAPLACIAN, &penalty, 1e-4 } };
                    double sum, norm;
                    for (int i = 0; i < 3; i++)
                        assert_int_equal(ops->term(self[t], &terms[i], &sum, NULL), NPMD_OK);
                    const optimiser_step adam = { .kind = OPTIMISER_ADAM,
                                                  .rate = 1e-3,
                                                  .beta1 = 0.9,
                                                  .beta2 = 0.999,
                                                  .epsilon = 1e-8,
                                                  .correction1 = 1.0 - pow(0.9, step),
                                                  .correction2 = 1.0 - pow(0.999, step),
                                                  .max_norm = 100.0 };
                    assert_int_equal(ops->update(self[t], &adam, &norm, NULL), NPMD_OK);
                    assert_int_equal(ops->get(self[t], VECTOR_THETA, t == 0 ? first : other, NULL), NPMD_OK);
                    if (t > 0)
                        assert_memory_equal(other, first, P * sizeof *first);
                }
            for (int t = 0; t < 4; t++)
                ops->close(self[t]);
            free(first), free(other), free(jet), free(jet_other);
            stage_close(&s);
        }
}

static void no_such_device(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest nothing[] = { cmocka_unit_test(no_such_device) };
    const char *device = getenv("NPMD_TEST_DEVICE");
    npmd_error err = { 0 };
    if (device != NULL && backend_find(device, &BACKENDS[0], &err) != NPMD_OK) {
        print_message("%s\n", err.text);
        return cmocka_run_group_tests(nothing, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_and_evaluation),   cmocka_unit_test(every_source_with_every_term),
        cmocka_unit_test(vectors_and_updates),    cmocka_unit_test(terms_follow_updates),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
