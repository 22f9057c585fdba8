/* test_adjoint.c - the gradient with respect to the parameters: of every row of the jet, and of every term
 * of the objective.
 *
 * Two independent computations: central differences of the library's own forward pass, parameter by
 * parameter; and dual numbers of the test's own carried through the definition of the jet, which know no
 * step size, so that <J u, v> = <u, J' v> holds to rounding. */
#include "fixture.h"
#include "line.h"

#define MAX_ROWS (DOMAIN_MAX_DIMENSION + 2)
#define MAX_UNITS 32
#define OFF_KINKS 1e-3

static const field_case CASES[] = {
    { "T1", true, 5, 6, 1, false, 2.0, SCALE_UNIT },      { "T1", true, 5, 6, 2, true, 3.0, SCALE_UNIT },
    { "T2", true, 8, 7, 1, true, 2.0, SCALE_UNIT },       { "T2", true, 8, 7, 2, false, 5.0, SCALE_ORTHONORMAL },
    { "T2", true, 8, 7, 3, true, 3.0, SCALE_UNIT },       { "T2", true, 8, 7, 5, false, 3.0, SCALE_UNIT },
    { "T2", true, 8, 7, 5, true, 2.0, SCALE_UNIT },       { "T4", false, 8, 6, 3, true, 2.0, SCALE_NONE },
    { "S2", true, 9, 5, 3, false, 4.0, SCALE_UNIT },      { "S2 x S1", true, 9, 8, 2, true, 3.0, SCALE_UNIT },
    { "S2 x S2", true, 9, 6, 3, true, 2.0, SCALE_UNIT },  { "S2", true, 1, 1, 2, true, 1.0, SCALE_UNIT },
    { "S2 x S1", false, 9, 6, 3, true, 2.0, SCALE_UNIT }, { "T2", true, 0, 7, 1, false, 0.0, SCALE_UNIT },
    { "T2", true, 0, 7, 3, true, 0.0, SCALE_UNIT },       { "S2", true, 0, 7, 2, false, 0.0, SCALE_UNIT },
    { "S2 x S1", true, 0, 8, 4, false, 0.0, SCALE_UNIT }, { "S2 x S1", true, 0, 6, 3, true, 2.0, SCALE_UNIT },
    { "S2 x S2", true, 9, 6, 3, true, 0.0, SCALE_UNIT },
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

typedef struct workspace {
    double *work, *eta, *tape, *gradient, *numeric, *theta;
} workspace;

static workspace workspace_open(const fixture *f)
{
    return (workspace){ .work = doubles(encoding_work(&f->enc)),
                        .eta = doubles(MAX_ROWS * (size_t)f->shape.features),
                        .tape = doubles(field_tape(&f->shape)),
                        .gradient = doubles(f->parameters),
                        .numeric = doubles(f->parameters),
                        .theta = doubles(f->parameters) };
}

static void workspace_close(workspace *w)
{
    free(w->work), free(w->eta), free(w->tape), free(w->gradient), free(w->numeric), free(w->theta);
}

/* Central differences, step h = eps^(1/3) = 6e-6. Truncation, relative: h^2/6 times the square of what one
 * more derivative multiplies by; a parameter acts through omega h and the layers above, at most about
 * omega times the product of their gains, below 100 here: 6e-12 x 1e4 = 6e-8. Rounding: eps |v_r|/h =
 * 4e-11 |v_r| a parameter, against a gradient whose norm exceeds |v_r|/omega^2 |theta|. Together 1e-6; a
 * wrong term is of order 1. A parameter's step moves what goes into a ReLU by less than h x 7 x the gains of the
 * layers between (below 10): 4e-4, and the points are farther from all kinks. */
static void adjoint_against_differences(void **state)
{
    (void)state;
    const double h = cbrt(DBL_EPSILON);
    double worst = 0.0;
    for (size_t c = 0; c < CASE_COUNT; c++) {
        fixture f;
        fixture_open(&CASES[c], 40 + c, &f);
        workspace w = workspace_open(&f);
        const int T = f.shape.directions;
        uint64_t seed = c;
        for (int all = 0; all < 2; all++) {
            const int rows = all ? T + 2 : 1;
            double x[DOMAIN_MAX_COLUMNS], v[MAX_ROWS], ahead[MAX_ROWS], behind[MAX_ROWS];
            double *numeric = doubles((size_t)rows * f.parameters);
            fixture_points_off_kinks(&f, 1, OFF_KINKS, &seed, x);
            encoding_jet(&f.enc, x, rows, w.work, w.eta);
            memcpy(w.theta, f.theta, f.parameters * sizeof *w.theta);
            for (size_t p = 0; p < f.parameters; p++) {
                w.theta[p] = f.theta[p] + h;
                const double up = w.theta[p];
                field_forward(&f.shape, w.theta, w.eta, rows, w.tape, ahead);
                w.theta[p] = f.theta[p] - h;
                const double down = w.theta[p];
                field_forward(&f.shape, w.theta, w.eta, rows, w.tape, behind);
                w.theta[p] = f.theta[p];
                for (int r = 0; r < rows; r++)
                    numeric[(size_t)r * f.parameters + p] = (ahead[r] - behind[r]) / (up - down);
            }
            for (int r = 0; r < rows; r++) {
                double seeded[MAX_ROWS] = { 0 };
                seeded[r] = 1.0;
                memset(w.gradient, 0, f.parameters * sizeof *w.gradient);
                field_forward(&f.shape, f.theta, w.eta, rows, w.tape, v);
                field_adjoint(&f.shape, f.theta, w.eta, rows, w.tape, seeded, w.gradient);
                const double error = relative_norm(w.gradient, numeric + (size_t)r * f.parameters, f.parameters);
                if (!(error <= 1e-6))
                    fail_msg("%s, depth %d, skip %d, %d rows, row %d: relative error %.3e", CASES[c].domain,
                             CASES[c].depth, CASES[c].skip, rows, r, error);
                worst = fmax(worst, error);
            }
            free(numeric);
        }
        workspace_close(&w);
        fixture_close(&f);
    }
    check_below("every row seeded alone, all parameters", worst, 1e-6);
}

/* The jet of v along theta + t u, by dual numbers, from the definition in field.h:
 *     a = W h + b,  a_r = W h_r for the other rows;
 *     h = sin(omega a),  h_t = omega cos(omega a) a_t,
 *     lap h = omega cos(omega a) lap a - omega^2 sin(omega a) sum_t a_t^2;
 * with ReLUs every row of h is that of a, or zero. */
static void own_jet(const fixture *f, const double *eta, const double *u, int rows, line *v)
{
    const field_shape *s = &f->shape;
    line h[MAX_ROWS][MAX_UNITS], a[MAX_ROWS][MAX_UNITS];
    size_t at = 0;
    int inputs = s->features;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < inputs; i++)
            h[r][i] = line_constant(eta[r * inputs + i]);
    for (int layer = 1; layer <= s->depth; layer++) {
        const int outputs = layer == s->depth ? 1 : s->width;
        const size_t bias = at + (size_t)(outputs * inputs);
        for (int r = 0; r < rows; r++)
            for (int o = 0; o < outputs; o++) {
                line sum = line_constant(0.0);
                if (r == 0)
                    sum = line_moving(f->theta[bias + (size_t)o], u[bias + (size_t)o]);
                for (int i = 0; i < inputs; i++) {
                    const size_t p = at + (size_t)(o * inputs + i);
                    sum = line_add(sum, line_times(line_moving(f->theta[p], u[p]), h[r][i]));
                }
                a[r][o] = sum;
            }
        for (int o = 0; o < outputs; o++) {
            const line phase = line_scale(s->omega, a[0][o]);
            const line sine = line_sin(phase), cosine = line_scale(s->omega, line_cos(phase));
            line norm2 = line_constant(0.0);
            if (layer == s->depth || s->activation == FIELD_RELU) {
                const bool on = layer == s->depth || a[0][o].value > 0.0;
                for (int r = 0; r < rows; r++)
                    h[r][o] = on ? a[r][o] : line_constant(0.0);
                continue;
            }
            h[0][o] = sine;
            for (int r = 1; r < rows - 1; r++) {
                h[r][o] = line_times(cosine, a[r][o]);
                norm2 = line_add(norm2, line_times(a[r][o], a[r][o]));
            }
            if (rows > 1)
                h[rows - 1][o] = line_add(line_times(cosine, a[rows - 1][o]),
                                          line_scale(-s->omega * s->omega, line_times(sine, norm2)));
        }
        at = bias + (size_t)outputs;
        inputs = outputs;
    }
    for (int r = 0; r < rows; r++) {
        v[r] = h[r][0];
        if (s->skip)
            for (int k = 0; k < s->features; k++)
                v[r] = line_add(v[r], line_scale(eta[r * s->features + k],
                                                 line_moving(f->theta[at + (size_t)k], u[at + (size_t)k])));
    }
}

