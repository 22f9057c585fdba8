/* cmd_eigen.c - neuropmd eigen: Laplace-Beltrami eigenpairs of a surface. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option OPTIONS[] = {
    { "k", "K", .required = true, .help = "how many pairs, from the constant function on" },
    { "out", "FILE", .required = true,
      .help = "the functions on the vertices: .npy or .csv (a row a vertex, a column a function), .gii or .vtk "
              "(the surface with one array a function)" },
    { "values", "FILE", .help = "the eigenvalues, .npy or .csv" },
    { "elements", "1|2", .fallback = "1", .help = "linear or quadratic finite elements on the faces" },
    { 0 },
};

static bool is_surface_file(const char *path)
{
    return cli_ends_with(path, ".gii") || cli_ends_with(path, ".gii.gz") || cli_ends_with(path, ".vtk");
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

typedef struct eigen_result {
    npmd_surface *surface;
    size_t vertices, k;
    int elements;
    double seconds;
    double *lambda, *phi, *residual; /* (k), (vertices, k), (k) */
} eigen_result;

/* One array a function, named phi_000 and so on. */
static npmd_status write_surface(const eigen_result *r, const char *path, npmd_error *err)
{
    enum { NAME = 32 };
    npmd_status st = NPMD_ERR_MEMORY;
    double *value = malloc(r->vertices * r->k * sizeof *value);
    const double **values = malloc(r->k * sizeof *values);
    const char **names = malloc(r->k * sizeof *names);
    char(*name)[NAME] = malloc(r->k * sizeof *name);
    if (value && values && names && name) {
        for (size_t j = 0; j < r->k; j++) {
            snprintf(name[j], sizeof name[j], "phi_%03zu", j);
            names[j] = name[j];
            values[j] = value + j * r->vertices;
            for (size_t i = 0; i < r->vertices; i++)
                value[j * r->vertices + i] = r->phi[i * r->k + j];
        }
        st = npmd_surface_write(r->surface, path, names, values, (int)r->k, err);
    } else {
        *err = (npmd_error){ .status = st, .text = "not enough memory for a surface with its functions" };
    }
    free(value);
    free(values);
    free(names);
    free(name);
    return st;
}

static double largest(const double *a, size_t n)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, a[i]);
    return most;
}

