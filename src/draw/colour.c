/* colour.c - colour maps, as paths through OKLCh (Ottosson 2020), a space in which equal distances look equal.
 *
 * Lightness is a straight line in t on every map (on both halves of the balanced one), so the order of values survives
 * in grey and for colour-blind eyes; chroma stays within what a screen can show. */
#include "draw.h"

typedef struct lch {
    double lightness, chroma, hue; /* hue in degrees */
} lch;

/* Control points at equal steps of t. */
#define MOST_CONTROLS 7
typedef struct colour_path {
    int controls;
    lch control[MOST_CONTROLS];
} colour_path;

/* Violet, blue, teal, green, yellow. */
static const colour_path RISING = { 7,
                                    { { 0.240, 0.115, 305.0 },
                                      { 0.355, 0.120, 283.0 },
                                      { 0.470, 0.100, 245.0 },
                                      { 0.585, 0.095, 200.0 },
                                      { 0.700, 0.135, 160.0 },
                                      { 0.815, 0.175, 130.0 },
                                      { 0.930, 0.180, 104.0 } } };
/* White, pale green, blue, dark violet. */
static const colour_path FALLING = { 6,
                                     { { 1.000, 0.000, 175.0 },
                                       { 0.860, 0.065, 190.0 },
                                       { 0.720, 0.100, 215.0 },
                                       { 0.580, 0.120, 240.0 },
                                       { 0.440, 0.125, 262.0 },
                                       { 0.300, 0.115, 285.0 } } };
/* Half of the balanced map each: from white to the end. */
static const colour_path COLD = {
    4, { { 0.970, 0.005, 240.0 }, { 0.767, 0.090, 240.0 }, { 0.563, 0.130, 252.0 }, { 0.360, 0.125, 262.0 } }
};
static const colour_path WARM = {
    4, { { 0.970, 0.005, 50.0 }, { 0.767, 0.115, 45.0 }, { 0.563, 0.165, 32.0 }, { 0.360, 0.135, 24.0 } }
};

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

unsigned char srgb_encode(double linear)
{
    const double l = fmin(fmax(linear, 0.0), 1.0);
    const double s = l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1.0 / 2.4) - 0.055;
    return (unsigned char)lrint(255.0 * s);
}

double srgb_decode(unsigned char byte)
{
    const double s = byte / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
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

double colour_lightness(colour c)
{
    const double r = srgb_decode(c.red), g = srgb_decode(c.green), b = srgb_decode(c.blue);
    return 0.2104542553 * cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
           + 0.7936177850 * cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
           - 0.0040720468 * cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
}

static colour path_colour(const colour_path *path, double t)
{
    const int last = path->controls - 1;
    const double u = fmin(fmax(t, 0.0), 1.0) * last;
    const int k = u < last ? (int)u : last - 1;
    const lch b = path->control[k], c = path->control[k + 1];
    /* beyond the ends the path goes straight on, so that the steps there are no smaller than elsewhere */
    const lch a = k > 0 ? path->control[k - 1] : lch_beyond(b, c);
    const lch d = k + 2 <= last ? path->control[k + 2] : lch_beyond(c, b);
    return oklch_to_srgb((lch){ spline(a.lightness, b.lightness, c.lightness, d.lightness, u - k),
                                fmax(spline(a.chroma, b.chroma, c.chroma, d.chroma, u - k), 0.0),
                                spline(a.hue, b.hue, c.hue, d.hue, u - k) });
}

colour map_colour(colour_map which, double t)
{
    if (which == MAP_RISING)
        return path_colour(&RISING, t);
    if (which == MAP_FALLING)
        return path_colour(&FALLING, t);
    return t < 0.5 ? path_colour(&COLD, 1.0 - 2.0 * t) : path_colour(&WARM, 2.0 * t - 1.0);
}

colour line_colour(int k)
{
    static const lch LINES[LINE_COLOURS] = {
        { 0.45, 0.130, 262.0 }, { 0.68, 0.160, 52.0 },  { 0.56, 0.120, 160.0 }, { 0.50, 0.190, 20.0 },
        { 0.74, 0.110, 225.0 }, { 0.48, 0.150, 320.0 }, { 0.78, 0.140, 98.0 },  { 0.40, 0.010, 260.0 },
    };
    return oklch_to_srgb(LINES[k % LINE_COLOURS]);
}
