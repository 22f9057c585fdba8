/* domain_parse.c - products of manifolds as text: "S1^4", "T4", "S2 x S1", "s2*S2", "mesh:lh.white.gii^2".
 *
 * Grammar: factor (("x" | "*") factor)*, factor = name ["^" power]; T followed by a number is that power of S1; a
 * surface is mesh: and a path, which ends at " x ", "*", "^" or the end of the text, or is in double quotes. Case and
 * blanks do not matter outside a path. */
#include "geometry.h"

#include <ctype.h>

static const manifold *const MANIFOLDS[] = { &CIRCLE, &SPHERE };

/* Reads digits; 0 if there are none or the number is above 99. */
int domain_number(const char **at)
{
    int value = 0, digits = 0;
    for (; isdigit((unsigned char)**at); ++*at, digits++)
        value = value > 99 ? value : 10 * value + (**at - '0');
    return digits == 0 || value > 99 ? 0 : value;
}

static const manifold *parse_fixed(const char **at, int *power)
{
    *power = 1;
    if (toupper((unsigned char)**at) == 'T') {
        const char *rest = *at + 1;
        *power = domain_number(&rest);
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

#define MESH "mesh:"
#define LONGEST (NPMD_MAX_FACTORS * (1024 + 16))

static bool begins_mesh(const char *at)
{
    for (const char *c = MESH; *c != '\0'; c++, at++)
        if (tolower((unsigned char)*at) != *c)
            return false;
    return true;
}

static bool ends_path(const char *at)
{
    return *at == '\0' || *at == '*' || *at == '^'
           || (isspace((unsigned char)at[0]) && tolower((unsigned char)at[1]) == 'x' && isspace((unsigned char)at[2]));
}

/* Copies a path and closes it with a double quote; where it ends in the text, NULL if there is none. */
static const char *copy_path(const char *at, char **to)
{
    const char *first = at, *end;
    while (isspace((unsigned char)*first))
        first++;
    if (*first == '"') {
        end = strchr(++first, '"');
        at = end == NULL ? NULL : end + 1;
    } else {
        for (end = first; !ends_path(end); end++) {
        }
        at = end;
        while (end > first && isspace((unsigned char)end[-1]))
            end--;
    }
    if (at == NULL || end == first || memchr(first, '"', (size_t)(end - first)) != NULL)
        return NULL;
    memcpy(*to, first, (size_t)(end - first));
    *to += end - first;
    *(*to)++ = '"';
    return at;
}

/* The text without blanks, each path between the colon and a double quote. */
static npmd_status parse_compact(const char *text, char **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *compact = NULL, *to;
    bool factor = true; /* one may begin here */
    if (strlen(text) > LONGEST)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "domain \"%.60s...\" is too long to be one", text);
    TRY(memory_new(&compact, 2 * strlen(text) + 2, err));
    to = compact;
    for (const char *at = text; *at != '\0';) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (factor && begins_mesh(at)) {
            memcpy(to, MESH, strlen(MESH));
            to += strlen(MESH);
            at = copy_path(at + strlen(MESH), &to);
            if (at == NULL) {
                st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                               "domain \"%.60s\": the path of a surface was expected behind mesh:, with a "
                               "double quote on both sides or none",
                               text);
                goto done;
            }
            factor = false;
        } else {
            factor = *at == '*' || tolower((unsigned char)*at) == 'x';
            *to++ = *at++;
        }
    }
    *to = '\0';
    *out = compact;
    compact = NULL;
done:
    memory_free(compact);
    return st;
}

typedef struct parsing {
    const char *text, *at; /* all of it, and what is left of its compact form */
    surface_finder find;
    void *user;
    npmd_domain *domain;
    const char *path[NPMD_MAX_FACTORS]; /* of the domain's factors; NULL: no surface */
    size_t length[NPMD_MAX_FACTORS];
} parsing;

/* A surface: one that the domain has already, or a new one. *out is the caller's. */
static npmd_status parse_surface(parsing *p, const char **path, size_t *length, const manifold **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *spelling = NULL;
    *path = p->at + strlen(MESH);
    *length = strcspn(*path, "\"");
    p->at = *path + *length + 1;
    for (int d = 0; d < p->domain->factors; d++)
        if (p->path[d] != NULL && p->length[d] == *length && memcmp(p->path[d], *path, *length) == 0) {
            manifold_retain(p->domain->factor[d]);
            *out = p->domain->factor[d];
            return NPMD_OK;
        }
    TRY(memory_new(&spelling, *length + 1, err));
    memcpy(spelling, *path, *length);
    TRY(p->find(p->user, spelling, out, err));
done:
    memory_free(spelling);
    return st;
}

/* One factor with its power. */
static npmd_status parse_factor(parsing *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const manifold *m = NULL;
    const char *path = NULL;
    size_t length = 0;
    int power = 1;
    if (begins_mesh(p->at))
        TRY(parse_surface(p, &path, &length, &m, err));
    else
        m = parse_fixed(&p->at, &power);
    if (m != NULL && *p->at == '^') {
        p->at++;
        power *= domain_number(&p->at);
    }
    if (m == NULL || power < 1) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "domain \"%.60s\": found \"%.20s\" where a factor S1, S2, T<number> or mesh:<file> with "
                       "an optional ^power was expected, as in T4, S2 x S1 or S1^3",
                       p->text, p->at);
        goto done;
    }
    if (p->domain->factors + power > NPMD_MAX_FACTORS) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "domain \"%.60s\" has more than %d factors", p->text, NPMD_MAX_FACTORS);
        goto done;
    }
    while (power-- > 0) {
        p->path[p->domain->factors] = path;
        p->length[p->domain->factors] = length;
        domain_add(p->domain, m);
    }
done:
    if (path != NULL && m != NULL)
        manifold_release(m);
    return st;
}

npmd_status domain_parse(const char *text, surface_finder find, void *user, npmd_domain **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *dom = NULL;
    char *compact = NULL;
    TRY(parse_compact(text, &compact, err));
    TRY(memory_new(&dom, 1, err));
    dom->volume = 1.0;
    dom->torus = true;
    for (parsing p = { .text = text, .at = compact, .find = find, .user = user, .domain = dom };; p.at++) {
        TRY(parse_factor(&p, err));
        if (*p.at == '\0')
            break;
        if (*p.at != '*' && tolower((unsigned char)*p.at) != 'x') {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "domain \"%.60s\": found \"%.20s\" where \" x \", \"*\" or the end was expected", text,
                           p.at);
            goto done;
        }
    }
    domain_spell(dom);
    *out = dom;
    dom = NULL;
done:
    domain_free(dom);
    memory_free(compact);
    return st;
}
