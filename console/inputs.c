/* inputs.c - options that several commands share: where to compute, points and their domain, files that must be
 * distinct, and outputs that no other run may write to. */
#include "console.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

int cli_compute(const cli_args *args, uint64_t *seed, npmd_compute *how)
{
    npmd_error err = { 0 };
    char digits[32] = "";
    int code = CLI_DONE;
    npmd_options *options = npmd_options_new();
    if (!options)
        return cli_fail(args, CLI_MEMORY, "not enough memory for the options");
    for (int i = 0; i < args->count && code == CLI_DONE; i++)
        if (args->given[i].option.library
            && npmd_options_set(options, args->given[i].option.name, args->given[i].value, &err))
            code = cli_refuse(args, &err);
    npmd_options_get(options, "seed", digits, sizeof digits);
    *seed = strtoull(digits, NULL, 10);
    *how = (npmd_compute)NPMD_SIZED(npmd_compute);
    how->threads = (int)npmd_options_number(options, "threads");
    how->device = cli_value(args, "device");
    npmd_options_free(options);
    return code;
}

int cli_numbers(const char *text, int most, double scale, bool all, double *out)
{
    int count = 0;
    for (const char *at = text;; at++) {
        char *end = NULL;
        if (count == most)
            return -1;
        if (all && strncmp(at, "all", 3) == 0) {
            out[count++] = acos(-1.0);
            end = (char *)(uintptr_t)at + 3;
        } else {
            out[count++] = scale * strtod(at, &end);
        }
        if (end == at || (*end != ',' && *end != '\0'))
            return -1;
        if (*end == '\0')
            return count;
        at = end;
    }
}

static npmd_status cli_domain_near(const cli_args *args, const npmd_domain *domain, npmd_domain **out, npmd_error *err)
{
    const char *text = cli_value(args, "max-distance");
    char *end = NULL;
    if (!text)
        return npmd_domain_part(domain, (1u << npmd_domain_factors(domain)) - 1u, out, err); /* a copy */
    const double distance = strtod(text, &end);
    return npmd_domain_within(domain, end == text || *end ? -1.0 : distance, out, err);
}

int cli_distance(const cli_args *args, double *out)
{
    const char *text = cli_value(args, "max-distance");
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0.0;
    if (!text || (end != text && !*end && *out > 0.0))
        return CLI_DONE;
    return cli_fail(args, CLI_USAGE, "--max-distance: '%s' was found where a positive number or inf was expected",
                    text);
}

npmd_status cli_registered(const char *surface_path, const npmd_surface *surface, const char *sphere_path,
                           const npmd_surface *sphere, npmd_error *err)
{
    npmd_error why = { 0 };
    const npmd_status st = npmd_surface_log_area(surface, sphere, NULL, 0, NULL,
                                                 &why); /* of no point: it only checks */
    if (st != NPMD_OK) {
        snprintf(err->text, sizeof err->text, "--surface %.90s, --sphere %.90s: %.200s", surface_path, sphere_path,
                 why.text);
        err->status = st;
    }
    return st;
}

npmd_status cli_points(const cli_args *args, const char *path, const npmd_domain *domain, unsigned coords,
                       npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *near = NULL;
    TRY(cli_domain_near(args, domain, &near, err));
    TRY(npmd_points_read(path, near, coords, out, err));
done:
    npmd_domain_free(near);
    return st;
}

npmd_status cli_given_points(const cli_args *args, const npmd_domain *domain, unsigned coords, unsigned *given,
                             npmd_points **at, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    enum { NUMBERS_MOST = 3 * NPMD_MAX_FACTORS };
    npmd_domain *near = NULL, *part = NULL;
    double x[NUMBERS_MOST];
    TRY(npmd_factors_parse(cli_value(args, "given"), domain, given, err));
    TRY(cli_domain_near(args, domain, &near, err));
    TRY(npmd_domain_part(near, *given, &part, err));
    /* the coordinates belong to the whole domain: these factors may know only one of them */
    const char *text = npmd_domain_text(part);
    coords &= (strstr(text, "S2") ? (unsigned)NPMD_COORDS_LATLON : 0u)
              | (strstr(text, "S1") ? (unsigned)NPMD_COORDS_DEGREES : 0u);
    const int count = cli_numbers(cli_value(args, "at"), NUMBERS_MOST, 1.0, false, x);
    st = count > 0 ? npmd_points_from(x, 1, (size_t)count, part, coords, at, err)
                   : npmd_points_read(cli_value(args, "at"), part, coords, at, err);
done:
    npmd_domain_free(part);
    npmd_domain_free(near);
    return st;
}

npmd_status cli_coords(const cli_args *args, unsigned *out, npmd_error *err)
{
    const char *text = cli_value(args, "coords");
    *out = NPMD_COORDS_DEFAULT;
    return text ? npmd_coords_parse(text, out, err) : NPMD_OK;
}

bool cli_ends_with(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}

/* The file behind an input, which may be one variable of it: file.mat:name. */
static bool input_stat(const char *path, struct stat *out)
{
    const char *colon = strrchr(path, ':');
    char file[CLI_PATH_MOST];
    if (stat(path, out) == 0)
        return true;
    if (!colon || (size_t)(colon - path) >= sizeof file)
        return false;
    memcpy(file, path, (size_t)(colon - path));
    file[colon - path] = '\0';
    return stat(file, out) == 0;
}

int cli_distinct(const cli_args *args, const char *label, const char *path, const char *other_label, const char *other)
{
    struct stat a, b;
    if (!path || !other)
        return CLI_DONE;
    const bool have_a = stat(path, &a) == 0, have_b = input_stat(other, &b);
    bool same = strcmp(path, other) == 0;
    if (have_a && have_b) /* /dev/null may be named as often as one likes */
        same = S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    if (same)
        return cli_fail(args, CLI_USAGE, "%s and %s name the same file, '%s'", label, other_label, path);
    return CLI_DONE;
}

#define OUTPUTS_MOST 16

npmd_status cli_output(npmd_status (*check)(const char *path, npmd_error *err), const char *path, npmd_error *err)
{
    static npmd_claim *held[OUTPUTS_MOST]; /* to the end of the program, which gives them back however it ends */
    static int count;
    const npmd_status st = check(path, err);
    if (st != NPMD_OK || count == OUTPUTS_MOST)
        return st;
    return npmd_output_claim(path, &held[count++], err);
}
