/* region_api.c - public functions: densities on two surfaces integrated over regions, and end points of streamlines. */
#include "api.h"

int npmd_region_count(const npmd_labels *l)
{
    return region_count(l);
}

const char *npmd_region_name(const npmd_labels *l, int region)
{
    return region_name(l, region);
}

int npmd_region_find(const npmd_labels *l, const char *name)
{
    return region_find(l, name);
}

size_t npmd_region_vertices(const npmd_labels *l, int region)
{
    return region_vertices(l, region);
}

const char *npmd_region_what_name(int i)
{
    return region_what_name(i);
}

npmd_status npmd_region_what_parse(const char *text, npmd_region_what *what, npmd_error *err)
{
    return region_what_parse(text, what, err);
}

/* The request and how it is computed, as this version has them. */
static npmd_status request_take(const npmd_region_request *given, npmd_region_request *own, npmd_compute *how,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(SIZED_TAKE(given, own, err));
    TRY(compute_take(own->how, how, err));
    own->how = how;
done:
    return st;
}

npmd_status npmd_region_map(const npmd_model *m, const npmd_region_request *at, int factor, const int *region,
                            int regions, npmd_region_what what, double *values, npmd_region_facts *facts,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_region_request own;
    npmd_compute how;
    npmd_region_facts found = { 0 };
    TRY(SIZED_CHECK(facts, err));
    TRY(request_take(at, &own, &how, err));
    TRY(model_region_map(m, &own, factor, region, regions, what, values, &found, err));
    TRY(numbers_known("the sum over the regions", &found.probability, 1, 0, 0, err));
    if (facts != NULL)
        TRY(SIZED_GIVE(&found, facts, err));
done:
    return st;
}

npmd_status npmd_region_matrix(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                               double *values, npmd_region_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_region_request own;
    npmd_compute how;
    npmd_region_facts found = { 0 };
    TRY(SIZED_CHECK(facts, err));
    TRY(request_take(at, &own, &how, err));
    TRY(model_region_matrix(m, &own, what, values, &found, err));
    TRY(numbers_known("the sum over the regions", &found.probability, 1, 0, 0, err));
    if (facts != NULL)
        TRY(SIZED_GIVE(&found, facts, err));
done:
    return st;
}

npmd_status npmd_region_matrix_write(const npmd_region_request *at, const double *matrix, const char *path,
                                     npmd_error *err)
{
    npmd_region_request own;
    npmd_compute how;
    const npmd_status st = request_take(at, &own, &how, err);
    return st != NPMD_OK ? st : region_matrix_write(&own, matrix, path, err);
}

npmd_status npmd_region_dense(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                              const char *path, npmd_error *err)
{
    npmd_region_request own;
    npmd_compute how;
    const npmd_status st = request_take(at, &own, &how, err);
    return st != NPMD_OK ? st : model_region_dense(m, &own, what, path, err);
}

size_t npmd_region_bytes(const npmd_region_request *at)
{
    npmd_region_request own;
    npmd_compute how;
    return request_take(at, &own, &how, NULL) == NPMD_OK ? region_bytes(&own) : 0;
}

/* ---- streamlines ------------------------------------------------------------------------------------------------- */

npmd_status npmd_endpoints_find(const npmd_endpoints_request *what, npmd_endpoints **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_endpoints_request own;
    npmd_compute how;
    npmd_endpoints *found = NULL;
    TRY(SIZED_TAKE(what, &own, err));
    TRY(compute_take(own.how, &how, err));
    TRY(memory_new(&found, 1, err));
    TRY(endpoints_find(&own, how.threads, found, err));
    *out = found;
    found = NULL;
done:
    npmd_endpoints_free(found);
    return st;
}

void npmd_endpoints_free(npmd_endpoints *e)
{
    endpoints_free(e);
    memory_free(e);
}

npmd_status npmd_endpoints_facts_of(const npmd_endpoints *e, npmd_endpoints_facts *facts, npmd_error *err)
{
    return SIZED_GIVE(&e->facts, facts, err);
}

const double *npmd_endpoints_rows(const npmd_endpoints *e, npmd_pair pair)
{
    return e->x[pair];
}

const double *npmd_endpoints_weights(const npmd_endpoints *e, npmd_pair pair)
{
    return e->weight[pair];
}
