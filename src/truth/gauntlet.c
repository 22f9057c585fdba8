/* gauntlet.c - named truths of many families, sizes and domains, each made from a name and a seed: means, weights,
 * widths and directions are drawn, so that no estimator can be fitted to the list itself.
 *
 * A row says what the truth is made of; a maker draws it, as the components of a mixture of shapes. Weights within a
 * truth differ by a factor of three at most; what `floor` leaves belongs to the uniform density. */
#include "truth_shapes.h"

#include <stdio.h>

typedef struct maker maker;
typedef struct gauntlet_row {
    const char *name, *family, *domain; /* "mesh": that of truth_mesh.c */
    size_t n;                           /* points that go with it */
    void (*make)(maker *g);
    int least, most;     /* components */
    double narrow, wide; /* widths, radians; on a mesh in its units */
    double floor;        /* weight of the uniform density */
    int free;            /* independent: factors that are uniform */
} gauntlet_row;

struct maker {
    const gauntlet_row *row;
    const npmd_domain *domain;
    uint64_t seed, stream;
    uint64_t drawn; /* numbers so far */
    json_t *components;
    npmd_status st;
    npmd_error *err;
};

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static double uniform(maker *g)
{
    return rng_uniform(rng_key_make(g->seed, RNG_TRUTH, g->stream), g->drawn++, 0);
}

static double between(maker *g, double low, double high) /* log-uniform */
{
    return low * pow(high / low, uniform(g));
}

static int whole(maker *g, int low, int high)
{
    return low + (int)floor(uniform(g) * (high - low + 1));
}

static double width(maker *g)
{
    return between(g, g->row->narrow, g->row->wide);
}

static double concentration(double width)
{
    return 1.0 / (width * width);
}

static void point(maker *g, const npmd_domain *dom, double *x)
{
    double u[DOMAIN_MAX_DIMENSION];
    for (int i = 0; i < dom->dimension; i++)
        u[i] = uniform(g);
    domain_uniform_point(dom, u, x);
}

static void direction(maker *g, double *x)
{
    const double u[2] = { uniform(g), uniform(g) };
    SPHERE.uniform(&SPHERE, u, x);
}

/* Factors of this kind, in a random order: how many. */
static int factors_of(maker *g, const manifold *kind, int *factor)
{
    int count = 0;
    for (int d = 0; d < g->domain->factors; d++)
        if (g->domain->factor[d] == kind)
            factor[count++] = d;
    for (int i = count - 1; i > 0; i--) {
        const int j = whole(g, 0, i), other = factor[i];
        factor[i] = factor[j];
        factor[j] = other;
    }
    return count;
}

/* ---- Components -------------------------------------------------------------------------------------------------- */

static void put(maker *g, json_t *object, const char *key, json_t *value)
{
    if (g->st == NPMD_OK)
        g->st = json_put(object, key, value, g->err);
    else
        json_decref(value);
}

static void put_number(maker *g, json_t *object, const char *key, double value)
{
    put(g, object, key, json_real(value));
}

static void put_numbers(maker *g, json_t *object, const char *key, const double *value, int count)
{
    put(g, object, key, truth_numbers_json(value, (size_t[]){ (size_t)count }, 1));
}

static json_t *begin(maker *g, double weight, const char *shape)
{
    json_t *object = json_object();
    put_number(g, object, "weight", weight);
    put(g, object, "shape", json_string(shape));
    return object;
}

static void end(maker *g, json_t *object)
{
    if (g->st == NPMD_OK)
        g->st = json_append(g->components, object, g->err);
    else
        json_decref(object);
}

static void kernel(maker *g, double weight, const double *mean, const double *kappa)
{
    json_t *object = begin(g, weight, "kernel");
    put_numbers(g, object, "mean", mean, g->domain->columns);
    put_numbers(g, object, "kappa", kappa, g->domain->factors);
    end(g, object);
}

enum { COMPONENTS_MOST = 64 };

/* How many, and their weights: 1 - floor in all; what remains becomes the uniform component. */
static int weights(maker *g, double *weight)
{
    const int count = whole(g, g->row->least, g->row->most);
    double sum = 0.0;
    assert(count <= COMPONENTS_MOST);
    for (int c = 0; c < count; c++)
        sum += weight[c] = 0.5 + uniform(g);
    for (int c = 0; c < count; c++)
        weight[c] *= (1.0 - g->row->floor) / sum;
    if (g->row->floor > 0.0)
        end(g, begin(g, g->row->floor, "uniform"));
    return count;
}

