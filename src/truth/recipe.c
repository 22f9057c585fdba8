/* recipe.c - the mixtures of the paper's simulations (section S5.1).
 *
 * Equally weighted wrapped normals on T2 and T4. A covariance is C = Q Lambda Q' / (its greatest element): Q
 * uniformly distributed over the orthogonal matrices, Lambda log-spaced from 1 to the component's anisotropy.
 * The paper gives means and anisotropies, not the matrices; "t2-authors" holds those of the published T2
 * data. */
#include "truth.h"

#define RECIPE_MAX_COMPONENTS 5
#define RECIPE_MAX_DIMENSION 4

typedef struct recipe {
    const char *name, *domain;
    int components;
    double mean[RECIPE_MAX_COMPONENTS][RECIPE_MAX_DIMENSION];
    double anisotropy[RECIPE_MAX_COMPONENTS];
    const double (*covariance)[2][2]; /* given, or NULL: drawn */
} recipe;

/* The covariances of the authors' T2 data, all digits. */
static const double T2_AUTHORS[3][2][2] = {
    { { 1.0, -0.290003633998548 }, { -0.290003633998548, 0.09587489255876 } },
    { { 1.0, 0.24118146745134222 }, { 0.24118146745134222, 0.06937888350325798 } },
    { { 0.6301006220063675, -0.7138567180743646 }, { -0.7138567180743646, 1.0 } },
};

#define PI NPMD_PI
/* clang-format off */
#define T2_MEANS { { PI, PI / 2 }, { PI, 5 * PI / 3 }, { PI / 4, PI } }
/* clang-format on */
static const recipe RECIPES[] = {
    { "t2", "S1^2", 3, T2_MEANS, { 100, 100, 20 }, NULL },
    { "t2-authors", "S1^2", 3, T2_MEANS, { 100, 100, 20 }, T2_AUTHORS },
    { "t4",
      "S1^4",
      5,
      { { 0.5, 0.5, 0.5, 0.5 },
        { PI, PI, PI, PI },
        { PI / 2, 3 * PI / 2, 3 * PI / 2, PI / 2 },
        { 3 * PI / 2, PI / 2, PI / 2, 3 * PI / 2 },
        { PI / 4, PI / 4, 7 * PI / 4, 7 * PI / 4 } },
      { 100, 100, 20, 50, 75 },
      NULL },
};
#undef PI

/* q (D, D), columns orthonormal: the factor Q of a Gaussian matrix whose R has a positive diagonal, and so
 * uniform over the orthogonal group (Mezzadri 2007). Gram-Schmidt gives just that R; done twice it is
 * orthogonal to rounding. */
void recipe_orthogonal(int D, rng_key key, double *q)
{
    for (int j = 0; j < D; j++) {
        for (int i = 0; i < D; i++)
            q[i * D + j] = rng_normal(key, (uint64_t)(i * D + j), 0);
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < j; k++) {
                double dot = 0.0;
                for (int i = 0; i < D; i++)
                    dot += q[i * D + k] * q[i * D + j];
                for (int i = 0; i < D; i++)
                    q[i * D + j] -= dot * q[i * D + k];
            }
        double norm2 = 0.0;
        for (int i = 0; i < D; i++)
            norm2 += q[i * D + j] * q[i * D + j];
        for (int i = 0; i < D; i++)
            q[i * D + j] /= sqrt(norm2);
    }
}

/* C = Q Lambda Q' / its greatest element; only one triangle is computed, so that C is symmetric to the last
 * bit. */
static void covariance_draw(int D, double anisotropy, rng_key key, double *C)
{
    double q[RECIPE_MAX_DIMENSION * RECIPE_MAX_DIMENSION], greatest = 0.0;
    recipe_orthogonal(D, key, q);
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < D; k++)
                sum += q[i * D + k] * pow(anisotropy, k / (D - 1.0)) * q[j * D + k];
            C[i * D + j] = C[j * D + i] = sum;
            greatest = fmax(greatest, sum);
        }
    for (int i = 0; i < D * D; i++)
        C[i] /= greatest;
}

npmd_status truth_make(const char *name, uint64_t seed, npmd_truth **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    npmd_truth *t = NULL;
    const recipe *r = NULL;
    if (strncmp(name, GAUNTLET, strlen(GAUNTLET)) == 0)
        return gauntlet_make(name + strlen(GAUNTLET), seed, out, err);
    for (size_t i = 0; i < sizeof RECIPES / sizeof *RECIPES; i++)
        if (strcmp(RECIPES[i].name, name) == 0)
            r = &RECIPES[i];
    if (r == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "no recipe is called \"%.40s\"; expected t2, t4, t2-authors or gauntlet:NAME", name);
    TRY(domain_read(r->domain, NULL, &dom, err));
    const int D = dom->dimension;
    TRY(mixture_new(TRUTH_WRAPPED_NORMAL, dom, (size_t)r->components, &t, err));
    for (int c = 0; c < r->components; c++) {
        double *C = t->covariance + c * D * D;
        t->weight[c] = 1.0 / r->components;
        memcpy(t->mean + c * D, r->mean[c], (size_t)D * sizeof *t->mean);
        if (r->covariance != NULL)
            memcpy(C, r->covariance[c], sizeof r->covariance[c]);
        else
            covariance_draw(D, r->anisotropy[c], rng_key_make(seed, RNG_TRUTH, (uint64_t)c), C);
    }
    TRY(mixture_prepare(t, name, err));
    *out = t;
    t = NULL;
done:
    truth_free(t);
    return st;
}
