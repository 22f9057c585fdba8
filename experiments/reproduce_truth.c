/* reproduce_truth.c - the known densities of the experiments.
 *
 * The paper has mixtures on T2 and T4. For other dimensions its recipe is extended: five wrapped normals of equal
 * weight, the means of T4 repeated along the coordinates, covariances Q Lambda Q' / (the greatest element), Q uniform
 * over the orthogonal matrices and Lambda log-spaced from 1 to the anisotropy. In one dimension, where a covariance
 * would be 1 and the mixture nearly uniform, the variance is the middle of that range, 1 / sqrt(anisotropy). */
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPONENTS = 5, DIMENSION_MOST = 7 };
#define PI 3.14159265358979323846

static const double ANISOTROPY[COMPONENTS] = { 100, 100, 20, 50, 75 };
static const double MEAN[COMPONENTS][4] = {
    { 0.5, 0.5, 0.5, 0.5 },
    { PI, PI, PI, PI },
    { PI / 2, 3 * PI / 2, 3 * PI / 2, PI / 2 },
    { 3 * PI / 2, PI / 2, PI / 2, 3 * PI / 2 },
    { PI / 4, PI / 4, 7 * PI / 4, 7 * PI / 4 },
};

/* Of the stream of (seed, dimension, component). */
static double uniform(uint64_t *state)
{
    return ((double)(reproduce_word(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(uniform(state)));
    return radius * cos(2.0 * PI * uniform(state));
}

/* q: D rows, orthonormal; Gram-Schmidt of a Gaussian matrix, done twice for rounding. */
static void orthogonal_draw(int D, uint64_t *state, double q[][DIMENSION_MOST])
{
    for (int j = 0; j < D; j++) {
        double norm2 = 0.0;
        for (int i = 0; i < D; i++)
            q[j][i] = normal(state);
        for (int k = 0; k < 2 * j; k++) {
            double dot = 0.0;
            for (int i = 0; i < D; i++)
                dot += q[k % j][i] * q[j][i];
            for (int i = 0; i < D; i++)
                q[j][i] -= dot * q[k % j][i];
        }
        for (int i = 0; i < D; i++)
            norm2 += q[j][i] * q[j][i];
        for (int i = 0; i < D; i++)
            q[j][i] /= sqrt(norm2);
    }
}

static void covariance_draw(int D, uint64_t seed, int component, double C[][DIMENSION_MOST])
{
    double q[DIMENSION_MOST][DIMENSION_MOST], greatest = 0.0;
    uint64_t state = seed * UINT64_C(1000003) + (uint64_t)(16 * D + component);
    if (D == 1) {
        C[0][0] = 1.0 / sqrt(ANISOTROPY[component]);
        return;
    }
    orthogonal_draw(D, &state, q);
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < D; k++)
                sum += q[k][i] * pow(ANISOTROPY[component], k / (D - 1.0)) * q[k][j];
            C[i][j] = C[j][i] = sum;
            greatest = fmax(greatest, sum);
        }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            C[i][j] /= greatest;
}

static void put_mixture(cli_json *j, int D, uint64_t seed)
{
    double C[DIMENSION_MOST][DIMENSION_MOST], mean[DIMENSION_MOST], weight[COMPONENTS];
    char domain[16];
    for (int c = 0; c < COMPONENTS; c++)
        weight[c] = 1.0 / COMPONENTS;
    snprintf(domain, sizeof domain, "S1^%d", D);
    cli_json_begin(j);
    CLI_PUT(j, TEXT("domain", domain), TEXT("kind", "wrapped normal mixture"));
    cli_json_items(j, "weights", weight, COMPONENTS);
    cli_json_list(j, "means");
    for (int c = 0; c < COMPONENTS; c++) {
        for (int d = 0; d < D; d++)
            mean[d] = MEAN[c][d % 4];
        cli_json_items(j, NULL, mean, (size_t)D);
    }
    cli_json_leave(j);
    cli_json_list(j, "covariances");
    for (int c = 0; c < COMPONENTS; c++) {
        covariance_draw(D, seed, c, C);
        cli_json_list(j, NULL);
        for (int i = 0; i < D; i++)
            cli_json_items(j, NULL, C[i], (size_t)D);
        cli_json_leave(j);
    }
    cli_json_leave(j);
    cli_json_end(j);
}

/* The library reads a mixture from a file: a temporary one, gone before it is used. */
static npmd_status make_mixture(int D, uint64_t seed, npmd_truth **out, npmd_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/neuropmd_truth.XXXXXX", folder && folder[0] ? folder : "/tmp");
    const int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f)
        return reproduce_fail(err, NPMD_ERR_FILE, "%.300s: cannot write: %s", path, strerror(errno));
    cli_json j = { 0 };
    put_mixture(&j, D, seed);
    const bool whole = !j.failed && fputs(j.text, f) != EOF;
    cli_json_free(&j);
    npmd_status st = fclose(f) == 0 && whole ? npmd_truth_read(path, out, err)
                                             : reproduce_fail(err, NPMD_ERR_FILE, "a temporary file is not whole");
    unlink(path);
    return st;
}

const char *reproduce_recipe(const reproduce_plan *plan, const char *domain)
{
    if (plan->experiment->every_dimension)
        return "t4, any dimension";
    if (strcmp(domain, "T4") == 0)
        return "t4";
    return plan->truth_seeded ? "t2" : "t2-authors";
}

npmd_status reproduce_truth_make(const reproduce_plan *plan, const char *domain, npmd_truth **out, npmd_error *err)
{
    if (plan->experiment->every_dimension)
        return make_mixture(atoi(domain + 1), plan->truth_seed, out, err);
    return npmd_truth_make(reproduce_recipe(plan, domain), plan->truth_seed, out, err);
}