/* ---- Makers ------------------------------------------------------------------------------------------------------ */

static void make_uniform(maker *g)
{
    end(g, begin(g, 1.0, "uniform"));
}

/* Each factor of each component has a width of its own. */
static void make_kernels(maker *g)
{
    double weight[COMPONENTS_MOST], mean[DOMAIN_MAX_COLUMNS], kappa[NPMD_MAX_FACTORS];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        point(g, g->domain, mean);
        for (int d = 0; d < g->domain->factors; d++)
            kappa[d] = concentration(width(g));
        kernel(g, weight[c], mean, kappa);
    }
}

static void normal(maker *g, double weight, const double *covariance)
{
    const int D = g->domain->dimension;
    double mean[DOMAIN_MAX_COLUMNS];
    json_t *object = begin(g, weight, "normal");
    point(g, g->domain, mean);
    put_numbers(g, object, "mean", mean, D);
    put(g, object, "covariance", truth_numbers_json(covariance, (size_t[]){ (size_t)D, (size_t)D }, 2));
    end(g, object);
}

/* Covariances Q diag(width^2) Q', Q uniform over the orthogonal matrices. */
static void make_normals(maker *g)
{
    const int D = g->domain->dimension;
    double weight[COMPONENTS_MOST], q[NPMD_MAX_FACTORS * NPMD_MAX_FACTORS], C[NPMD_MAX_FACTORS * NPMD_MAX_FACTORS],
        variance[NPMD_MAX_FACTORS];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        recipe_orthogonal(D, rng_key_make(g->seed, RNG_TRUTH, g->stream + 1 + (uint64_t)c), q);
        for (int k = 0; k < D; k++)
            variance[k] = 1.0 / concentration(width(g));
        for (int i = 0; i < D; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int k = 0; k < D; k++)
                    sum += q[i * D + k] * variance[k] * q[j * D + k];
                C[i * D + j] = C[j * D + i] = sum;
            }
        normal(g, weight[c], C);
    }
}

/* All pairs of angles with a correlation of 0.95 to 0.99, of either sign. */
static void make_correlated(maker *g)
{
    const int D = g->domain->dimension;
    double weight[COMPONENTS_MOST], sign[NPMD_MAX_FACTORS], C[NPMD_MAX_FACTORS * NPMD_MAX_FACTORS];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        const double variance = 1.0 / concentration(width(g)), correlation = 1.0 - between(g, 0.01, 0.05);
        for (int i = 0; i < D; i++)
            sign[i] = uniform(g) < 0.5 ? -1.0 : 1.0;
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                C[i * D + j] = i == j ? variance : sign[i] * sign[j] * correlation * variance;
        normal(g, weight[c], C);
    }
}

static void ridge(maker *g, double weight, int slope)
{
    int circle[NPMD_MAX_FACTORS];
    json_t *object = begin(g, weight, "ridge");
    (void)factors_of(g, &CIRCLE, circle);
    put_number(g, object, "along", circle[0] + 1);
    put_number(g, object, "across", circle[1] + 1);
    put_number(g, object, "mean", TWO_PI * uniform(g));
    put_number(g, object, "kappa_along", slope != 0 ? 0.0 : uniform(g));
    put_number(g, object, "offset", TWO_PI * uniform(g));
    put_number(g, object, "amplitude", slope != 0 ? 0.3 * uniform(g) : between(g, 0.6, 1.6));
    put_number(g, object, "frequency", whole(g, 1, 3));
    put_number(g, object, "slope", slope);
    put_number(g, object, "kappa", concentration(width(g)));
    end(g, object);
}

static void make_ridges(maker *g)
{
    double weight[COMPONENTS_MOST];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++)
        ridge(g, weight[c], 0);
}

/* A ridge that winds about the torus: both angles are uniform by themselves. */
static void make_winding(maker *g)
{
    double weight[COMPONENTS_MOST];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        const int slope = whole(g, 1, 2);
        ridge(g, weight[c], uniform(g) < 0.5 ? -slope : slope);
    }
}

