/* fixture.h - a small field on a given domain, with a random encoding and random parameters, for the
 * tests. */
#ifndef NPMD_TEST_FIXTURE_H
#define NPMD_TEST_FIXTURE_H

#include "backend.h"
#include "check.h"

typedef struct field_case {
    const char *domain;
    bool separable;             /* false: plane waves on a torus, rotated products on other domains */
    int features, width, depth; /* features 0: the point's own columns */
    bool skip;
    double omega; /* 0: ReLUs instead of sines */
    feature_scale scale;
} field_case;

typedef struct fixture {
    npmd_domain *domain;
    encoding enc;
    field_shape shape;
    field_plan plan;
    size_t parameters;
    double *theta;
} fixture;

/* A triangulated surface of 258 vertices; tests run from the root of the source tree. */
#define FIXTURE_SURFACE "mesh:tests/fixtures/surface/bumpy.off"

/* Random points in the domain's coordinates, on spheres with |z| <= limit. x (n, columns). */
static inline void fixture_points(const npmd_domain *dom, size_t n, double limit, uint64_t *seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d];
            if (dom->factor[d] == &CIRCLE)
                at[0] = 2.0 * (double)CHECK_PI * test_uniform(seed);
            else if (dom->factor[d] != &SPHERE)
                dom->factor[d]->uniform(dom->factor[d], (const double[]){ test_uniform(seed), test_uniform(seed) }, at);
            else
                do
                    test_unit_vector(seed, at);
                while (fabs(at[2]) > limit);
        }
}

/* Rotated products, drawn by the library with the power law: degrees up to 12 on a single factor, else up to 6. */
static inline void fixture_rotated(const field_case *c, uint64_t seed, fixture *f)
{
    npmd_options opt;
    npmd_error err = { 0 };
    options_init(&opt);
    opt.set.encoding.separable = 0;
    opt.set.encoding.features = c->features;
    opt.set.encoding.scale = (int)c->scale;
    opt.set.seed = seed;
    opt.set.encoding.decay = 0.5 * f->domain->dimension + 1.0;
    for (int d = 0; d < f->domain->factors; d++)
        opt.set.encoding.max_frequency[d] = f->domain->factors == 1 ? 12 : 6;
    if (encoding_draw(f->domain, &opt.set, &f->enc, &err) != NPMD_OK)
        fail_msg("encoding_draw: %s", err.text);
    assert_true(f->enc.blocks > 0);
}

/* Frequencies up to 5 on circles (-4 .. 4 in plane waves), degrees up to 6 on spheres. */
static inline void fixture_encoding(const field_case *c, uint64_t *seed, fixture *f)
{
    npmd_error err = { 0 };
    const int factors = f->domain->factors, vectors = c->separable ? c->features : (c->features + 1) / 2;
    int *function = calloc((size_t)(vectors * factors), sizeof *function);
    assert_non_null(function);
    for (int k = 0; k < vectors; k++)
        for (int d = 0; d < factors; d++) {
            const double u = test_uniform(seed);
            int *at = function + k * factors + d;
            *at = !c->separable                     ? (d == 0 ? 1 + k % 4 : (int)floor(9.0 * u) - 4)
                  : f->domain->factor[d] == &CIRCLE ? (int)(11.0 * u)
                                                    : (int)(49.0 * u);
        }
    if (encoding_make(f->domain, c->separable, c->features, vectors, function, c->scale, &f->enc, &err) != NPMD_OK)
        fail_msg("encoding_make: %s", err.text);
    free(function);
}