static int report(const cli_args *args, const eigen_result *r)
{
    enum { SHOWN = 10 };
    const double area = npmd_surface_area(r->surface);
    cli_json j = { 0 };
    if (args->json) {
        cli_json_begin(&j);
        CLI_PUT(&j, TEXT("out", cli_value(args, "out")), COUNT("vertices", r->vertices),
                COUNT("faces", npmd_surface_faces(r->surface)), REAL("area", area), WHOLE("elements", r->elements),
                COUNT("k", r->k), REAL("seconds", r->seconds), REAL("residual_max", largest(r->residual, r->k)));
        cli_json_items(&j, "eigenvalues", r->lambda, r->k);
        cli_json_items(&j, "residuals", r->residual, r->k);
        return cli_json_print(args, &j);
    }
    if (args->quiet)
        return CLI_DONE;
    cli_row(stdout, "surface", "%s vertices, %s faces, area %.6g", cli_words_count(r->vertices).text,
            cli_words_count(npmd_surface_faces(r->surface)).text, area);
    cli_row(stdout, "elements", "%s", r->elements == 1 ? "linear" : "quadratic");
    cli_row(stdout, "pairs", "%s in %s", cli_words_count(r->k).text, cli_words_time(r->seconds).text);
    cli_row(stdout, "residual", "at most %.2g", largest(r->residual, r->k));
    cli_row(stdout, "out", "%s", cli_value(args, "out"));
    printf("\n%8s  %14s  %22s  %9s\n", "number", "eigenvalue", "x area / (4 pi)", "residual");
    for (size_t i = 0; i < r->k; i++) {
        if (i == SHOWN && r->k > SHOWN + 1) {
            printf("%8s\n", "...");
            i = r->k - 1;
        }
        printf("%8zu  %14.8g  %22.8g  %9.2g\n", i, r->lambda[i], r->lambda[i] * area / (4.0 * acos(-1.0)),
               r->residual[i]);
    }
    return CLI_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int solve(const cli_args *args, eigen_result *r)
{
    npmd_error err = { 0 };
    const char *out = cli_value(args, "out"), *values = cli_value(args, "values");
    const double begun = cli_clock();
    cli_progress progress;
    npmd_compute how = NPMD_SIZED(npmd_compute);
    cli_progress_watch(&progress, args, &how);
    if (r->k > r->vertices)
        return cli_fail(args, CLI_USAGE, "--k: %zu was found, %s has %zu vertices", r->k, args->operand, r->vertices);
    if (!(r->lambda = cli_doubles(args, r->k, 1)) || !(r->residual = cli_doubles(args, r->k, 1))
        || !(r->phi = cli_doubles(args, r->vertices, r->k)))
        return CLI_MEMORY;
    const npmd_status st = npmd_surface_eigen(r->surface, r->elements, (int)r->k, &how, r->lambda, r->phi, r->residual,
                                              &err);
    cli_progress_end(&progress);
    r->seconds = cli_clock() - begun;
    if (st
        || (is_surface_file(out) ? write_surface(r, out, &err) : npmd_array_write(out, r->phi, r->vertices, r->k, &err))
        || (values && npmd_array_write(values, r->lambda, r->k, 1, &err)))
        return cli_refuse(args, &err);
    return report(args, r);
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    eigen_result r = { 0 };
    const char *out = cli_value(args, "out"), *values = cli_value(args, "values"),
               *elements = cli_value(args, "elements");
    TRY(cli_count(args, "k", &r.k));
    TRY(cli_distinct(args, "--out", out, "MESH", args->operand));
    TRY(cli_distinct(args, "--values", values, "MESH", args->operand));
    TRY(cli_distinct(args, "--out", out, "--values", values));
    if (elements && strcmp(elements, "1") != 0 && strcmp(elements, "2") != 0)
        TRY(cli_fail(args, CLI_USAGE, "--elements: '%s' was found, 1 or 2 was expected", elements));
    r.elements = elements && elements[0] == '2' ? 2 : 1;
    const npmd_status checked = is_surface_file(out) ? cli_output(npmd_surface_check, out, &err)
                                                     : cli_output(npmd_array_check, out, &err);
    if (checked == NPMD_ERR_ARGUMENT && !is_surface_file(out))
        TRY(cli_fail(args, CLI_USAGE, "%s: unknown suffix, expected .npy, .csv, .tsv, .txt, .gii or .vtk", out));
    TRY(cli_checked(args,
                    checked || (values && cli_output(npmd_array_check, values, &err))
                        || npmd_surface_read(args->operand, &r.surface, &err),
                    &err));
    r.vertices = npmd_surface_vertices(r.surface);
    st = solve(args, &r);
done:
    free(r.lambda);
    free(r.phi);
    free(r.residual);
    npmd_surface_free(r.surface);
    return st;
}

const cli_command command_eigen = {
    .name = "eigen",
    .operand = "MESH",
    .summary = "Laplace-Beltrami eigenpairs of a surface",
    .details = "Finite elements with consistent mass on a closed surface of triangles (.obj .off .ply .vtk .gii, "
               "FreeSurfer), solved by shift-invert Lanczos. Eigenvalues are per area in the units of the file; "
               "the functions are orthonormal with respect to area, the largest entry of each is positive. A "
               "residual is |K phi - lambda M phi| relative to lambda, each entry divided by the root of its mass.",
    .examples = "neuropmd eigen lh.white.gii --k 200 --out functions.npy --values eigenvalues.csv\n"
                "neuropmd eigen bunny.obj --k 30 --elements 2 --out bunny.vtk\n",
    .options = OPTIONS,
    .run = run,
};
