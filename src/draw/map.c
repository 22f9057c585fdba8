/* map.c - densities on the torus T2 as coloured squares, x1 to the right and x2 upwards, both from 0 to 2 pi.
 *
 * All panels share one colour scale, from zero to the largest density shown, so that equal colours are equal
 * densities. Between grid points the density is interpolated bilinearly, across the seam as well. */
#include "draw.h"

#include <stdio.h>

/* ---- The colour map ------------------------------------------------------------------------------------ */

/* Control points in OKLCh (Ottosson 2020), where equal distances look equal. Lightness rises evenly, so the
 * order of values survives in grey and for colour-blind eyes; hue runs violet, blue, teal, green, yellow, and
 * chroma stays within what a screen can show. */
typedef struct lch {
    double lightness, chroma, hue; /* hue in degrees */
} lch;
static const lch CONTROL[] = {
    { 0.240, 0.115, 305.0 }, { 0.355, 0.120, 283.0 }, { 0.470, 0.100, 245.0 }, { 0.585, 0.095, 200.0 },
    { 0.700, 0.135, 160.0 }, { 0.815, 0.175, 130.0 }, { 0.930, 0.180, 104.0 },
};
#define CONTROLS ((int)(sizeof CONTROL / sizeof CONTROL[0]))

/* Catmull-Rom spline through b and c, t in [0, 1]. */
static double spline(double a, double b, double c, double d, double t)
{
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
}

/* The mirror image of b in a. */
static lch lch_beyond(lch a, lch b)
{
    return (lch){ 2.0 * a.lightness - b.lightness, 2.0 * a.chroma - b.chroma, 2.0 * a.hue - b.hue };
}

/* A linear light intensity to a byte of sRGB. */
static unsigned char srgb_encode(double linear)
{
    const double l = fmin(fmax(linear, 0.0), 1.0);
    const double s = l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1.0 / 2.4) - 0.055;
    return (unsigned char)lrint(255.0 * s);
}

static colour oklch_to_srgb(lch c)
{
    const double a = c.chroma * cos(NPMD_PI / 180.0 * c.hue), b = c.chroma * sin(NPMD_PI / 180.0 * c.hue);
    const double l = pow(c.lightness + 0.3963377774 * a + 0.2158037573 * b, 3.0);
    const double m = pow(c.lightness - 0.1055613458 * a - 0.0638541728 * b, 3.0);
    const double s = pow(c.lightness - 0.0894841775 * a - 1.2914855480 * b, 3.0);
    return (colour){ srgb_encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                     srgb_encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                     srgb_encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s) };
}

colour map_colour(double t)
{
    const double u = fmin(fmax(t, 0.0), 1.0) * (CONTROLS - 1);
    const int k = u < CONTROLS - 1 ? (int)u : CONTROLS - 2;
    const lch b = CONTROL[k], c = CONTROL[k + 1];
    /* beyond the ends the path goes straight on, so that the steps there are no smaller than elsewhere */
    const lch a = k > 0 ? CONTROL[k - 1] : lch_beyond(b, c);
    const lch d = k + 2 < CONTROLS ? CONTROL[k + 2] : lch_beyond(c, b);
    return oklch_to_srgb((lch){ spline(a.lightness, b.lightness, c.lightness, d.lightness, u - k),
                                spline(a.chroma, b.chroma, c.chroma, d.chroma, u - k),
                                spline(a.hue, b.hue, c.hue, d.hue, u - k) });
}

/* ---- The picture --------------------------------------------------------------------------------------- */

