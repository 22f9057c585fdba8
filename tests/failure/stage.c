/* stage.c - what the operations are given: points, models and known densities, small ones of each kind. */
#include "sweep.h"

#ifndef _OPENMP
static void omp_set_num_threads(int threads)
{
    (void)threads;
}
#endif

void fit_options(npmd_options *opt, const char *const *pair)
{
    static const char *const SMALL[] = { "features",      "6",  "width",    "4",  "depth", "3",    "steps", "2",
                                         "batch",         "50", "q1",       "64", "q2",    "32",   "tau",   "1e-4",
                                         "centres",       "16", "accuracy", "1",  "rate",  "1e-2", "seed",  "11",
                                         "max-frequency", "3",  "threads",  "1",  NULL };
    npmd_error err = { 0 };
    for (const char *const *at = SMALL; *at != NULL; at += 2)
        must(npmd_options_set(opt, at[0], at[1], &err), &err);
    for (const char *const *at = pair; *at != NULL; at += 2)
        must(npmd_options_set(opt, at[0], at[1], &err), &err);
}

/* Clustered points, so that there is something to find. */
static void make_points(const npmd_domain *dom, size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d];
            if (dom->factor[d] == &CIRCLE) {
                at[0] = 2.0 + 0.6 * test_normal(&seed);
            } else {
                do
                    test_unit_vector(&seed, at);
                while (at[0] < 0.2);
            }
        }
}

/* NumPy's float32, as the library never writes it. */
static void put_narrow(stage *s, const char *name, const double *x, size_t rows, size_t columns)
{
    char header[118 + 1];
    FILE *f = fopen(in_folder(&s->at, name), "wb");
    assert_non_null(f);
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%s%*s\n", header, 117 - length, "");
    for (size_t i = 0; i < rows * columns; i++)
        fwrite(&(float){ (float)x[i] }, sizeof(float), 1, f);
    assert_int_equal(fclose(f), 0);
}

static const char OPTIONS[] = "{ \"preset\": \"quick\", \"steps\": 30, \"max-frequency\": [3, 4],\n"
                              "  \"spectrum-law\": \"uniform\", \"tau\": 1.2345678901234567e-05,\n"
                              "  \"rate\": 0.12345678901234567, \"seed\": \"18446744073709551557\" }\n";
static const char FISHER[] = "{ \"domain\": \"S2 x S1\", \"kind\": \"von Mises-Fisher mixture\",\n"
                             "  \"weights\": [0.75, 0.25], \"means\": [[0, 0, 1, 0.12345678901234567],\n"
                             "  [1, 0, 0, 2.5]], \"kappas\": [[3, 0.5], [12.345678901234567, 8]],\n"
                             "  \"remark\": \"caf\\u00e9, \\\"quoted\\\"; a text longer than sixteen bytes\" }\n";
static const char SHAPES[] = "{ \"domain\": \"S1^2\", \"kind\": \"shapes\", \"components\": [\n"
                             "  { \"weight\": 0.5, \"shape\": \"kernel\", \"mean\": [1, 2], \"kappa\": [3, 4] },\n"
                             "  { \"weight\": 0.5, \"shape\": \"box\", \"factors\": [2], \"lower\": [1],\n"
                             "    \"upper\": [2] }] }\n";

static void open_surface(stage *s)
{
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    npmd_options opt;
    npmd_error err = { 0 };
    double u[2 * POINTS], x[3 * POINTS];
    uint64_t seed = 7;
    for (int i = 0; i < 2 * POINTS; i++)
        u[i] = test_uniform(&seed);
    options_init(&opt);
    fit_options(&opt, (const char *const[]){ "estimator", "series", "max-frequency", "1", NULL });
    must(npmd_domain_parse(SURFACE_DOMAIN, &dom, &err), &err);
    must(npmd_domain_uniform(dom, u, POINTS, x, &err), &err);
    must(npmd_array_write(in_folder(&s->at, "surface.npy"), x, POINTS, 3, &err), &err);
    must(points_from(x, POINTS, dom, &pts, &err), &err);
    must(npmd_fit(dom, pts, &opt, &s->surface, &err), &err);
    must(npmd_save(s->surface, in_folder(&s->at, "surface.safetensors"), &err), &err);
    npmd_points_free(pts);
    npmd_domain_free(dom);
}

