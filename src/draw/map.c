/* map.c - densities on T2 side by side. */
#include "draw.h"

npmd_status draw_torus_maps(const char *path, int panels, const char *const *titles,
                            const double *const *density, int grid, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    canvas *c = NULL;
    unsigned char *rgba = NULL;
    double most = 0.0;
    const size_t side = (size_t)grid;
    for (int p = 0; p < panels; p++)
        for (size_t i = 0; i < side * side; i++)
            most = fmax(most, density[p][i]);
    const shade s = {
        MAP_RISING, { AXIS_LINEAR, 0.0, most > 1e-300 ? most : 1.0, "density per rad\xC2\xB2" }, false, false
    };
    const axis x = { AXIS_PI, 0.0, TWO_PI, "x\xE2\x82\x81" }, y = { AXIS_PI, 0.0, TWO_PI, "x\xE2\x82\x82" };
    const panel_grid g = { 34.0, 20.0, 150.0, 150.0, 14.0, 0.0, panels };
    TRY(memory_new(&rgba, 4 * side * side, err));
    TRY(canvas_open(path, 34.0 + panels * 164.0 + 60.0, 204.0, CANVAS_DPI, &c, err));
    for (int p = 0; p < panels; p++) {
        for (size_t i = 0; i < side; i++)
            for (size_t j = 0; j < side; j++) {
                const colour ink = shade_colour(&s, density[p][i * side + j]);
                const unsigned char pixel[4] = { ink.red, ink.green, ink.blue, 255 };
                memcpy(rgba + 4 * ((side - 1 - j) * side + i), pixel, 4);
            }
        canvas_image(c, panel_box(&g, p), rgba, grid, grid);
        axes_draw(c, panel_box(&g, p), &x, &y, p > 0 ? AXES_NO_Y_LABELS | AXES_NO_Y_NAME : 0);
        title_draw(c, panel_box(&g, p), titles[p]);
    }
    bar_draw(c, (box){ 34.0 + panels * 164.0, 20.0, 8.0, 150.0 }, &s);
    TRY(canvas_write(c, err));
done:
    canvas_free(c);
    memory_free(rgba);
    return st;
}