/* Both sides are sums of about P products of numbers known to a few hundred eps (K + W terms a layer, 5
 * layers): |<J u, v> - <u, J' v>| <= 1e-12 (|J u| |v| + |u| |J' v|/sqrt P), held to the first part and
 * |u||J'v|. */
static void adjoint_is_the_transpose(void **state)
{
    (void)state;
    double worst = 0.0, worst_value = 0.0;
    for (size_t c = 0; c < CASE_COUNT; c++) {
        fixture f;
        fixture_open(&CASES[c], 80 + c, &f);
        workspace w = workspace_open(&f);
        const int T = f.shape.directions;
        uint64_t seed = c;
        for (int trial = 0; trial < 40; trial++) {
            const int rows = trial % 4 ? T + 2 : 1;
            double x[DOMAIN_MAX_COLUMNS], v[MAX_ROWS], v_bar[MAX_ROWS], *u = w.theta;
            line own[MAX_ROWS];
            fixture_points(f.domain, 1, 1.0, &seed, x);
            encoding_jet(&f.enc, x, rows, w.work, w.eta);
            for (size_t p = 0; p < f.parameters; p++) {
                u[p] = test_normal(&seed);
                w.gradient[p] = w.numeric[p] = test_normal(&seed); /* the adjoint adds to what is there */
            }
            for (int r = 0; r < rows; r++)
                v_bar[r] = test_normal(&seed);
            own_jet(&f, w.eta, u, rows, own);
            field_forward(&f.shape, f.theta, w.eta, rows, w.tape, v);
            field_adjoint(&f.shape, f.theta, w.eta, rows, w.tape, v_bar, w.gradient);
            double left = 0.0, right = 0.0, size_ju = 0.0, size_v = 0.0, size_u = 0.0, size_jv = 0.0;
            for (int r = 0; r < rows; r++) {
                left += own[r].slope * v_bar[r];
                size_ju += own[r].slope * own[r].slope;
                size_v += v_bar[r] * v_bar[r];
            }
            for (size_t p = 0; p < f.parameters; p++) {
                const double g = w.gradient[p] - w.numeric[p];
                right += u[p] * g;
                size_u += u[p] * u[p];
                size_jv += g * g;
            }
            const double size = sqrt(size_ju * size_v) + sqrt(size_u * size_jv);
            worst = fmax(worst, fabs(left - right) / size);
            for (int r = 0; r < rows; r++) /* the rows themselves: relative to the largest */
                worst_value = fmax(worst_value, fabs(own[r].value - v[r]) / (1.0 + fabs(own[r].value)));
        }
        workspace_close(&w);
        fixture_close(&f);
    }
    check_below("<J u, v> = <u, J' v>", worst, 1e-12);
    check_below("rows of the jet, library and own", worst_value, 1e-11);
}