/* In pixels. */
enum {
    SIDE = 480,  /* of a panel */
    LEFT = 84,   /* beside the first panel: tick labels and the name of x2 */
    TOP = 58,    /* above the panels: titles */
    BOTTOM = 72, /* below them: tick labels and the name of x1 */
    BETWEEN = 40,
    BAR_GAP = 30,
    BAR_WIDTH = 20,
    RIGHT = 44, /* beside the bar: its name; its labels come on top */
    TICK = 6,
    LABEL_GAP = 7,
    MOST_STEPS = 8 /* on the bar */
};
static const colour WHITE = { 255, 255, 255 }, AXIS = { 96, 102, 114 };
static const lettering TITLE = { 15.0, 2.0, { 38, 42, 51 } };
static const lettering NAME = { 12.0, 1.6, { 38, 42, 51 } }; /* of an axis */
static const lettering LABEL = { 11.0, 1.45, { 38, 42, 51 } };
static const char *const ANGLES[] = { "0", "\xCF\x80/2", "\xCF\x80", "3\xCF\x80/2",
                                      "2\xCF\x80" }; /* pi in UTF-8 */
#define X1 "x\xE2\x82\x81"
#define X2 "x\xE2\x82\x82"
#define RAISED_2 "\xC2\xB2"

/* f (grid, grid) at x1, x2 in [0, 1) turns. */
static double torus_bilinear(const double *f, int grid, double x1, double x2)
{
    const double u = x1 * grid, v = x2 * grid;
    const int i = (int)u % grid, j = (int)v % grid, i1 = (i + 1) % grid, j1 = (j + 1) % grid;
    const double s = u - floor(u), t = v - floor(v);
    const double *low = f + (size_t)i * (size_t)grid, *high = f + (size_t)i1 * (size_t)grid;
    return (1.0 - s) * ((1.0 - t) * low[j] + t * low[j1]) + s * ((1.0 - t) * high[j] + t * high[j1]);
}

/* A title that is wider than its panel is made smaller. */
static void title_draw(raster *r, int left, const char *text)
{
    lettering how = TITLE;
    const double width = raster_text_width(&how, text);
    if (width > SIDE) {
        how.height *= SIDE / width;
        how.thickness = fmax(how.thickness * SIDE / width, 1.0);
    }
    raster_text(r, left + 0.5 * SIDE, TOP - 18, TEXT_CENTRE, false, &how, text);
}

static void axes_draw(raster *r, int left, bool labelled)
{
    raster_frame(r, left, TOP, SIDE, SIDE, AXIS);
    for (int k = 0; k <= 4; k++) {
        const int x = left + k * SIDE / 4 - (k == 4 ? 0 : 1),
                  y = TOP + SIDE - k * SIDE / 4 - (k == 4 ? 1 : 0);
        raster_fill(r, x, TOP + SIDE + 1, 1, TICK, AXIS);
        raster_fill(r, left - 1 - TICK, y, TICK, 1, AXIS);
        raster_text(r, x + 0.5, TOP + SIDE + TICK + 19, TEXT_CENTRE, false, &LABEL, ANGLES[k]);
        if (labelled)
            raster_text(r, left - TICK - LABEL_GAP, y + 0.5 + 0.5 * LABEL.height, TEXT_RIGHT, false, &LABEL,
                        ANGLES[k]);
    }
    raster_text(r, left + 0.5 * SIDE, TOP + SIDE + 54, TEXT_CENTRE, false, &NAME, X1);
    if (labelled)
        raster_text(r, left - 58, TOP + 0.5 * SIDE, TEXT_CENTRE, true, &NAME, X2);
}

static void panel_draw(raster *r, int left, const double *f, int grid, double top_value)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double value = torus_bilinear(f, grid, (x + 0.5) / SIDE, (SIDE - y - 0.5) / SIDE);
            raster_pixel(r, left + x, TOP + y, map_colour(value / top_value));
        }
}

/* The ticks of the bar: 0, step, 2 step, ... with as many decimals as the step needs. */
typedef struct scale {
    double most, step;
    int ticks, decimals;
} scale;

