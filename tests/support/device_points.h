/* device_points.h - points and encodings made by a device, compared with source_fill and encoding_jet.
 *
 * A runner makes points and encodings: on the processor, thread by thread, or on a card. The library's own results, in
 * double, are expected:
 *   points     equal bits where only integers, one product or a copy is involved, or, for uniform points of a
 *              surface, quotients and a square root, which everyone rounds alike; elsewhere sines, tangents
 *              and square roots of two libraries, each right to an ulp or two, which a kernel's map stretches by
 *              up to (1 + rho) / (1 - rho) = 9: 2e-14. On surfaces equal faces (none of these points lies within
 *              rounding of an edge of its rectangle), and that bound for the unit vectors on which the kernels
 *              stand; at the distance r from a pole, where the height knows r to eps / r only, 4 eps / r more
 *   weights    equal floats; importance weights to 2e-6, for a product of up to 6 denominators in float
 *   encodings  (factors + 4) 2^-23 of the largest feature in the row, for a product of factors + 1 floats; in
 *              a rotated block twice that, for the sum; and 2^-11 when rounded to 10 bits */
#ifndef NPMD_TEST_DEVICE_POINTS_H
#define NPMD_TEST_DEVICE_POINTS_H

#include "check.h"
#include "device_encode.h"
#include "fixture.h"
#include "surface_factor.h"

typedef struct device_case {
    const char *domain;
    bool separable;          /* false: plane waves on tori, rotated products elsewhere */
    int features, frequency; /* features 0: the point's own columns */
    bool few;                /* few points, since the encoding is large */
    int elements;            /* of surfaces: 1 linear, 2 quadratic; 0: there is none */
} device_case;

static const device_case DEVICE_CASES[] = {
    { "T1", true, 96, 200, false, 0 },
    { "T1", false, 7, 12, false, 0 },
    { "T2", true, 128, 10, false, 0 },
    { "T2", false, 101, 10, false, 0 },
    { "T4", true, 40, 7, false, 0 },
    { "T4", false, 256, 20, false, 0 },
    { "T6", true, 33, 3, false, 0 },
    { "T6", false, 300, 3, false, 0 },
    { "S2", true, 200, 24, false, 0 },
    { "S2", false, 60, 12, false, 0 },
    { "S2 x S2", true, 256, 10, false, 0 },
    { "S2 x S2", false, 64, 6, false, 0 },
    { "S2 x S1", true, 97, 9, false, 0 },
    { "S2 x S1", false, 31, 6, false, 0 },
    { "S2", true, 1, 0, false, 0 },
    { "S2 x S2", true, 30000, 120, true, 0 },
    { FIXTURE_SURFACE, true, 120, 7, false, 1 },
    { FIXTURE_SURFACE, true, 200, 14, false, 2 },
    { FIXTURE_SURFACE, false, 31, 6, false, 1 },
    { FIXTURE_SURFACE "^2", true, 256, 7, false, 1 },
    { FIXTURE_SURFACE "^2", true, 97, 10, false, 2 },
    { FIXTURE_SURFACE "^2", false, 64, 6, false, 2 },
    { FIXTURE_SURFACE " x S1", true, 97, 9, false, 2 },
    { "S1 x " FIXTURE_SURFACE " x S2", true, 64, 5, false, 1 },
    { FIXTURE_SURFACE "^2 x T3", true, 33, 3, false, 1 },
    { FIXTURE_SURFACE, true, 1, 0, false, 1 },
    { "T3", true, 0, 0, false, 0 },
    { "S2", true, 0, 0, false, 0 },
    { "S1 x S2^2", true, 0, 0, false, 0 },
    { "S2^11", true, 0, 0, false, 0 },
};
enum { DEVICE_CASE_COUNT = (int)(sizeof DEVICE_CASES / sizeof *DEVICE_CASES) };

/* Makes points first .. first + count - 1 of the step. All pointers of the source are to host memory, also those that a
 * device writes (centre, embedded). row (s->count) for DATA, else NULL. */
typedef struct device_result {
    float *eta, *weight, *row_weight;
    double *x;
    int32_t *row;
} device_result;
typedef void (*device_runner)(const encoder_plan *plan, const device_source *s, int64_t step, size_t first,
                              size_t count, int jets, const device_result *out);

typedef struct device_setting {
    const device_case *what;
    npmd_domain *domain;
    encoding enc;
    encoder_plan plan;
    int *block_features, *block_functions;
} device_setting;

static inline void *device_room(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    assert_non_null(p);
    return p;
}