/* ---- Terms of the objective, reference backend ------------------------------------------------------------------- */

static const field_case TERM_CASES[] = {
    { "T2", true, 8, 7, 3, true, 2.0, SCALE_UNIT },
    { "S2 x S1", true, 8, 7, 2, false, 3.0, SCALE_UNIT },
    { "T3", false, 8, 6, 3, true, 2.0, SCALE_UNIT },
    { "S2 x S1", true, 0, 7, 3, false, 0.0, SCALE_UNIT },
};
static const char *const TERM_NAME[] = { "data", "integral", "Laplacian", "gradient" };

/* The bound as above: 1e-6 relative in norm; sums of 12 points. */
static void terms_against_differences(void **state)
{
    (void)state;
    enum { POINTS = 12 };
    const double h = cbrt(DBL_EPSILON);
    for (size_t c = 0; c < sizeof TERM_CASES / sizeof *TERM_CASES; c++) {
        fixture f;
        fixture_open(&TERM_CASES[c], 120 + c, &f);
        void *self = fixture_backend(&f, &BACKEND_REFERENCE, 1);
        uint64_t seed = c;
        double *x = doubles((size_t)(POINTS * f.domain->columns)), weight[POINTS];
        double *gradient = doubles(f.parameters), *numeric = doubles(f.parameters), *theta = doubles(f.parameters);
        fixture_points_off_kinks(&f, POINTS, OFF_KINKS, &seed, x);
        for (int i = 0; i < POINTS; i++)
            weight[i] = test_uniform(&seed) / POINTS;
        point_source points;
        source_fixed(&points, f.domain, x, weight, POINTS);
        memcpy(theta, f.theta, f.parameters * sizeof *theta);
        for (int kind = TERM_DATA; kind <= TERM_GRADIENT; kind++) {
            const double factor = kind % 2 ? 0.37 : -1.9;
            assert_int_equal(BACKEND_REFERENCE.put(self, VECTOR_THETA, f.theta, NULL), NPMD_OK);
            fixture_term(&f, &BACKEND_REFERENCE, self, (term_kind)kind, &points, factor, gradient);
            for (size_t p = 0; p < f.parameters; p++) {
                double sum[2];
                theta[p] = f.theta[p] + h;
                const double up = theta[p];
                assert_int_equal(BACKEND_REFERENCE.put(self, VECTOR_THETA, theta, NULL), NPMD_OK);
                sum[0] = fixture_term(&f, &BACKEND_REFERENCE, self, (term_kind)kind, &points, 1.0, NULL);
                theta[p] = f.theta[p] - h;
                const double down = theta[p];
                assert_int_equal(BACKEND_REFERENCE.put(self, VECTOR_THETA, theta, NULL), NPMD_OK);
                sum[1] = fixture_term(&f, &BACKEND_REFERENCE, self, (term_kind)kind, &points, 1.0, NULL);
                theta[p] = f.theta[p];
                numeric[p] = factor * (sum[0] - sum[1]) / (up - down);
            }
            char what[100];
            snprintf(what, sizeof what, "%s, %s term", TERM_CASES[c].domain, TERM_NAME[kind]);
            check_below(what, relative_norm(gradient, numeric, f.parameters), 1e-6);
        }
        BACKEND_REFERENCE.close(self);
        free(x), free(gradient), free(numeric), free(theta);
        fixture_close(&f);
    }
}

