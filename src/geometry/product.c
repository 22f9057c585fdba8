/* product.c - products of manifolds: "S1^4", "T4", "S2 x S1", "s2*S2".
 *
 * Grammar: factor (("x" | "*") factor)*, factor = name ["^" power]; T followed by a number is that power of
 * S1. Case and blanks do not matter. */
#include "geometry.h"

#include <ctype.h>
#include <stdio.h>

static const manifold *const MANIFOLDS[] = { &CIRCLE, &SPHERE };

/* Reads digits; 0 if there are none or the number is above 99. */
static int parse_number(const char **at)
{
    int value = 0, digits = 0;
    for (; isdigit((unsigned char)**at); ++*at, digits++)
        value = value > 99 ? value : 10 * value + (**at - '0');
    return digits == 0 || value > 99 ? 0 : value;
}

static const manifold *parse_name(const char **at, int *power)
{
    *power = 1;
    if (toupper((unsigned char)**at) == 'T') {
        const char *rest = *at + 1;
        *power = parse_number(&rest);
        if (*power == 0)
            return NULL;
        *at = rest;
        return &CIRCLE;
    }
    for (size_t i = 0; i < sizeof MANIFOLDS / sizeof *MANIFOLDS; i++) {
        const char *name = MANIFOLDS[i]->name, *rest = *at;
        while (*name != '\0' && toupper((unsigned char)*rest) == *name)
            name++, rest++;
        if (*name == '\0' && !isdigit((unsigned char)*rest)) {
            *at = rest;
            return MANIFOLDS[i];
        }
    }
    return NULL;
}

static void manifold_retain(const manifold *m)
{
    if (m->retain != NULL)
        m->retain(m);
}

static void domain_add(npmd_domain *dom, const manifold *m)
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
}

/* The canonical spelling: runs of equal factors become powers. */
static void domain_spell(npmd_domain *dom)
{
    size_t used = 0;
    for (int d = 0; d < dom->factors;) {
        int run = 1;
        while (d + run < dom->factors && dom->factor[d + run] == dom->factor[d])
            run++;
        used += (size_t)snprintf(dom->text + used, sizeof dom->text - used, "%s%s", d == 0 ? "" : " x ",
                                 dom->factor[d]->name);
        if (run > 1)
            used += (size_t)snprintf(dom->text + used, sizeof dom->text - used, "^%d", run);
        d += run;
    }
}

npmd_status npmd_domain_parse(const char *text, npmd_domain **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    char compact[256];
    size_t size = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (isspace((unsigned char)*c))
            continue;
        if (size + 1 == sizeof compact)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "domain \"%.60s...\" is too long to be one", text);
        compact[size++] = *c;
    }
    compact[size] = '\0';
    TRY(memory_new(&dom, 1, err));
    dom->volume = 1.0;
    dom->torus = true;
    for (const char *at = compact;;) {
        int power = 1;
        const manifold *m = parse_name(&at, &power);
        if (m != NULL && *at == '^') {
            at++;
            power *= parse_number(&at);
        }
        if (m == NULL || power < 1) {
            st = npmd_fail(
                err, NPMD_ERR_ARGUMENT,
                "domain \"%.60s\": found \"%.20s\" where a factor S1, S2 or T<number> with an optional ^power "
                "was expected, as in T4, S2 x S1 or S1^3",
                text, at);
            goto done;
        }
        if (dom->factors + power > NPMD_MAX_FACTORS) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT, "domain \"%.60s\" has more than %d factors", text,
                           NPMD_MAX_FACTORS);
            goto done;
        }
        while (power-- > 0)
            domain_add(dom, m);
        if (*at == '\0')
            break;
        if (*at != '*' && tolower((unsigned char)*at) != 'x') {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "domain \"%.60s\": found \"%.20s\" where \" x \", \"*\" or the end was expected",
                           text, at);
            goto done;
        }
        at++;
    }
    domain_spell(dom);
    *out = dom;
    dom = NULL;
done:
    npmd_domain_free(dom);
    return st;
}

npmd_status npmd_factors_parse(const char *text, const npmd_domain *dom, unsigned *factors, npmd_error *err)
{
    unsigned found = 0;
    const char *at = text;
    for (bool more = true; more; at++) {
        const int number = isdigit((unsigned char)*at) ? parse_number(&at) : 0;
        const bool known = number >= 1 && number <= dom->factors, twice = known && found >> (number - 1) & 1u;
        more = *at == ',';
        if (!known || twice || (!more && *at != '\0'))
            return npmd_fail(
                err, NPMD_ERR_ARGUMENT,
                "factors \"%.40s\": numbers from 1 to %d, each once, separated by commas were expected, "
                "as in 1,%d",
                text, dom->factors, dom->factors);
        found |= 1u << (number - 1);
    }
    *factors = found;
    return NPMD_OK;
}

npmd_status npmd_domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out, npmd_error *err)
{
    npmd_domain *part = NULL;
    if (factors == 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "all factors of %s are given; at least one must remain",
                         dom->text);
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

void npmd_domain_free(npmd_domain *dom)
{
    for (int d = 0; dom != NULL && d < dom->factors; d++)
        if (dom->factor[d]->release != NULL)
            dom->factor[d]->release(dom->factor[d]);
    memory_free(dom);
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

npmd_status npmd_domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x, npmd_error *err)
{
    for (size_t i = 0; i < n * (size_t)dom->dimension; i++)
        if (!(u[i] >= 0.0 && u[i] <= 1.0))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "u[%zu] = %g lies outside the unit cube", i, u[i]);
    for (size_t i = 0; i < n; i++)
        domain_uniform_point(dom, u + i * (size_t)dom->dimension, x + i * (size_t)dom->columns);
    return NPMD_OK;
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
