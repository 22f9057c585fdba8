/* fuzz_draw.c - models from bytes, as a picture of either kind and as a page, all of few nodes. */
#include "fuzz_models.h"
#include "neuropmd-draw.h"

#define SECONDS 0.2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_model *m = fuzz_model(data, size);
    if (m == NULL)
        return 0;
    double x[FUZZ_POINTS * 3 * NPMD_MAX_FACTORS];
    npmd_points *pts = fuzz_points(npmd_model_domain(m), x);
    const npmd_model *const models[1] = { m };
    npmd_error err = { 0 };
    npmd_compute how = fuzz_compute(SECONDS);
    npmd_plot_request picture = { .size = sizeof picture, .model = models, .models = 1, .how = &how };
    npmd_plot_facts facts = NPMD_SIZED(npmd_plot_facts);
    npmd_view_facts shown = NPMD_SIZED(npmd_view_facts);
    npmd_view_request page = { .size = sizeof page, .nodes = 12, .accuracy = 0.1, .data = pts, .how = &how };
    picture.dpi = 20.0;
    picture.grid = 12;
    picture.data = size % 2 ? pts : NULL;
    picture.log_scale = size % 3 == 0;
    picture.what = size % 5 == 0 ? NPMD_PLOT_SPREAD : NPMD_PLOT_DENSITY;
    npmd_status st = npmd_plot(&picture, fuzz_output(size % 2 ? "f.png" : "f.svg"), &facts, &err);
    PROMISE(st == NPMD_OK || err.text[0] != 0);
    PROMISE(st != NPMD_OK || (isfinite(facts.low) && isfinite(facts.high) && !isinf(facts.mass_error)));
    npmd_plot_request choice = { .size = sizeof choice, .model = models, .models = 1, .kind = "choice", .dpi = 20.0 };
    err.text[0] = 0;
    st = npmd_plot(&choice, fuzz_output("f.svg"), &facts, &err);
    PROMISE(st == NPMD_OK || err.text[0] != 0);
    how = fuzz_compute(SECONDS);
    err.text[0] = 0;
    st = npmd_view(m, &page, fuzz_output("f.html"), &shown, &err);
    PROMISE(st == NPMD_OK || err.text[0] != 0);
    PROMISE(st != NPMD_OK || (isfinite(shown.mass) && isfinite(shown.sum_error)));
    npmd_points_free(pts);
    npmd_model_free(m);
    return 0;
}
