/* test_surface_figures.c - figures of surfaces through the public request: which streamlines are drawn, densities on a
 * surface that integrate to 1, and equal bytes on any number of threads. */
#include "icosphere.h"
#include "neuropmd-draw.h"
#include "tracks.h"

/* Three streamlines: two between points of a sphere of 50 mm about the origin, and one whose end lies far inside. */
static const char *put_tracks(place *p)
{
    static const double LINES[3][3][3] = { { { 50, 0, 0 }, { 20, 20, 0 }, { 0, 50, 0 } },
                                           { { 0, 0, 50 }, { 10, 0, 20 }, { -50, 0, 0 } },
                                           { { 0, 0, -50 }, { 0, 0, -20 }, { 0, 0, -5 } } };
    track_bytes b = { 0 };
    tck_begin(&b, "Float32LE", "3");
    for (int i = 0; i < 3; i++)
        tck_line(&b, "Float32LE", 3, LINES[i]);
    tck_end(&b, "Float32LE");
    const char *path = put_bytes(p, "a.tck", b.data, b.size);
    track_free(&b);
    return path;
}

static void streamlines_that_end_on_the_surface_are_drawn(void **state)
{
    place *p = *state;
    char tracks[1024], surface[1024], out[2][1024];
    npmd_error err = { 0 };
    npmd_plot_facts facts = NPMD_SIZED(npmd_plot_facts);
    snprintf(tracks, sizeof tracks, "%s", put_tracks(p));
    snprintf(surface, sizeof surface, "%s", put_icosphere(p, "ball.off", 2, 50.0));
    snprintf(out[0], sizeof out[0], "%s", in_folder(p, "one.png"));
    snprintf(out[1], sizeof out[1], "%s", in_folder(p, "seven.png"));
    const char *const files[1] = { tracks };
    npmd_plot_surfaces surfaces = {
        .size = sizeof surfaces, .tracks = files, .track_files = 1, .surface = surface, .sphere = surface
    };
    npmd_compute how = { .size = sizeof how, .threads = 1 };
    const npmd_plot_request ask = { .size = sizeof ask, .surfaces = &surfaces, .dpi = 40.0, .how = &how };
    must(npmd_plot(&ask, out[0], &facts, &err), &err);
    assert_string_equal(facts.kind, "tracts");
    assert_int_equal(facts.data, 2);
    assert_int_equal(facts.panels, 6);
    how.threads = 7;
    must(npmd_plot(&ask, out[1], &facts, &err), &err);
    assert_same_bytes(out[0], out[1]);
    surfaces.max_distance = 1e-3; /* vertices of the ball are not at the ends, and its faces lie below the sphere */
    assert_int_equal(npmd_plot(&ask, in_folder(p, "none.png"), &facts, &err), NPMD_ERR_FORMAT);
    assert_says(&err, "none of 3 streamlines has both ends within 0.001 mm");
}

/* A uniform density on a surface and a circle: each marginal is uniform, and integrates to 1 by the areas of the
 * vertices, which is exact for a constant; the range of the colours goes from 0 to 1 / area. */
static void marginals_integrate_to_one(void **state)
{
    place *p = *state;
    char domain[1100];
    npmd_error err = { 0 };
    npmd_domain *dom = NULL, *exact = NULL;
    npmd_points *pts = NULL;
    npmd_model *model = NULL;
    npmd_surface *ball = NULL;
    npmd_options *opt = npmd_options_new();
    npmd_plot_facts facts = NPMD_SIZED(npmd_plot_facts);
    const double x[2][4] = { { 0, 0, 2, 1 }, { 0, 2, 0, 3 } };
    const char *path = put_icosphere(p, "small.off", 1, 2.0);
    snprintf(domain, sizeof domain, "mesh:%s x S1", path);
    must(npmd_surface_read(path, &ball, &err), &err);
    const npmd_surface_options few = { .size = sizeof few, .max_frequency = "1" };
    must(npmd_domain_parse_with(domain, &few, &exact, &err), &err);
    must(npmd_domain_within(exact, 1.0, &dom, &err), &err); /* the faces lie below the sphere */
    must(npmd_points_from(&x[0][0], 2, 4, dom, NPMD_COORDS_DEFAULT, &pts, &err), &err);
    must(npmd_options_set(opt, "estimator", "uniform", &err), &err);
    must(npmd_fit(dom, pts, opt, &model, &err), &err);
    const npmd_model *const models[1] = { model };
    const npmd_plot_surfaces surfaces = { .size = sizeof surfaces, .views = "+x" };
    const npmd_compute how = { .size = sizeof how, .threads = 1 };
    const npmd_plot_request ask = {
        .size = sizeof ask, .model = models, .models = 1, .surfaces = &surfaces, .data = pts, .dpi = 40.0, .how = &how
    };
    must(npmd_plot(&ask, in_folder(p, "model.svg"), &facts, &err), &err);
    assert_string_equal(facts.kind, "surface");
    assert_true(facts.mass_error < 1e-12); /* roundings of a few hundred terms */
    assert_true(fabs(facts.high * npmd_surface_area(ball) - 1.0) < 1e-12);
    assert_int_equal(facts.data, 2);
    npmd_model_free(model);
    npmd_options_free(opt);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    npmd_domain_free(exact);
    npmd_surface_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamlines_that_end_on_the_surface_are_drawn),
        cmocka_unit_test(marginals_integrate_to_one),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
