/* view.c - npmd_view: checks the request, computes the values, writes the page. */
#include "view.h"

#define POINTS_USUAL 5000

/* A surface and its sphere have the same faces; the sphere is one, about the origin. */
static npmd_status sphere_check(const mesh *cortex, const mesh *sphere, npmd_error *err)
{
    if (cortex->vertices != sphere->vertices || cortex->faces != sphere->faces
        || memcmp(cortex->face, sphere->face, 3 * cortex->faces * sizeof *cortex->face) != 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "the surface has %zu vertices and %zu faces, the sphere %zu and %zu: the same faces in "
                         "the same order were expected",
                         cortex->vertices, cortex->faces, sphere->vertices, sphere->faces);
    return sphere_radii_check(sphere, err);
}

/* Whatever the page shows is UTF-8. */
static npmd_status text_check(const char *option, const char *text, npmd_error *err)
{
    const size_t at = text == NULL ? 0 : utf8_wrong(text);
    if (at == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "%s: byte %zu is 0x%02x, which is not UTF-8: the page takes text in UTF-8 alone", option, at,
                     (unsigned)(unsigned char)text[at - 1]);
}

/* The surfaces that factors are drawn on, taken and checked. */
static npmd_status surfaces_take(view_values *v, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int s = 0; s < 2; s++) {
        const npmd_surface *cortex = v->what->surface[s], *sphere = v->what->sphere[s];
        if (cortex == NULL && sphere == NULL)
            continue;
        if (cortex == NULL || sphere == NULL)
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "a factor S2 is drawn on a surface by its registered sphere: both are needed, "
                             "one was given");
        if (s >= v->factors || v->factor[s].on->kind != FACTOR_SPHERE)
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "a surface was given for factor %d of the page, which is not S2: a model on "
                             "mesh:FILE brings its own",
                             s + 1);
        TRY(mesh_of_surface(cortex, &v->surface[s], err));
        TRY(mesh_of_surface(sphere, &v->sphere[s], err));
        TRY(sphere_check(&v->surface[s], &v->sphere[s], err));
    }
done:
    return st;
}

static void facts_fill(const view_values *v, npmd_view_facts *facts)
{
    *facts = (npmd_view_facts){ .factors = v->factors,
                                .level_error = expm1(0.5 * v->step),
                                .mass = v->mass,
                                .sum_error = v->sum_error,
                                .compared = v->compared };
    for (int s = 0; s < v->factors; s++) {
        facts->factor[s] = v->factor[s].factor + 1;
        facts->nodes[s] = v->factor[s].n;
    }
    if (v->what->data != NULL) {
        const size_t most = v->what->most_points > 0 ? v->what->most_points : POINTS_USUAL;
        facts->points = npmd_points_count(v->what->data);
        facts->points_shown = facts->points < most ? facts->points : most;
    }
}

/* Levels of a pair take a byte or more on the page, rarely less than half of one: what is far beyond that is not
 * tried. */
static npmd_status values_fit(const view_values *v, const view_page *page, npmd_error *err)
{
    const double least = 0.5 * (double)view_values_count(v);
    if ((double)page->bytes + least <= VIEW_PAGE_MOST)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "%zu x %zu nodes would take %.0f million bytes or more, a page has %d million at most: ask for "
                     "fewer `nodes`",
                     v->factor[0].n, v->factors == 2 ? v->factor[1].n : 1, least / 1e6, VIEW_PAGE_MOST / 1000000);
}

npmd_status npmd_view(const npmd_model *m, const npmd_view_request *what, const char *path, npmd_view_facts *facts,
                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_view_request own;
    npmd_compute how;
    view_values v = { 0 };
    view_page page = { 0 };
    npmd_view_facts found = { 0 };
    TRY(SIZED_TAKE(what, &own, err));
    TRY(SIZED_TAKE(own.how, &how, err));
    TRY(compute_check(&how, err));
    own.how = &how;
    what = &own;
    if (what->data != NULL)
        TRY(domains_agree(npmd_points_domain(what->data), npmd_model_domain(m), "points lie", err));
    TRY(text_check("`title`", what->title, err));
    TRY(text_check("`names`, the first", what->name[0], err));
    TRY(text_check("`names`, the second", what->name[1], err));
    TRY(page_open(&page, path, err)); /* first, so that hours are not spent on what cannot be written */
    TRY(view_values_open(&v, m, what, err));
    TRY(surfaces_take(&v, err));
    facts_fill(&v, &found);
    TRY(contents_write_shapes(&v, &page, &found, err));
    TRY(values_fit(&v, &page, err));
    TRY(view_values_compute(&v, err));
    facts_fill(&v, &found);
    TRY(contents_write_values(&v, &page, &found, err));
    TRY(page_commit(&page, err));
    found.bytes = page.bytes;
    if (facts != NULL)
        TRY(SIZED_GIVE(&found, facts, err));
done:
    page_close(&page);
    view_values_close(&v);
    return st;
}