static inline void fixture_open(const field_case *c, uint64_t seed, fixture *f)
{
    npmd_error err = { 0 };
    memset(f, 0, sizeof *f);
    if (npmd_domain_parse(c->domain, &f->domain, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    if (c->features == 0)
        assert_int_equal(encoding_columns(f->domain, &f->enc, &err), NPMD_OK);
    else if (c->separable || f->domain->torus)
        fixture_encoding(c, &seed, f);
    else
        fixture_rotated(c, seed, f);
    const bool relu = c->omega == 0.0;
    f->shape = (field_shape){ .features = f->enc.features,
                              .width = c->width,
                              .depth = c->depth,
                              .directions = f->domain->dimension,
                              .skip = c->skip,
                              .activation = relu ? FIELD_RELU : FIELD_SINE,
                              .omega = c->omega,
                              .square = c->features == 0 ? f->enc.square : 0.0 };
    f->plan = (field_plan){ .domain = f->domain, .encoding = &f->enc, .shape = f->shape, .exact = true };
    f->parameters = field_parameters(&f->shape);
    f->theta = doubles(f->parameters);
    field_start(&f->shape, relu, seed, f->theta); /* the other start of ReLUs has no output */
    if (c->skip)                                  /* whatever the start, the skip shall be seen */
        for (int k = 0; k < f->shape.features; k++)
            f->theta[field_skip(&f->shape) + (size_t)k] = 0.3 * test_normal(&seed);
}

static inline void fixture_close(fixture *f)
{
    encoding_free(&f->enc);
    npmd_domain_free(f->domain);
    free(f->theta);
}

/* The least |a| of all ReLUs at x, the distance to the nearest kink; infinite for sines. */
static inline double fixture_kink(const fixture *f, const double *x)
{
    const field_shape *s = &f->shape;
    if (s->activation == FIELD_SINE)
        return INFINITY;
    double *work = doubles(encoding_work(&f->enc)), *h = doubles((size_t)s->features), *a = doubles((size_t)s->width),
           least = INFINITY;
    encoding_jet(&f->enc, x, 1, work, h);
    for (int l = 1; l < s->depth; l++) {
        const double *W = f->theta + field_weights(s, l), *b = f->theta + field_biases(s, l);
        const int inputs = field_inputs(s, l);
        for (int i = 0; i < s->width; i++) {
            a[i] = b[i];
            for (int j = 0; j < inputs; j++)
                a[i] += W[i * inputs + j] * h[j];
            least = fmin(least, fabs(a[i]));
        }
        free(h);
        h = doubles((size_t)s->width);
        for (int i = 0; i < s->width; i++)
            h[i] = fmax(a[i], 0.0);
    }
    free(work), free(h), free(a);
    return least;
}

/* Random points farther than margin from every kink. */
static inline void fixture_points_off_kinks(const fixture *f, size_t n, double margin, uint64_t *seed, double *x)
{
    for (size_t i = 0; i < n; i++, x += f->domain->columns)
        do
            fixture_points(f->domain, 1, 1.0, seed, x);
        while (!(fixture_kink(f, x) > margin));
}

/* An open backend that holds the fixture's theta; the first failure ends the test with its sentence. */
static inline void *fixture_backend(const fixture *f, const backend_ops *ops, int threads)
{
    void *self = NULL;
    npmd_error err = { 0 };
    if (ops->open(&f->plan, 0, threads, &self, &err) != NPMD_OK
        || ops->put(self, VECTOR_THETA, f->theta, &err) != NPMD_OK)
        fail_msg("%s: %s", ops->name, err.text);
    return self;
}

/* One term: its sum, and its gradient (parameters) alone. gradient may be NULL. */
static inline double fixture_term(const fixture *f, const backend_ops *ops, void *self, term_kind kind,
                                  const point_source *points, double factor, double *gradient)
{
    const term_request what = { .kind = kind, .points = points, .factor = factor };
    double *zero = doubles(f->parameters), sum = NAN;
    npmd_error err = { 0 };
    if (ops->put(self, VECTOR_GRADIENT, zero, &err) != NPMD_OK || ops->term(self, &what, &sum, &err) != NPMD_OK
        || (gradient != NULL && ops->get(self, VECTOR_GRADIENT, gradient, &err) != NPMD_OK))
        fail_msg("%s: %s", ops->name, err.text);
    free(zero);
    return sum;
}

#endif