int stage_open(void **state)
{
    static const char *const DOMAIN[DOMAINS] = { "S1^2", "S2 x S1" };
    stage *s = calloc(1, sizeof *s);
    npmd_error err = { 0 };
    double weight[POINTS], grid[64];
    *state = s;
    if (s == NULL || place_open(&s->at) != 0)
        return -1;
    omp_set_num_threads(1); /* none that a child would miss */
    for (int i = 0; i < DOMAINS; i++) {
        must(npmd_domain_parse(DOMAIN[i], &s->domain[i], &err), &err);
        make_points(s->domain[i], POINTS, (uint64_t)(5 + i), s->x[i]);
        must(points_from(s->x[i], POINTS, s->domain[i], &s->points[i], &err), &err);
    }
    for (int i = 0; i < LARGE; i++)
        s->large[i] = 6.0 * i / LARGE;
    for (int i = 0; i < POINTS; i++)
        weight[i] = 0.5 + i % 5;
    must(npmd_array_write(in_folder(&s->at, "weights.csv"), weight, POINTS, 1, &err), &err);
    must(npmd_points_weigh(s->points[MIXED], s->at.path, &err), &err);
    for (int i = 0; i < POINTS; i++)
        weight[i] = 1.0 + i % 3;
    must(npmd_array_write(in_folder(&s->at, "others.npy"), weight, POINTS, 1, &err), &err);
    must(npmd_points_write(in_folder(&s->at, "mixed.csv"), s->domain[MIXED], NPMD_COORDS_LATLON | NPMD_COORDS_DEGREES,
                           s->x[MIXED], POINTS, &err),
         &err);
    must(npmd_array_write(in_folder(&s->at, "torus.npy"), s->x[TORUS], POINTS, 2, &err), &err);
    put_narrow(s, "narrow.npy", s->x[TORUS], POINTS, 2);
    for (int i = 0; i < 64; i++)
        grid[i] = 1.0 + sin(2.0 * (double)CHECK_PI * (i % 8) / 8.0);
    must(npmd_array_write(in_folder(&s->at, "grid.npy"), grid, 8, 8, &err), &err);
    must(npmd_truth_read(s->at.path, &s->grid, &err), &err);
    must(npmd_truth_make("t2", 3, &s->normals, &err), &err);
    must(npmd_truth_write(s->normals, in_folder(&s->at, "normals.json"), &err), &err);
    put_text(&s->at, "fisher.json", FISHER);
    must(npmd_truth_read(s->at.path, &s->fisher, &err), &err);
    put_text(&s->at, "shapes.json", SHAPES);
    put_text(&s->at, "options.json", OPTIONS);
    for (int i = 0; i < DOMAINS; i++) {
        npmd_options opt;
        options_init(&opt);
        fit_options(&opt, (const char *const[]){ NULL });
        must(npmd_fit(s->domain[i], s->points[i], &opt, &s->model[i], &err), &err);
        must(npmd_save(s->model[i], in_folder(&s->at, i == TORUS ? "torus.safetensors" : "mixed.safetensors"), &err),
             &err);
    }
    struct {
        npmd_model **model;
        const char *file, *setting[7];
    } others[] = {
        { &s->squared, "squared.safetensors", { "estimator", "psnf", NULL } },
        { &s->relu, "relu.safetensors", { "estimator", "relu", NULL } },
        { &s->series, "series.safetensors", { "estimator", "series", "max-frequency", "1", NULL } },
        { &s->kernels,
          "kernels.safetensors",
          { "estimator", "kde", "bandwidth", "adaptive", "neighbours", "8", NULL } },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        npmd_options opt;
        options_init(&opt);
        fit_options(&opt, others[i].setting);
        must(npmd_fit(s->domain[MIXED], s->points[MIXED], &opt, others[i].model, &err), &err);
        must(npmd_save(*others[i].model, in_folder(&s->at, others[i].file), &err), &err);
    }
    open_surface(s);
    return 0;
}

int stage_close(void **state)
{
    stage *s = *state;
    npmd_model_free(s->surface);
    for (int i = 0; i < DOMAINS; i++) {
        npmd_model_free(s->model[i]);
        npmd_points_free(s->points[i]);
        npmd_domain_free(s->domain[i]);
    }
    npmd_model_free(s->squared);
    npmd_model_free(s->relu);
    npmd_model_free(s->kernels);
    npmd_model_free(s->series);
    npmd_truth_free(s->normals);
    npmd_truth_free(s->grid);
    npmd_truth_free(s->fisher);
    const int result = place_close(&s->at);
    free(s);
    return result;
}