static void make_rings(maker *g)
{
    double weight[COMPONENTS_MOST], axis[3];
    int sphere[NPMD_MAX_FACTORS];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        json_t *object = begin(g, weight[c], "ring");
        (void)factors_of(g, &SPHERE, sphere);
        direction(g, axis);
        put_number(g, object, "factor", sphere[0] + 1);
        put_numbers(g, object, "axis", axis, 3);
        put_number(g, object, "height", 1.6 * uniform(g) - 0.8);
        put_number(g, object, "width", width(g));
        end(g, object);
    }
}

static void make_boxes(maker *g)
{
    double weight[COMPONENTS_MOST], factor[NPMD_MAX_FACTORS], lower[NPMD_MAX_FACTORS], upper[NPMD_MAX_FACTORS];
    int circle[NPMD_MAX_FACTORS];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        json_t *object = begin(g, weight[c], "box");
        const int circles = factors_of(g, &CIRCLE, circle);
        for (int i = 0; i < circles; i++) {
            factor[i] = circle[i] + 1;
            lower[i] = TWO_PI * uniform(g);
            upper[i] = lower[i] + width(g);
        }
        put_numbers(g, object, "factors", factor, circles);
        put_numbers(g, object, "lower", lower, circles);
        put_numbers(g, object, "upper", upper, circles);
        end(g, object);
    }
}

/* Every factor has a mixture of kernels of its own, `free` of them a uniform density; their product, expanded. */
static void make_independent(maker *g)
{
    enum { KERNELS_MOST = 4 };
    const npmd_domain *dom = g->domain;
    double weight[NPMD_MAX_FACTORS][KERNELS_MOST], kappa[NPMD_MAX_FACTORS][KERNELS_MOST];
    double mean[KERNELS_MOST][DOMAIN_MAX_COLUMNS], x[DOMAIN_MAX_COLUMNS], k[NPMD_MAX_FACTORS];
    int count[NPMD_MAX_FACTORS], at[NPMD_MAX_FACTORS] = { 0 }, factors = dom->factors;
    const int free = whole(g, 0, factors - 1); /* the first of those that are uniform */
    for (int c = 0; c < KERNELS_MOST; c++)
        point(g, dom, mean[c]);
    for (int d = 0; d < factors; d++) {
        const bool flat = (d - free + factors) % factors < g->row->free;
        double sum = 0.0;
        count[d] = flat ? 1 : whole(g, g->row->least, g->row->most);
        for (int c = 0; c < count[d]; c++) {
            sum += weight[d][c] = 0.5 + uniform(g);
            kappa[d][c] = flat ? 0.0 : concentration(width(g));
        }
        for (int c = 0; c < count[d]; c++)
            weight[d][c] /= sum;
    }
    for (int d = 0; d < factors;) {
        double product = 1.0;
        for (int e = 0; e < factors; e++) {
            product *= weight[e][at[e]];
            k[e] = kappa[e][at[e]];
            memcpy(x + dom->column[e], mean[at[e]] + dom->column[e], (size_t)dom->factor[e]->columns * sizeof *x);
        }
        kernel(g, product, x, k);
        for (d = 0; d < factors && ++at[d] == count[d]; d++) /* the next combination */
            at[d] = 0;
    }
}