/* The step is the least of 1, 2, 5 times a power of ten that needs no more than MOST_STEPS. */
static scale scale_choose(double most)
{
    const double least = most / MOST_STEPS, power = pow(10.0, floor(log10(least)));
    const double step = power
                        * (least <= power         ? 1.0
                           : least <= 2.0 * power ? 2.0
                           : least <= 5.0 * power ? 5.0
                                                  : 10.0);
    const double decimals = -floor(log10(step) + 1e-9); /* 10^-k may come out a little below itself */
    return (scale){ most, step, (int)(most / step * (1.0 + 1e-9)), (int)fmax(decimals, 0.0) };
}

static void tick_print(const scale *s, int k, char text[32])
{
    if (s->decimals > 5 || s->most >= 1e6)
        snprintf(text, 32, "%.3g", k * s->step);
    else
        snprintf(text, 32, "%.*f", k == 0 ? 0 : s->decimals, k * s->step);
    char *comma = strchr(text, ','); /* the host program's locale; pictures, like files, have points */
    if (comma != NULL)
        *comma = '.';
}

static double ticks_width(const scale *s)
{
    double width = 0.0;
    for (int k = 0; k <= s->ticks; k++) {
        char text[32];
        tick_print(s, k, text);
        width = fmax(width, raster_text_width(&LABEL, text));
    }
    return width;
}

static void bar_draw(raster *r, int left, const scale *s)
{
    for (int y = 0; y < SIDE; y++)
        raster_fill(r, left, TOP + y, BAR_WIDTH, 1, map_colour((SIDE - y - 0.5) / SIDE));
    raster_frame(r, left, TOP, BAR_WIDTH, SIDE, AXIS);
    const int labels = left + BAR_WIDTH + TICK + LABEL_GAP;
    for (int k = 0; k <= s->ticks; k++) {
        char text[32];
        const int y = TOP + SIDE - (int)lrint(k * s->step / s->most * SIDE);
        tick_print(s, k, text);
        raster_fill(r, left + BAR_WIDTH + 1, y, TICK, 1, AXIS);
        raster_text(r, labels, y + 0.5 + 0.5 * LABEL.height, TEXT_LEFT, false, &LABEL, text);
    }
    raster_text(r, labels + ticks_width(s) + 28, TOP + 0.5 * SIDE, TEXT_CENTRE, true, &NAME,
                "density per rad" RAISED_2);
}

/* The end of the colour scale. */
static npmd_status largest_find(int panels, const double *const *density, int grid, double *out,
                                npmd_error *err)
{
    double most = 0.0;
    for (int p = 0; p < panels; p++)
        for (size_t i = 0; i < (size_t)grid * (size_t)grid; i++) {
            if (!isfinite(density[p][i]))
                return npmd_fail(err, NPMD_ERR_NUMERIC,
                                 "density %g at grid point %zu of panel %d cannot be drawn", density[p][i],
                                 i + 1, p + 1);
            most = fmax(most, density[p][i]);
        }
    *out = most > 1e-300 ? most : 1.0; /* nothing but zeros is drawn as such */
    return NPMD_OK;
}

npmd_status draw_torus_maps(const char *path, int panels, const char *const *titles,
                            const double *const *density, int grid, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    raster r = { 0 };
    double most = 0.0;
    assert(panels >= 1 && panels <= 2 && grid >= 1);
    const int panels_width = panels * SIDE + (panels - 1) * BETWEEN;
    TRY(largest_find(panels, density, grid, &most, err));
    const scale s = scale_choose(most);
    const int bar = LEFT + panels_width + BAR_GAP;
    const int width = bar + BAR_WIDTH + TICK + LABEL_GAP + (int)ticks_width(&s) + RIGHT;
    TRY(raster_open(width, TOP + SIDE + BOTTOM, WHITE, &r, err));
    for (int p = 0; p < panels; p++) {
        const int left = LEFT + p * (SIDE + BETWEEN);
        panel_draw(&r, left, density[p], grid, most);
        axes_draw(&r, left, p == 0);
        title_draw(&r, left, titles[p]);
    }
    bar_draw(&r, bar, &s);
    TRY(raster_write(&r, path, err));
done:
    raster_free(&r);
    return st;
}
