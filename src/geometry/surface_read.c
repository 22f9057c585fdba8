/* surface_read.c - the surfaces that a domain names: their files, eigenpairs, and the factors they become. */
#include "surface_factor.h"

#define USUAL_FREQUENCY 15 /* 256 eigenpairs */
#define NODES_A_PAIR 4     /* elements that are coarser than this know little of an eigenfunction */

static npmd_status surface_solve(mesh *m, const char *path, const surface_request *opt, const manifold **out,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    eigenpairs e = { 0 };
    float *phi = NULL;
    const int elements = opt->elements == 0 ? 1 : opt->elements;
    /* a closed surface has 3/2 edges a face, and quadratic elements a node on each */
    const size_t nodes = m->vertices + (elements == 2 ? 3 * m->faces / 2 : 0);
    const int most = (int)sqrt((double)nodes / NODES_A_PAIR) - 1,
              usual = most < USUAL_FREQUENCY ? most : USUAL_FREQUENCY,
              frequency = opt->max_frequency > 0 ? opt->max_frequency : usual;
    const bool quadratic_does = elements == 1
                                && (double)NODES_A_PAIR * (frequency + 1.0) * (frequency + 1.0)
                                       <= (double)m->vertices + 1.5 * (double)m->faces;
    if (frequency > most || frequency < 1) {
        st = npmd_fail(err, opt->max_frequency > 0 ? NPMD_ERR_ARGUMENT : NPMD_ERR_FORMAT,
                       "%s: frequency %d needs %d nodes, elements of order %d have %zu%s", path,
                       frequency < 1 ? 1 : frequency,
                       NODES_A_PAIR * ((frequency < 1 ? 1 : frequency) + 1) * ((frequency < 1 ? 1 : frequency) + 1),
                       elements, nodes, quadratic_does ? "; `elements` 2 has enough" : "");
        goto done;
    }
    const fem_watch watch = { .progress = opt->progress, .user = opt->user };
    TRY(eigenpairs_cached(m, elements, (frequency + 1) * (frequency + 1), opt->cache,
                          opt->progress != NULL ? &watch : NULL, &e, err));
    const size_t count = e.at.nodes * (size_t)e.pairs;
    TRY(memory_new(&phi, count, err));
    for (size_t i = 0; i < count; i++)
        phi[i] = (float)e.phi[i];
    double *lambda = e.lambda;
    e.lambda = NULL;
    st = surface_make(m, &e.at, e.pairs, lambda, phi, out, err);
    phi = NULL;
done:
    memory_free(phi);
    eigenpairs_free(&e);
    return st;
}

npmd_status surface_from_mesh(mesh *m, const char *where, const surface_request *opt, const manifold **out,
                              npmd_error *err)
{
    const surface_request usual = { 0 };
    const npmd_status st = mesh_check(m, where, err);
    return st != NPMD_OK ? st : surface_solve(m, where, opt != NULL ? opt : &usual, out, err);
}

static npmd_status surface_from_file(void *user, const char *path, const manifold **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mesh m = { 0 };
    TRY(mesh_read(path, &m, err));
    TRY(surface_from_mesh(&m, path, user, out, err));
done:
    mesh_free(&m);
    return st;
}

static npmd_status as_circle(void *user, const char *path, const manifold **out, npmd_error *err)
{
    (void)user, (void)path, (void)err;
    *out = &CIRCLE;
    return NPMD_OK;
}

static npmd_status as_sphere(void *user, const char *path, const manifold **out, npmd_error *err)
{
    (void)user, (void)path, (void)err;
    *out = &SPHERE;
    return NPMD_OK;
}

/* The highest of the frequencies that are given for surfaces: the factors that are what their finder says. */
static npmd_status surface_frequency(const char *text, const surface_request *opt, int *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *round = NULL, *flat = NULL;
    bool open = false;
    *out = 0;
    TRY(domain_parse(text, as_circle, NULL, &flat, err));
    TRY(domain_parse(text, as_sphere, NULL, &round, err));
    for (int d = 0; d < flat->factors && d < opt->frequencies; d++)
        if (flat->factor[d] != round->factor[d]) {
            open |= opt->frequency[d] == 0;
            *out = opt->frequency[d] > *out ? opt->frequency[d] : *out;
        }
    if (open && *out <= USUAL_FREQUENCY)
        *out = 0;
done:
    domain_free(round);
    domain_free(flat);
    return st;
}

npmd_status domain_read(const char *text, const surface_request *opt, npmd_domain **out, npmd_error *err)
{
    surface_request given = { 0 };
    if (opt != NULL)
        given = *opt;
    if (given.elements < 0 || given.elements > 2)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "elements of order %d: expected 1 or 2", given.elements);
    if (given.frequency != NULL && given.frequencies > 0) {
        const npmd_status st = surface_frequency(text, &given, &given.max_frequency, err);
        if (st != NPMD_OK)
            return st;
    }
    return domain_parse(text, surface_from_file, &given, out, err);
}