static inline void device_encoding(const device_case *c, npmd_domain *dom, encoding *out)
{
    npmd_error err = { 0 };
    npmd_options opt;
    options_init(&opt);
    if (c->features == 0) {
        assert_int_equal(encoding_columns(dom, out, &err), NPMD_OK);
        return;
    }
    if (!c->separable && !dom->torus) {
        opt.set.encoding.separable = 0;
        opt.set.encoding.features = c->features;
        opt.set.seed = 5;
        opt.set.encoding.decay = 0.5 * dom->dimension + 1.0;
        for (int d = 0; d < dom->factors; d++)
            opt.set.encoding.max_frequency[d] = c->frequency;
        if (encoding_draw(dom, &opt.set, out, &err) != NPMD_OK)
            fail_msg("encoding_draw: %s", err.text);
        return;
    }
    const int vectors = c->separable ? c->features : (c->features + 1) / 2, f = c->frequency;
    int *function = device_room((size_t)(vectors * dom->factors), sizeof *function);
    uint64_t seed = 77;
    for (int i = 0; i < vectors * dom->factors; i++) {
        const double u = test_uniform(&seed);
        function[i] = !c->separable
                          ? (int)floor((2 * f + 1) * u) - f
                          : (int)(u * dom->factor[i % dom->factors]->functions(dom->factor[i % dom->factors], f));
    }
    if (encoding_make(dom, c->separable, c->features, vectors, function, SCALE_UNIT, out, &err) != NPMD_OK)
        fail_msg("encoding_make: %s", err.text);
    free(function);
}

