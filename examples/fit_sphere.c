/* fit_sphere.c - estimates a density on the sphere S2 from 4,000 unit vectors, and checks its first moment.
 *
 * The truth is von Mises-Fisher about mu = (2, 1, 2) / 3 with concentration kappa = 4:
 *
 *     f(x) = kappa / (4 pi sinh kappa) exp(kappa mu . x),     E x = A mu,   A = coth kappa - 1 / kappa
 *
 * The first moment of the estimate is the average of x f_hat(x) over points spread evenly on the sphere,
 * times its area:
 *
 *     E_hat x = integral of x f_hat(x) = 4 pi / N  sum_i x_i f_hat(x_i)
 *
 * Nothing here speaks of longitude: a fit at a pole is as good as anywhere. */
#include <neuropmd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 4000, NODES = 40000 };

static const double PI = 3.14159265358979323846, KAPPA = 4.0;
static const double MU[3] = { 2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0 };

static int write_truth(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 1;
    fprintf(file,
            "{ \"domain\": \"S2\", \"kind\": \"von Mises-Fisher mixture\", \"weights\": [1],\n"
            "  \"means\": [[%.17g, %.17g, %.17g]], \"kappas\": [[%.17g]] }\n",
            MU[0], MU[1], MU[2], KAPPA);
    return fclose(file) != 0;
}

static int check(const char *what, double found, double expected, double tolerance)
{
    const int good = fabs(found - expected) <= tolerance; /* false for NaN */
    printf("%-28s %9.5f   expected %9.5f +- %.5f   %s\n", what, found, expected, tolerance, good ? "ok" : "WRONG");
    return !good;
}

/* moment[0] is the mass, moment[1..3] the mean vector of the estimate. The nodes are the image of Fibonacci's
 * lattice in the unit square: (i + 1/2) / N and the fractional part of i times the golden ratio. */
static npmd_status moments(const npmd_model *model, double moment[4], npmd_error *err)
{
    static double u[NODES][2], x[NODES][3], log_density[NODES];
    npmd_status st = NPMD_OK;
    for (int i = 0; i < NODES; i++) {
        u[i][0] = (i + 0.5) / NODES;
        u[i][1] = fmod(i * 0.61803398874989485, 1.0);
    }
    for (int k = 0; k < 4; k++)
        moment[k] = 0.0;
    if ((st = npmd_domain_uniform(npmd_model_domain(model), &u[0][0], NODES, &x[0][0], err)) != NPMD_OK
        || (st = npmd_log_density(model, &x[0][0], NODES, log_density, err)) != NPMD_OK)
        return st;
    for (int i = 0; i < NODES; i++) {
        const double weight = exp(log_density[i]) * 4.0 * PI / NODES;
        moment[0] += weight;
        for (int k = 0; k < 3; k++)
            moment[1 + k] += weight * x[i][k];
    }
    return st;
}

/* A fit that takes seconds; without these lines the sizes follow from the data. The truth is smooth and the points are
 * few, hence more penalty than the default of 5e-5. */
static npmd_status small_fit(npmd_options *opt, npmd_error *err)
{
    static const char *const SET[][2] = { { "steps", "800" },   { "batch", "500" },       { "q1", "1024" },
                                          { "q2", "128" },      { "centres", "64" },      { "width", "32" },
                                          { "features", "48" }, { "max-frequency", "6" }, { "tau", "1e-3" },
                                          { "seed", "1" } };
    npmd_status st = NPMD_OK;
    for (size_t i = 0; i < sizeof SET / sizeof *SET && st == NPMD_OK; i++)
        st = npmd_options_set(opt, SET[i][0], SET[i][1], err);
    return st;
}

int main(void)
{
    static double x[POINTS][3];
    npmd_error err = { 0 };
    npmd_truth *truth = NULL;
    npmd_points *points = NULL;
    npmd_model *model = NULL;
    npmd_comparison distance = NPMD_SIZED(npmd_comparison);
    npmd_options *opt = npmd_options_new();
    double moment[4];
    int wrong = 0;

    if (opt == NULL || small_fit(opt, &err) != NPMD_OK) {
        fprintf(stderr, "fit_sphere: %s\n", opt == NULL ? "not enough memory" : err.text);
        npmd_options_free(opt);
        return EXIT_FAILURE;
    }
    if (write_truth("fit_sphere.json") != 0) {
        perror("fit_sphere.json");
        npmd_options_free(opt);
        return EXIT_FAILURE;
    }
    if (npmd_truth_read("fit_sphere.json", &truth, &err) || npmd_truth_sample(truth, 1, POINTS, NULL, &x[0][0], &err)
        || npmd_points_from(&x[0][0], POINTS, 3, npmd_truth_domain(truth), NPMD_COORDS_DEFAULT, &points, &err)
        || npmd_fit(npmd_truth_domain(truth), points, opt, &model, &err) || moments(model, moment, &err)
        || npmd_compare(model, truth, NPMD_GRID_FINE, 0, 1, NULL, &distance, &err)) {
        fprintf(stderr, "fit_sphere: %s\n", err.text);
        wrong = 1;
    } else {
        static const char *const NAME[3] = { "E x", "E y", "E z" };
        const double A = 1.0 / tanh(KAPPA) - 1.0 / KAPPA;
        const double entropy = -log(KAPPA / (4.0 * PI * sinh(KAPPA))) - KAPPA * A;
        /* Lattice error is below 1e-3 for a density this smooth; the model's own integral is better known. */
        wrong |= check("mass of the estimate", moment[0], 1.0, 0.01);
        /* A coordinate of one point has a standard deviation below 0.58, the mean of the sample one below
         * 0.0092: four of these, and as much again for the penalty's shrinkage and an unfinished fit. */
        for (int k = 0; k < 3; k++)
            wrong |= check(NAME[k], moment[1 + k], A * MU[k], 8.0 * 0.58 / sqrt(POINTS));
        /* A twentieth of what is lost by an estimate that learned nothing. */
        wrong |= check("KL(f || f_hat)", distance.kl, 0.0, 0.05 * (log(4.0 * PI) - entropy));
    }
    remove("fit_sphere.json");
    npmd_model_free(model);
    npmd_options_free(opt);
    npmd_points_free(points);
    npmd_truth_free(truth);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
