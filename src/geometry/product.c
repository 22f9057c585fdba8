/* product.c - products of manifolds, and their points. */
#include "geometry.h"

#include <ctype.h>
#include <stdio.h>

void manifold_retain(const manifold *m)
{
    if (m->retain != NULL)
        m->retain(m);
}

void manifold_release(const manifold *m)
{
    if (m->release != NULL)
        m->release(m);
}

void domain_add(npmd_domain *dom, const manifold *m)
{
    const int d = dom->factors++;
    manifold_retain(m);
    dom->factor[d] = m;
    dom->column[d] = dom->columns;
    dom->direction[d] = dom->dimension;
    dom->columns += m->columns;
    dom->dimension += m->dimension;
    dom->volume *= m->volume;
    dom->torus = dom->torus && m == &CIRCLE;
    dom->surfaces = dom->surfaces || m->locate != NULL;
}

/* The canonical spelling: runs of equal factors become powers. */
void domain_spell(npmd_domain *dom)
{
    size_t used = 0;
    for (int d = 0; d < dom->factors;) {
        int run = 1;
        while (d + run < dom->factors && strcmp(dom->factor[d + run]->name, dom->factor[d]->name) == 0)
            run++;
        used += (size_t)snprintf(dom->text + used, sizeof dom->text - used, "%s%s", d == 0 ? "" : " x ",
                                 dom->factor[d]->name);
        if (run > 1)
            used += (size_t)snprintf(dom->text + used, sizeof dom->text - used, "^%d", run);
        d += run;
    }
}

npmd_status domain_within(const npmd_domain *dom, double max_distance, npmd_domain **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *copy = NULL;
    if (!(max_distance > 0.0))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`max-distance` %g: more than 0 was expected", max_distance);
    if (!dom->surfaces)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`max-distance`: %s has no surface", dom->text);
    TRY(domain_copy(dom, &copy, err));
    copy->max_distance = max_distance;
    *out = copy;
done:
    return st;
}

npmd_status factors_parse(const char *text, const npmd_domain *dom, unsigned *factors, npmd_error *err)
{
    unsigned found = 0;
    const char *at = text;
    for (bool more = true; more; at++) {
        const int number = domain_number(&at);
        const bool known = number >= 1 && number <= dom->factors, twice = known && found >> (number - 1) & 1u;
        more = *at == ',';
        if (!known || twice || (!more && *at != '\0'))
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "factors \"%.40s\": numbers from 1 to %d, each once, separated by commas were expected, "
                             "as in 1,%d",
                             text, dom->factors, dom->factors);
        found |= 1u << (number - 1);
    }
    *factors = found;
    return NPMD_OK;
}

npmd_status domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out, npmd_error *err)
{
    npmd_domain *part = NULL;
    if (factors == 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "all factors of %s are given; at least one must remain", dom->text);
    if (factors >> dom->factors != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s has %d factors, not more", dom->text, dom->factors);
    const npmd_status st = memory_new(&part, 1, err);
    if (st != NPMD_OK)
        return st;
    part->volume = 1.0;
    part->torus = true;
    for (int d = 0; d < dom->factors; d++)
        if (factors >> d & 1u)
            domain_add(part, dom->factor[d]);
    part->max_distance = dom->max_distance;
    domain_spell(part);
    *out = part;
    return NPMD_OK;
}

npmd_status domain_copy(const npmd_domain *dom, npmd_domain **out, npmd_error *err)
{
    npmd_domain *copy = NULL;
    const npmd_status st = memory_new(&copy, 1, err);
    if (st == NPMD_OK) {
        *copy = *dom;
        for (int d = 0; d < copy->factors; d++)
            manifold_retain(copy->factor[d]);
        *out = copy;
    }
    return st;
}

void domain_free(npmd_domain *dom)
{
    for (int d = 0; dom != NULL && d < dom->factors; d++)
        manifold_release(dom->factor[d]);
    memory_free(dom);
}

void domain_uniform_point(const npmd_domain *dom, const double *u, double *x)
{
    for (int d = 0; d < dom->factors; d++)
        dom->factor[d]->uniform(dom->factor[d], u + dom->direction[d], x + dom->column[d]);
}

int domain_embedding(const npmd_domain *dom)
{
    int columns = 0;
    for (int d = 0; d < dom->factors; d++)
        columns += dom->factor[d]->embedding;
    return columns;
}

void domain_embed(const npmd_domain *dom, const double *x, double *e)
{
    for (int d = 0; d < dom->factors; d++) {
        dom->factor[d]->embed(dom->factor[d], x + dom->column[d], e);
        e += dom->factor[d]->embedding;
    }
}

/* The coordinates of a unit sphere are eigenfunctions: lap e = -dimension e. */
void domain_embed_jet(const npmd_domain *dom, const double *x, double *jet)
{
    const int columns = domain_embedding(dom), rows = dom->dimension + 2;
    memset(jet, 0, (size_t)(rows * columns) * sizeof *jet);
    domain_embed(dom, x, jet);
    for (int d = 0, at = 0; d < dom->factors; at += dom->factor[d++]->embedding) {
        const manifold *m = dom->factor[d];
        double frame[MANIFOLD_MAX_DIMENSION * (MANIFOLD_MAX_DIMENSION + 1)];
        m->embed_frame(m, x + dom->column[d], frame);
        for (int t = 0; t < m->dimension; t++)
            memcpy(jet + (1 + dom->direction[d] + t) * columns + at, frame + t * m->embedding,
                   (size_t)m->embedding * sizeof *jet);
        for (int j = at; j < at + m->embedding; j++)
            jet[(rows - 1) * columns + j] = -m->dimension * jet[j];
    }
}

npmd_status domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x, npmd_error *err)
{
    for (size_t i = 0; i < n * (size_t)dom->dimension; i++)
        if (!(u[i] >= 0.0 && u[i] <= 1.0))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "u[%zu] = %g lies outside the unit cube", i, u[i]);
    for (size_t i = 0; i < n; i++) {
        domain_uniform_point(dom, u + i * (size_t)dom->dimension, x + i * (size_t)dom->columns);
        domain_position(dom, x + i * (size_t)dom->columns);
    }
    return NPMD_OK;
}

void domain_position(const npmd_domain *dom, double *x)
{
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        if (m->position != NULL)
            m->position(m, x + dom->column[d], x + dom->column[d]);
    }
}

double domain_laplacian_unit(const npmd_domain *dom)
{
    const double scale = dom->factor[0]->scale;
    for (int d = 1; d < dom->factors; d++)
        if (dom->factor[d]->scale != scale)
            return 1.0;
    return scale * scale;
}

npmd_status domain_refuse_surfaces(const npmd_domain *dom, const char *what, npmd_error *err)
{
    if (!dom->surfaces)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "%s not known on a triangulated surface: %s has one", what, dom->text);
}

const char *domain_canonical(const npmd_domain *dom, double *x, int *factor)
{
    for (int d = 0; d < dom->factors; d++) {
        const char *reason = dom->factor[d]->canonical(dom->factor[d], x + dom->column[d]);
        if (reason != NULL) {
            *factor = d;
            return reason;
        }
    }
    return NULL;
}
