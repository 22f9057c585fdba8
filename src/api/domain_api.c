/* domain_api.c - public functions: domains and their points. */
#include "api.h"
#include "surface_factor.h"

#include <stdio.h>

npmd_status npmd_domain_parse(const char *text, npmd_domain **out, npmd_error *err)
{
    return domain_read(text, NULL, out, err);
}

npmd_status npmd_domain_parse_with(const char *text, const npmd_surface_options *how, npmd_domain **out,
                                   npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_surface_options own;
    npmd_options frequencies;
    TRY(SIZED_TAKE(how, &own, err));
    options_init(&frequencies);
    if (own.max_frequency != NULL)
        TRY(options_set(&frequencies, "max-frequency", own.max_frequency, err));
    const encoding_settings *e = &frequencies.set.encoding;
    TRY(domain_read(text,
                    &(surface_request){ .elements = own.elements,
                                        .max_frequency = e->max_frequencies > 1 ? 0 : e->max_frequency[0],
                                        .frequency = e->max_frequencies > 1 ? e->max_frequency : NULL,
                                        .frequencies = e->max_frequencies > 1 ? e->max_frequencies : 0,
                                        .cache = own.cache,
                                        .progress = own.progress,
                                        .user = own.user },
                    out, err));
done:
    return st;
}

npmd_status npmd_domain_within(const npmd_domain *dom, double max_distance, npmd_domain **out, npmd_error *err)
{
    return domain_within(dom, max_distance, out, err);
}

npmd_status npmd_factors_parse(const char *text, const npmd_domain *dom, unsigned *factors, npmd_error *err)
{
    return factors_parse(text, dom, factors, err);
}

npmd_status npmd_domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out, npmd_error *err)
{
    return domain_part(dom, factors, out, err);
}

void npmd_domain_free(npmd_domain *dom)
{
    domain_free(dom);
}

const char *npmd_domain_text(const npmd_domain *dom)
{
    return dom->text;
}

int npmd_domain_factors(const npmd_domain *dom)
{
    return dom->factors;
}

int npmd_domain_columns(const npmd_domain *dom)
{
    return dom->columns;
}

int npmd_domain_dimension(const npmd_domain *dom)
{
    return dom->dimension;
}

double npmd_domain_volume(const npmd_domain *dom)
{
    return dom->volume;
}

npmd_status npmd_domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x, npmd_error *err)
{
    return domain_uniform(dom, u, n, x, err);
}

const npmd_surface *npmd_domain_surface(const npmd_domain *dom, int factor)
{
    const surface *s = factor < 1 || factor > dom->factors ? NULL : surface_of(dom->factor[factor - 1]);
    return s == NULL ? NULL : &s->shown;
}

size_t npmd_domain_rule_nodes(const npmd_domain *dom, size_t resolution)
{
    size_t nodes = 1;
    for (int d = 0; d < dom->factors; d++)
        nodes *= dom->factor[d]->rule_nodes(dom->factor[d], resolution);
    return nodes;
}

npmd_status npmd_domain_rule(const npmd_domain *dom, size_t resolution, double *x, double *weight, npmd_error *err)
{
    rules r = { 0 };
    const npmd_status st = rules_open(&r, dom, resolution, err);
    for (size_t i = 0; st == NPMD_OK && i < r.total; i++) {
        double *row = x + i * (size_t)dom->columns;
        weight[i] = rules_point(&r, dom, i, row);
        domain_position(dom, row);
    }
    rules_close(&r);
    return st;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

npmd_status npmd_coords_parse(const char *text, unsigned *coords, npmd_error *err)
{
    return coords_parse(text, coords, err);
}

int npmd_points_columns(const npmd_domain *dom, unsigned coords)
{
    return (int)points_file_columns(dom, coords);
}

npmd_status npmd_points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out,
                             npmd_error *err)
{
    return points_read(path, dom, coords, out, err);
}

npmd_status npmd_points_from(const double *rows, size_t n, size_t columns, const npmd_domain *dom, unsigned coords,
                             npmd_points **out, npmd_error *err)
{
    return points_from_rows(rows, n, columns, dom, coords, out, err);
}

npmd_status npmd_points_borrow(const void *rows, int float32, size_t n, size_t columns, const npmd_domain *dom,
                               unsigned coords, npmd_points **out, npmd_error *err)
{
    return points_borrow(rows, float32, n, columns, dom, coords, out, err);
}

npmd_status npmd_points_weigh(npmd_points *pts, const char *path, npmd_error *err)
{
    return points_weigh(pts, path, err);
}

npmd_status npmd_points_weigh_by(npmd_points *pts, const double *weight, size_t n, npmd_error *err)
{
    return points_weigh_by(pts, weight, n, err);
}

void npmd_points_free(npmd_points *pts)
{
    points_free(pts);
}

size_t npmd_points_count(const npmd_points *pts)
{
    return pts->n;
}

const npmd_domain *npmd_points_domain(const npmd_points *pts)
{
    return pts->domain;
}

double npmd_points_weight(const npmd_points *pts, size_t i)
{
    return points_weight(pts, i);
}

size_t npmd_points_bytes(const npmd_points *pts)
{
    return points_bytes(pts);
}

void npmd_points_row(const npmd_points *pts, size_t i, double *x)
{
    points_user_row(pts, i, x);
}

npmd_status npmd_points_rows(const npmd_points *pts, unsigned coords, double *rows, npmd_error *err)
{
    return points_user_rows(pts, coords, rows, err);
}

npmd_status npmd_points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x, size_t n,
                              npmd_error *err)
{
    return points_write(path, dom, coords, x, n, err);
}