static void make_bumps(maker *g)
{
    double weight[COMPONENTS_MOST], centre[DOMAIN_MAX_COLUMNS];
    const int count = weights(g, weight);
    for (int c = 0; c < count; c++) {
        json_t *object = begin(g, weight[c], "bump");
        point(g, g->domain, centre);
        domain_position(g->domain, centre);
        put_numbers(g, object, "centre", centre, 3);
        put_number(g, object, "width", width(g));
        end(g, object);
    }
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gauntlet_row ROWS[] = {
    { "few-t1",            "few",         "T1",      200,    make_normals,     3,  5,  0.1,  0.5, 0,   0 },
    { "mixed-t1",          "mixed",       "T1",      1000,   make_kernels,     6,  9,  0.03, 0.8, 0,   0 },
    { "spikes-t1",         "spikes",      "T1",      500,    make_kernels,     2,  4,  0.02, 0.06, 0.5, 0 },
    { "jump-t1",           "jump",        "T1",      1000,   make_boxes,       1,  2,  0.8,  2.5, 0.3, 0 },

    { "few-t2",            "few",         "T2",      500,    make_normals,     3,  5,  0.15, 0.6, 0,   0 },
    { "many-t2",           "many",        "T2",      10000,  make_normals,     12, 20, 0.1,  0.4, 0,   0 },
    { "narrow-t2",         "narrow",      "T2",      5000,   make_kernels,     5,  7,  0.08, 0.15, 0,  0 },
    { "wide-t2",           "wide",        "T2",      1000,   make_normals,     3,  5,  0.8,  1.3, 0,   0 },
    { "mixed-t2",          "mixed",       "T2",      20000,  make_kernels,     8,  12, 0.05, 1.0, 0,   0 },
    { "ridge-wide-t2",     "ridge",       "T2",      1000,   make_ridges,      1,  2,  0.3,  0.6, 0.1, 0 },
    { "ridge-narrow-t2",   "ridge",       "T2",      10000,  make_ridges,      1,  2,  0.05, 0.1, 0.1, 0 },
    { "ridge-few-t2",      "ridge",       "T2",      200,    make_ridges,      1,  1,  0.1,  0.3, 0.05, 0 },
    { "spikes-t2",         "spikes",      "T2",      5000,   make_kernels,     3,  6,  0.02, 0.06, 0.6, 0 },
    { "jump-t2",           "jump",        "T2",      5000,   make_boxes,       1,  2,  1.5,  3.5, 0.3, 0 },
    { "flat-t2",           "flat",        "T2",      1000,   make_normals,     3,  5,  0.4,  1.0, 0.9, 0 },
    { "uniform-t2",        "uniform",     "T2",      500,    make_uniform,     0,  0,  0,    0,   0,   0 },
    { "correlated-t2",     "correlated",  "T2",      500,    make_correlated,  1,  2,  0.6,  1.0, 0,   0 },
    { "winding-t2",        "correlated",  "T2",      5000,   make_winding,     1,  1,  0.15, 0.4, 0.1, 0 },
    { "independent-t2",    "independent", "T2",      1000,   make_independent, 2,  3,  0.15, 0.6, 0,   0 },
    { "one-free-t2",       "independent", "T2",      200,    make_independent, 2,  3,  0.2,  0.6, 0,   1 },

    { "few-t3",            "few",         "T3",      1000,   make_normals,     3,  5,  0.25, 0.7, 0,   0 },
    { "many-t3",           "many",        "T3",      20000,  make_kernels,     12, 20, 0.2,  0.5, 0,   0 },
    { "ridge-t3",          "ridge",       "T3",      5000,   make_ridges,      2,  3,  0.1,  0.4, 0.1, 0 },
    { "jump-t3",           "jump",        "T3",      10000,  make_boxes,       1,  1,  2.0,  4.0, 0.3, 0 },
    { "independent-t3",    "independent", "T3",      10000,  make_independent, 2,  3,  0.15, 0.6, 0,   0 },

    { "few-t4",            "few",         "T4",      5000,   make_normals,     3,  5,  0.3,  0.8, 0,   0 },
    { "many-t4",           "many",        "T4",      100000, make_kernels,     12, 20, 0.3,  0.7, 0,   0 },
    { "correlated-t4",     "correlated",  "T4",      5000,   make_correlated,  1,  2,  0.6,  1.0, 0,   0 },
    { "independent-t4",    "independent", "T4",      20000,  make_independent, 2,  3,  0.3,  0.8, 0,   1 },
    { "uniform-t4",        "uniform",     "T4",      1000,   make_uniform,     0,  0,  0,    0,   0,   0 },

    { "few-t6",            "few",         "T6",      10000,  make_kernels,     3,  5,  0.4,  0.9, 0,   0 },
    { "flat-t6",           "flat",        "T6",      5000,   make_kernels,     3,  5,  0.5,  1.0, 0.9, 0 },
    { "independent-t6",    "independent", "T6",      20000,  make_independent, 2,  2,  0.3,  0.8, 0,   3 },

    { "few-s2",            "few",         "S2",      200,    make_kernels,     3,  5,  0.15, 0.6, 0,   0 },
    { "many-s2",           "many",        "S2",      10000,  make_kernels,     12, 20, 0.1,  0.3, 0,   0 },
    { "mixed-s2",          "mixed",       "S2",      1000,   make_kernels,     5,  8,  0.06, 0.8, 0,   0 },
    { "ring-wide-s2",      "ring",        "S2",      500,    make_rings,       1,  2,  0.15, 0.3, 0.1, 0 },
    { "ring-narrow-s2",    "ring",        "S2",      5000,   make_rings,       1,  2,  0.03, 0.08, 0.1, 0 },
    { "spikes-s2",         "spikes",      "S2",      5000,   make_kernels,     3,  6,  0.03, 0.06, 0.6, 0 },
    { "flat-s2",           "flat",        "S2",      1000,   make_kernels,     3,  5,  0.4,  1.0, 0.9, 0 },
    { "uniform-s2",        "uniform",     "S2",      200,    make_uniform,     0,  0,  0,    0,   0,   0 },

    { "few-s2s1",          "few",         "S2 x S1", 1000,   make_kernels,     3,  5,  0.25, 0.7, 0,   0 },
    { "ring-s2s1",         "ring",        "S2 x S1", 5000,   make_rings,       1,  2,  0.08, 0.2, 0.1, 0 },
    { "mixed-s2s1",        "mixed",       "S2 x S1", 20000,  make_kernels,     8,  12, 0.1,  0.9, 0,   0 },
    { "independent-s2s1",  "independent", "S2 x S1", 5000,   make_independent, 2,  3,  0.2,  0.6, 0,   0 },

    { "few-s2s2",          "few",         "S2 x S2", 5000,   make_kernels,     3,  5,  0.25, 0.7, 0,   0 },
    { "many-s2s2",         "many",        "S2 x S2", 20000,  make_kernels,     12, 20, 0.2,  0.5, 0,   0 },
    { "ring-s2s2",         "ring",        "S2 x S2", 10000,  make_rings,       2,  3,  0.08, 0.2, 0.1, 0 },

    { "wide-mesh",         "wide",        "mesh",    500,    make_bumps,       2,  4,  0.3,  0.6, 0,   0 },
    { "narrow-mesh",       "narrow",      "mesh",    5000,   make_bumps,       3,  6,  0.1,  0.2, 0.1, 0 },
    { "flat-mesh",         "flat",        "mesh",    1000,   make_bumps,       2,  4,  0.2,  0.5, 0.9, 0 },
};
/* clang-format on */
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

npmd_status gauntlet_at(int i, npmd_recipe *out, npmd_error *err)
{
    if (i < 0 || i >= ROW_COUNT)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "there is no recipe %d, expected 0 to %d", i, ROW_COUNT - 1);
    out->name = ROWS[i].name;
    out->family = ROWS[i].family;
    out->domain = ROWS[i].domain;
    out->n = ROWS[i].n;
    return NPMD_OK;
}