static inline void device_setting_open(const device_case *c, device_setting *s)
{
    npmd_error err = { 0 };
    const surface_request finite = { .elements = c->elements > 0 ? c->elements : 1,
                                     .max_frequency = c->frequency > 1 ? c->frequency : 1 };
    *s = (device_setting){ .what = c };
    if (domain_read(c->domain, &finite, &s->domain, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    device_encoding(c, s->domain, &s->enc);
    const npmd_domain *dom = s->domain;
    const encoding *e = &s->enc;
    s->block_features = device_room((size_t)e->blocks, sizeof(int));
    s->block_functions = device_room((size_t)e->blocks, sizeof(int));
    for (int b = 0; b < e->blocks; b++) {
        s->block_features[b] = e->block[b].features;
        s->block_functions[b] = e->block[b].functions;
    }
    s->plan = (encoder_plan){ .factors = dom->factors,
                              .columns = dom->columns,
                              .dimension = dom->dimension,
                              .features = e->features,
                              .ld = (e->features + 31) / 32 * 32,
                              .waves = e->waves,
                              .vectors = e->vectors,
                              .function = e->function,
                              .lambda = e->lambda,
                              .scale = e->scale,
                              .blocks = e->blocks,
                              .block_features = s->block_features,
                              .block_functions = s->block_functions,
                              .rotation = e->rotation };
    for (int d = 0; d < dom->factors; d++) {
        const surface *on = surface_of(dom->factor[d]);
        s->plan.kind[d] = dom->factor[d] == &CIRCLE   ? DEVICE_CIRCLE
                          : dom->factor[d] == &SPHERE ? DEVICE_SPHERE
                                                      : DEVICE_SURFACE;
        if (on != NULL)
            s->plan.surface[d] = (device_surface){ .map = on->map,
                                                   .corners = on->at.corners,
                                                   .node = on->at.node,
                                                   .metric = on->metric[0],
                                                   .nodes = on->at.nodes,
                                                   .functions = on->pairs,
                                                   .phi = on->phi };
        s->plan.column[d] = dom->column[d];
        s->plan.direction[d] = dom->direction[d];
        s->plan.frequency[d] = e->frequency[d];
    }
}

static inline void device_setting_close(device_setting *s)
{
    encoding_free(&s->enc);
    npmd_domain_free(s->domain);
    free(s->block_features);
    free(s->block_functions);
}

typedef struct device_errors {
    double exact_x, x, weight, eta; /* largest errors, in units of their bounds (exact_x: absolute) */
    size_t compared, rows_wrong;
} device_errors;

static inline void note(double *largest, double found)
{
    if (!(found <= *largest)) /* NaN is noted */
        *largest = found;
}

/* Compares points (face, u, v) of a surface by their faces and unit vectors. */
static inline void device_compare_surface(const manifold *m, const double *found, const double *wanted,
                                          device_errors *worst)
{
    double e[2][3];
    note(&worst->exact_x, fabs(found[0] - wanted[0]));
    if (found[0] != wanted[0])
        return;
    m->embed(m, found, e[0]);
    m->embed(m, wanted, e[1]);
    for (int c = 0; c < 3; c++)
        note(&worst->x, fabs(e[0][c] - e[1][c]) / (2e-14 + 4.0 * 0x1p-52 / hypot(e[1][0], e[1][1])));
}

static inline void device_compare(const device_setting *t, device_runner run, const device_source *s,
                                  const point_source *expected, int64_t step, size_t first, size_t count, int jets,
                                  device_errors *worst)
{
    const npmd_domain *dom = t->domain;
    const size_t columns = (size_t)dom->columns, K = (size_t)t->enc.features, ld = (size_t)t->plan.ld,
                 R = jets ? (size_t)dom->dimension + 2 : 1;
    const bool data = s->kind == DEVICE_DATA;
    device_result got = { .eta = device_room(count * R * ld, sizeof(float)),
                          .weight = device_room(count, sizeof(float)),
                          .x = device_room(count * columns, sizeof(double)),
                          .row = data ? device_room(s->count, sizeof(int32_t)) : NULL,
                          .row_weight = device_room(s->count, sizeof(float)) };
    double *x = device_room(count * columns, sizeof(double)), *w = device_room(count, sizeof(double)),
           *eta = device_room(count * R * K, sizeof(double)),
           *work = device_room(encoding_work(&t->enc), sizeof(double)), *size = device_room(R, sizeof(double));
    for (size_t i = 0; i < count * R * ld; i++)
        got.eta[i] = NAN; /* whatever is not written is seen */
    run(&t->plan, s, step, first, count, jets, &got);
    source_fill(expected, first, count, x, w);
    for (size_t i = 0; i < count; i++) {
        encoding_jet(&t->enc, x + i * columns, (int)R, work, eta + i * R * K);
        for (size_t r = 0; r < R; r++)
            for (size_t k = 0; k < K; k++)
                size[r] = fmax(size[r], fabs(eta[(i * R + r) * K + k]));
    }
    /* Derivatives of a constant on a surface are sums of terms that cancel; the processor rounds every product, the
     * card fuses multiply and add. The difference is 2^-52 of the value over the height of a face, which is above 2^-9
     * here; 2^-20 x bound is above that. */
    for (size_t r = 1; r < R; r++)
        size[r] = fmax(size[r], 0x1p-20 * size[0]);
    const bool plain = s->kind == DEVICE_FIXED || data;
    const double bound = (t->plan.round_tf32 ? 0x1p-11 : 0.0)
                         + (t->enc.blocks > 0 ? 2.0 : 1.0) * (dom->factors + 4.0) * 0x1p-23;
    for (size_t i = 0; i < count; i++) {
        for (int d = 0; d < dom->factors; d++) {
            const size_t at = i * columns + (size_t)dom->column[d];
            const bool exact = plain || (s->kind == DEVICE_UNIFORM && dom->factor[d] != &SPHERE);
            if (!exact && t->plan.kind[d] == DEVICE_SURFACE) {
                device_compare_surface(dom->factor[d], got.x + at, x + at, worst);
                continue;
            }
            /* the card fuses the square in sqrt(1 - z^2): near a pole its rounding is divided by that root */
            const double pole = dom->factor[d] == &SPHERE ? 4.0 * 0x1p-52 / hypot(x[at], x[at + 1]) : 0.0;
            for (int c = 0; c < dom->factor[d]->columns; c++)
                note(exact ? &worst->exact_x : &worst->x,
                     fabs(got.x[at + (size_t)c] - x[at + (size_t)c]) / (exact ? 1.0 : 2e-14 + pole));
        }
        note(&worst->weight, s->kind == DEVICE_IMPORTANCE   ? fabs((double)got.weight[i] / w[i] - 1.0) / 2e-6
                             : got.weight[i] == (float)w[i] ? 0.0
                                                            : 2.0);
        for (size_t r = 0; r < R; r++)
            for (size_t k = 0; k < ld; k++) {
                const double found = (double)got.eta[(i * R + r) * ld + k],
                             wanted = k < K ? eta[(i * R + r) * K + k] : 0.0;
                note(&worst->eta, found == wanted ? 0.0 : fabs(found - wanted) / (bound * size[r]));
            }
    }
    for (size_t i = 0; data && i < s->count; i++) {
        const size_t row = source_data_row(expected, i);
        worst->rows_wrong += (size_t)got.row[i] != row
                             || got.row_weight[i]
                                    != (float)(points_weight(expected->points, row) * (1.0 / (double)s->count));
    }
    worst->compared += count;
    free(got.eta), free(got.weight), free(got.x), free(got.row), free(got.row_weight);
    free(x), free(w), free(eta), free(work), free(size);
}

/* Every kind of source at these steps, not from its first point; jets and values, plain and rounded. */
static inline void device_case_check(const device_case *c, device_runner run)
{
    static const int64_t STEPS[] = { 0, 1, 77 };
    static const size_t COUNTS[] = { 0, 1, 17, 257 };
    enum { N = 1000, CENTRES = 40 };
    npmd_error err = { 0 };
    device_setting t;
    npmd_points *pts = NULL;
    proposal p = { 0 };
    device_errors worst = { 0 };
    double *cumulative = NULL;
    uint64_t seed = 9;
    device_setting_open(c, &t);
    const npmd_domain *dom = t.domain;
    assert_int_equal(points_make(dom, N, &pts, &err), NPMD_OK);
    for (size_t i = 0; i < N; i++)
        for (int d = 0; d < dom->factors; d++) {
            const double u[2] = { test_uniform(&seed), test_uniform(&seed) };
            dom->factor[d]->uniform(dom->factor[d], u, pts->x + i * (size_t)dom->columns + dom->column[d]);
        }
    double *weight = device_room(N, sizeof(double)), sum = 0.0;
    for (size_t i = 0; i < N; i++)
        sum += weight[i] = i % 5 == 0 ? 0.0 : test_uniform(&seed);
    for (size_t i = 0; i < N; i++)
        weight[i] *= N / sum;
    assert_int_equal(proposal_open(dom, 0.3, 0.8, CENTRES, &p, &err), NPMD_OK);
    double *centre = device_room((size_t)(CENTRES * dom->columns), sizeof(double)),
           *embedded = device_room((size_t)(CENTRES * domain_embedding(dom)), sizeof(double));
    for (int round = 0; round < (c->few ? 1 : 3 * 4); round++) {
        const int64_t step = STEPS[round % 3];
        const size_t count = c->few ? 3 : COUNTS[round / 3], before = count == 0 ? 0 : 5;
        const bool weighted = round % 2 == 1, quasi = round % 4 < 2;
        const size_t q = before + count; /* points of the term */
        pts->weight = weighted ? weight : NULL;
        if (weighted)
            assert_int_equal(points_cumulative(pts, &cumulative, &err), NPMD_OK);
        for (int kind = DEVICE_FIXED; kind <= DEVICE_IMPORTANCE; kind++)
            for (int jets = 0; jets < 2; jets++) {
                point_source wanted;
                device_source s = { .kind = (device_source_kind)kind,
                                    .count = q,
                                    .seed = { 7, 11 },
                                    .quasi = quasi,
                                    .x = pts->x,
                                    .weight = pts->weight,
                                    .n = N,
                                    .batch = q,
                                    .steps_an_epoch = 3,
                                    .shuffled = 1,
                                    .share = 0.3,
                                    .rho = 0.8,
                                    .centres = CENTRES,
                                    .centre_purpose = RNG_CENTRES,
                                    .cumulative = cumulative,
                                    .cumulative_stride = 256,
                                    .centre = centre,
                                    .embedded = embedded };
                const uint64_t key_seed = (uint64_t)11 << 32 | 7;
                t.plan.round_tf32 = (round + jets) % 2;
                if (kind == DEVICE_FIXED) {
                    source_fixed(&wanted, dom, pts->x, pts->weight, q);
                } else if (kind == DEVICE_DATA) {
                    s.purpose = RNG_BATCH;
                    source_data(&wanted, pts, (size_t)(step % 3) * q, q, true,
                                rng_key_make(key_seed, RNG_BATCH, (uint64_t)(step / 3)));
                } else if (kind == DEVICE_UNIFORM) {
                    s.purpose = RNG_PENALTY_POINTS;
                    source_uniform(&wanted, dom, q, quasi, rng_key_make(key_seed, RNG_PENALTY_POINTS, (uint64_t)step));
                } else {
                    s.purpose = RNG_INTEGRAL_POINTS;
                    proposal_aim(&p, pts, cumulative, rng_key_make(key_seed, RNG_CENTRES, (uint64_t)step));
                    source_importance(&wanted, &p, q, quasi,
                                      rng_key_make(key_seed, RNG_INTEGRAL_POINTS, (uint64_t)step));
                }
                device_compare(&t, run, &s, &wanted, step, before, count, jets, &worst);
            }
        memory_free(cumulative);
        cumulative = NULL;
    }
    char words[160];
    snprintf(words, sizeof words, "%.80s, %s, K = %d: encodings", dom->text,
             c->elements == 2 ? "quadratic"
             : t.enc.columns  ? "columns"
             : c->separable   ? "products"
                              : "not separable",
             t.enc.features);
    check_below(words, worst.eta, 1.0);
    check_quiet("points, equal", worst.exact_x, 0.0);
    check_quiet("points, in units of the bound", worst.x, 1.0);
    check_quiet("weights, in units of the bound", worst.weight, 1.0);
    assert_true(worst.rows_wrong == 0 && worst.compared > 0);
    pts->weight = NULL;
    free(weight), free(centre), free(embedded);
    proposal_close(&p);
    npmd_points_free(pts);
    device_setting_close(&t);
}

#endif