/* Sums are what backend.h says, from the rows of the jet; terms accumulate in the gradient until update.
 * Both sides add the same 12 doubles: 1e-13. */
static void sums_and_accumulation(void **state)
{
    (void)state;
    enum { POINTS = 12 };
    for (size_t c = 0; c < sizeof TERM_CASES / sizeof *TERM_CASES; c++) {
        fixture f;
        fixture_open(&TERM_CASES[c], 160 + c, &f);
        void *self = fixture_backend(&f, &BACKEND_REFERENCE, 1);
        uint64_t seed = c;
        const int T = f.shape.directions;
        double *x = doubles((size_t)(POINTS * f.domain->columns)), weight[POINTS];
        double *jet = doubles((size_t)(POINTS * (T + 2))), *one = doubles(f.parameters), *total = doubles(f.parameters);
        fixture_points(f.domain, POINTS, 1.0, &seed, x);
        for (int i = 0; i < POINTS; i++)
            weight[i] = 0.2 + test_uniform(&seed);
        point_source weighted, plain;
        source_fixed(&weighted, f.domain, x, weight, POINTS);
        source_fixed(&plain, f.domain, x, NULL, POINTS); /* weights 1/POINTS */
        assert_int_equal(BACKEND_REFERENCE.evaluate(self, x, POINTS, JET_ALL, jet, NULL), NPMD_OK);
        double expected[2][4] = { { 0 } };
        for (int i = 0; i < POINTS; i++) {
            const double *row = jet + i * (T + 2);
            double grad2 = 0.0;
            for (int t = 1; t <= T; t++)
                grad2 += row[t] * row[t];
            const double g[4] = { row[0], exp(row[0]), row[T + 1] * row[T + 1], grad2 };
            for (int kind = 0; kind < 4; kind++) {
                expected[0][kind] += weight[i] * g[kind];
                expected[1][kind] += g[kind] / POINTS;
            }
        }
        for (int kind = 0; kind < 4; kind++) {
            const double a = fixture_term(&f, &BACKEND_REFERENCE, self, (term_kind)kind, &weighted, 1.0, one);
            const double b = fixture_term(&f, &BACKEND_REFERENCE, self, (term_kind)kind, &plain, 1.0, NULL);
            check_quiet("weighted sum", fabs(a - expected[0][kind]), 1e-13 * (1.0 + fabs(expected[0][kind])));
            check_quiet("mean", fabs(b - expected[1][kind]), 1e-13 * (1.0 + fabs(expected[1][kind])));
            for (size_t p = 0; p < f.parameters; p++)
                total[p] += (kind + 1.0) * one[p];
        }
        double *zero = doubles(f.parameters), *found = doubles(f.parameters), sum;
        assert_int_equal(BACKEND_REFERENCE.put(self, VECTOR_GRADIENT, zero, NULL), NPMD_OK);
        for (int kind = 0; kind < 4; kind++) {
            const term_request what = { .kind = (term_kind)kind, .points = &weighted, .factor = kind + 1.0 };
            assert_int_equal(BACKEND_REFERENCE.term(self, &what, &sum, NULL), NPMD_OK);
        }
        assert_int_equal(BACKEND_REFERENCE.get(self, VECTOR_GRADIENT, found, NULL), NPMD_OK);
        check_quiet("terms accumulate", relative_norm(found, total, f.parameters), 1e-13);
        BACKEND_REFERENCE.close(self);
        free(x), free(jet), free(one), free(total), free(zero), free(found);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adjoint_against_differences),
        cmocka_unit_test(adjoint_is_the_transpose),
        cmocka_unit_test(terms_against_differences),
        cmocka_unit_test(sums_and_accumulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