npmd_status gauntlet_make(const char *name, uint64_t seed, npmd_truth **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    npmd_truth *t = NULL;
    maker g = { .seed = seed, .err = err };
    for (int i = 0; i < ROW_COUNT; i++)
        if (strcmp(ROWS[i].name, name) == 0)
            g.row = &ROWS[i];
    if (g.row == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "no truth of the gauntlet is called \"%.40s\"; there are few-t2, %s",
                         name, "ridge-narrow-t2, ring-wide-s2 and others");
    TRY(strcmp(g.row->domain, "mesh") == 0 ? truth_mesh_domain(&dom, err)
                                           : domain_read(g.row->domain, NULL, &dom, err));
    g.domain = dom;
    /* the step of a key has 32 bits: far from the steps of others, with room for one for each component */
    g.stream = (hash_bytes(0, name, strlen(name)) & 0x7fffff00u) | 0x80000000u;
    g.components = json_array();
    g.row->make(&g);
    TRY(g.st);
    npmd_domain *given = dom;
    dom = NULL; /* mixture_new takes it over */
    TRY(mixture_new(TRUTH_SHAPES, given, json_array_size(g.components), &t, err));
    TRY(shapes_from_json(g.components, name, t, err));
    TRY(mixture_prepare(t, name, err));
    *out = t;
    t = NULL;
done:
    json_decref(g.components);
    domain_free(dom);
    truth_free(t);
    return st;
}
