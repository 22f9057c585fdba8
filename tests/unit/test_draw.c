/* test_draw.c - the canvas and its furniture: what colours, ticks, contours and projections promise, and the structure
 * of the two kinds of files. */
#include "check.h"
#include "place.h"
#include "raster.h"

#include <ctype.h>

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* Lightness is meant to be a straight line. A byte rounds sRGB by 1/510; OKLab's lightness moves with the encoded
 * channels by at most about 1.3 per unit where it is above 0.2, and no channel of the maps is cut off by more than
 * three times the rounding: 4 x 1.3 / 510 is about 0.011. */
static void colours_are_even(void **state)
{
    enum { STEPS = 64 };
    const double bound = 0.011;
    double worst = 0.0;
    (void)state;
    for (int k = 0; k <= STEPS; k++) {
        const double t = (double)k / STEPS, fold = fabs(2.0 * t - 1.0);
        worst = fmax(worst, fabs(colour_lightness(map_colour(MAP_RISING, t)) - (0.24 + 0.69 * t)));
        worst = fmax(worst, fabs(colour_lightness(map_colour(MAP_FALLING, t)) - (1.0 - 0.7 * t)));
        worst = fmax(worst, fabs(colour_lightness(map_colour(MAP_BALANCED, t)) - (0.97 - 0.61 * fold)));
    }
    check_below("lightness beside a straight line", worst, bound);
    for (int k = 0; k < STEPS; k++) { /* a step of 1/64 is 0.0108 on the rising map: the order is kept */
        assert_true(colour_lightness(map_colour(MAP_RISING, (k + 1.0) / STEPS))
                    > colour_lightness(map_colour(MAP_RISING, (double)k / STEPS)));
        assert_true(colour_lightness(map_colour(MAP_FALLING, (k + 1.0) / STEPS))
                    < colour_lightness(map_colour(MAP_FALLING, (double)k / STEPS)));
    }
}

/* ---- Ticks ------------------------------------------------------------------------------------------------------- */

static void ticks_are(const axis *a, int most, const char *wanted)
{
    char found[512] = "";
    axis_ticks t;
    axis_mark(a, most, &t);
    for (int k = 0; k < t.count; k++)
        if (t.tick[k].label[0] != 0)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", found[0] == 0 ? "" : " ",
                     t.tick[k].label);
    assert_string_equal(found, wanted);
}

static void ticks_are_round(void **state)
{
    (void)state;
    ticks_are(&(axis){ AXIS_LINEAR, 0.0, 1.0, NULL }, 5, "0 0.2 0.4 0.6 0.8 1.0");
    ticks_are(&(axis){ AXIS_LINEAR, -0.3, 0.31, NULL }, 4,
              "\xE2\x88\x92"
              "0.2 0 0.2");
    ticks_are(&(axis){ AXIS_LINEAR, 0.0, 2e6, NULL }, 2,
              "0 10\xE2\x81\xB6 2\xC3\x97"
              "10\xE2\x81\xB6");
    ticks_are(&(axis){ AXIS_PI, 0.0, TWO_PI, NULL }, 4, "0 \xCF\x80/2 \xCF\x80 3\xCF\x80/2 2\xCF\x80");
    ticks_are(&(axis){ AXIS_PI, -NPMD_PI, NPMD_PI, NULL }, 2, "\xE2\x88\x92\xCF\x80 0 \xCF\x80");
    ticks_are(&(axis){ AXIS_DEGREES, 0.0, 360.0, NULL }, 4, "0\xC2\xB0 90\xC2\xB0 180\xC2\xB0 270\xC2\xB0 360\xC2\xB0");
    ticks_are(&(axis){ AXIS_LOG, 1e-3, 10.0, NULL }, 5, "10\xE2\x81\xBB\xC2\xB3 0.01 0.1 1 10");
    ticks_are(&(axis){ AXIS_LOG, 0.9, 12.0, NULL }, 5, "1 2 5 10");
}

/* A label of any double is words; before, one of NaN was looked up in front of a table. */
static void every_number_has_words(void **state)
{
    static const struct {
        double value;
        const char *words;
    } CASES[] = { { NAN, "NaN" },
                  { -NAN, "NaN" },
                  { INFINITY, "inf" },
                  { -INFINITY, "\xE2\x88\x92"
                               "inf" },
                  { DBL_MAX, "1.8\xC3\x97"
                             "10\xC2\xB3\xE2\x81\xB0\xE2\x81\xB8" },
                  { 1e-300, "10\xE2\x81\xBB\xC2\xB3\xE2\x81\xB0\xE2\x81\xB0" } };
    char text[AXIS_LABEL];
    (void)state;
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        number_words(CASES[k].value, text);
        assert_string_equal(text, CASES[k].words);
    }
}

static void axes_hold_their_numbers(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int k = 0; k < 200; k++) {
        const double a = exp(20.0 * (test_uniform(&seed) - 0.5)), b = a * exp(8.0 * test_uniform(&seed));
        axis linear = { .kind = AXIS_LINEAR }, decades = { .kind = AXIS_LOG };
        axis_fit(&linear, -a, b);
        axis_fit(&decades, a, b);
        assert_true(linear.from <= -a && linear.to >= b && linear.to - linear.from < 1.6 * (a + b));
        assert_true(decades.from <= a && decades.to >= b);
        check_quiet("place of the ends", fabs(axis_place(&decades, decades.to) - 1.0), 1e-12);
    }
}

/* ---- Contours ---------------------------------------------------------------------------------------------------- */

typedef struct ring {
    int lines;
    double length, worst;
} ring;

#define NODES 65
#define RADIUS 20.0
static void ring_take(const spot *p, size_t count, bool closed, void *user)
{
    ring *r = user;
    r->lines++;
    assert_true(closed);
    for (size_t k = 0; k < count; k++) {
        const spot a = p[k], b = p[(k + 1) % count];
        r->length += hypot(a.x - b.x, a.y - b.y);
        r->worst = fmax(r->worst, fabs(hypot(a.x - 32.0, a.y - 32.0) - RADIUS));
    }
}

/* x^2 + y^2 along an edge of length 1 is wrong by at most 2/8 when it is taken for linear; its slope is 2 r, so the
 * radius is wrong by at most 1/(8 r). The polygon's length is then that of the circle up to the same share and up to
 * its chords. */
static void contours_follow_a_circle(void **state)
{
    double f[NODES * NODES];
    ring r = { 0 };
    npmd_error err = { 0 };
    (void)state;
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++)
            f[i * NODES + j] = (i - 32.0) * (i - 32.0) + (j - 32.0) * (j - 32.0);
    must(contour_trace(f, NODES, NODES, RADIUS * RADIUS, ring_take, &r, &err), &err);
    assert_int_equal(r.lines, 1);
    check_below("radius of the contour", r.worst, 1.0 / (8.0 * RADIUS) + 1e-12);
    check_below("its length beside 2 pi r", fabs(r.length / (TWO_PI * RADIUS) - 1.0),
                1.0 / (8.0 * RADIUS * RADIUS) + 2.0 / (24.0 * RADIUS * RADIUS) + 1e-3);
}

/* ---- Projections ------------------------------------------------------------------------------------------------- */

static void projections_come_back(void **state)
{
    uint64_t seed = 3;
    double moll = 0.0, view = 0.0;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        double p[3], q[3], towards[3];
        test_unit_vector(&seed, p);
        test_unit_vector(&seed, towards);
        const double middle = TWO_PI * test_uniform(&seed);
        const spot s = mollweide_forward(p, middle);
        assert_true(s.x * s.x / 4.0 + s.y * s.y <= 1.0 + 1e-12);
        if (mollweide_inverse(s.x * (1.0 - 1e-13), s.y * (1.0 - 1e-13), middle, q))
            for (int d = 0; d < 3; d++)
                moll = fmax(moll, fabs(p[d] - q[d]));
        spot o;
        if (orthographic_forward(p, towards, &o) && orthographic_inverse(o.x, o.y, towards, q))
            for (int d = 0; d < 3; d++)
                view = fmax(view,
                            fabs(p[d] - q[d]) * fmax(p[0] * towards[0] + p[1] * towards[1] + p[2] * towards[2], 1e-8));
    }
    /* the inverse is taken 1e-13 inside the ellipse, where near the pole the derivative by y grows like the inverse of
     * the distance from it, of which the nearest of 2000 points has about 1/40: 1e-13 x 40 x pi, and rounding */
    check_below("Mollweide and back", moll, 1e-10);
    check_below("orthographic and back, times the depth", view, 1e-15 * 16.0);
}

/* The ellipse has half of the sphere's area, everywhere: the determinant of the derivative, by central differences of
 * step 1e-5, whose error is 1e-10 times third derivatives (below 100 up to 85 degrees) and rounding 1e-11. */
static void mollweide_keeps_areas(void **state)
{
    const double h = 1e-5;
    double worst = 0.0;
    (void)state;
    for (int north = -80; north <= 80; north += 5)
        for (int east = -170; east <= 170; east += 10) {
            const double lat = north * NPMD_PI / 180.0, lon = east * NPMD_PI / 180.0;
            spot d[2];
            for (int k = 0; k < 2; k++) {
                spot s[2];
                for (int side = 0; side < 2; side++) {
                    const double a = lon + (k == 0 ? (side ? h : -h) / cos(lat) : 0.0),
                                 b = lat + (k == 1 ? (side ? h : -h) : 0.0);
                    const double p[3] = { cos(b) * cos(a), cos(b) * sin(a), sin(b) };
                    s[side] = mollweide_forward(p, 0.0);
                }
                d[k] = (spot){ (s[1].x - s[0].x) / (2.0 * h), (s[1].y - s[0].y) / (2.0 * h) };
            }
            worst = fmax(worst, fabs(d[0].x * d[1].y - d[0].y * d[1].x - 0.5));
        }
    check_below("area on paper beside half of that on the sphere", worst, 1e-7);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void picture(const char *path)
{
    npmd_error err = { 0 };
    canvas *c = NULL;
    const spot star[5] = { { 30, 10 }, { 42, 46 }, { 12, 24 }, { 48, 24 }, { 18, 46 } };
    const unsigned char block[16] = { 255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 0 };
    const stroke dashed = { .width = 1.0, .ink = INK, .dash = 3.0, .gap = 2.0, .clear = 0.25 };
    const shade h = { MAP_RISING, { AXIS_LOG, 1e-3, 1.0, "density per rad\xC2\xB2 & <so on>" }, true, true };
    const axis x = { AXIS_PI, 0.0, TWO_PI, "x\xE2\x82\x81" }, y = { AXIS_LINEAR, 0.0, 1.0, "y" };
    must(canvas_open(path, 200.0, 120.0, 100.0, &c, &err), &err);
    canvas_polygon(c, star, 5, line_colour(2), 0.5);
    canvas_polyline(c, star, 5, true, &dashed);
    canvas_image(c, (box){ 60.0, 10.0, 20.0, 20.0 }, block, 2, 2);
    canvas_clip(c, (box){ 60.0, 40.0, 10.0, 10.0 });
    canvas_frame(c, (box){ 57.0, 37.0, 16.0, 16.0 }, &STROKE_AXIS);
    canvas_clip(c, (box){ 70.0, 40.0, 10.0, 10.0 });
    canvas_discs(c, star, 5, 2.0, line_colour(0), 0.5);
    canvas_unclip(c);
    axes_draw(c, (box){ 100.0, 20.0, 40.0, 40.0 }, &x, &y, AXES_GRID);
    bar_draw(c, (box){ 160.0, 10.0, 6.0, 70.0 }, &h);
    title_draw(c, (box){ 100.0, 20.0, 40.0, 40.0 }, "a title that is much too long for its panel");
    must(canvas_write(c, &err), &err);
    canvas_free(c);
}

/* Elements of SVG 1.1 that the writer uses; each opens and closes as XML has it, and attributes are quoted. */
static void svg_is_well_made(const char *text)
{
    static const char *const KNOWN[] = { "svg",    "rect", "g",     "polygon", "polyline",
                                         "circle", "text", "image", "clipPath" };
    const char *open[16];
    int depth = 0, images = 0;
    assert_int_equal(strncmp(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ", 44), 0);
    for (const char *p = strchr(text + 5, '<'); p != NULL; p = strchr(p + 1, '<')) {
        const bool closes = p[1] == '/';
        const char *name = p + (closes ? 2 : 1), *end = strchr(p, '>');
        const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzP");
        bool known = false;
        assert_non_null(end);
        for (size_t k = 0; k < sizeof KNOWN / sizeof KNOWN[0]; k++)
            known = known || (strlen(KNOWN[k]) == length && strncmp(KNOWN[k], name, length) == 0);
        if (!known)
            fail_msg("element %.20s is not one of the writer's", name);
        images += !closes && strncmp(name, "image", 5) == 0;
        if (closes) {
            assert_true(depth > 0 && strncmp(open[depth - 1], name, length) == 0);
            depth--;
        } else if (end[-1] != '/') {
            assert_true(depth < 16);
            open[depth++] = name;
        }
        int quotes = 0;
        for (const char *q = p; q < end; q++)
            quotes += *q == '"';
        assert_true(quotes % 2 == 0);
    }
    assert_int_equal(depth, 0);
    assert_int_equal(images, 2);
    assert_non_null(strstr(text, "data:image/png;base64,iVBORw0KGgo"));
    assert_non_null(strstr(text, "&amp; &lt;so on&gt;"));
    for (const char *p = text; *p != 0; p++)
        assert_true(*p == '\n' || !iscntrl((unsigned char)*p));
}

static void svg_files(void **state)
{
    place *at = *state;
    size_t size = 0;
    picture(in_folder(at, "a.svg"));
    char *text = (char *)get_bytes(at->path, &size);
    svg_is_well_made(text);
    free(text);
    picture(in_folder(at, "b.svg"));
    assert_same_bytes(in_folder(at, "a.svg"), in_folder(at, "b.svg"));
}

/* 200 x 120 points at 100 dots an inch are 278 x 167 pixels; 100 / 0.0254 = 3937 a metre. */
static void png_files(void **state)
{
    place *at = *state;
    size_t size = 0;
    picture(in_folder(at, "a.png"));
    unsigned char *b = get_bytes(at->path, &size);
    assert_true(size > 100 && memcmp(b + 1, "PNG", 3) == 0);
    assert_int_equal(b[18] * 256 + b[19], 278);
    assert_int_equal(b[22] * 256 + b[23], 167);
    assert_memory_equal(b + 37, "pHYs", 4);
    assert_int_equal(b[43] * 256 + b[44], 3937);
    free(b);
    picture(in_folder(at, "b.png"));
    assert_same_bytes(in_folder(at, "a.png"), in_folder(at, "b.png"));
    canvas *c = NULL;
    npmd_error err = { 0 };
    assert_int_equal(canvas_open(in_folder(at, "a.jpg"), 10, 10, 100, &c, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, ".png or .svg");
}

/* A square of 10 x 10 pixels that covers half pixels at its edges has the area it should have; clipped to a half,
 * half. */
static void areas_are_covered(void **state)
{
    (void)state;
    for (int clipped = 0; clipped < 2; clipped++) {
        raster r = { 0 };
        npmd_error err = { 0 };
        double sum = 0.0;
        const spot p[4] = { { 3.5, 3.25 }, { 13.5, 3.25 }, { 13.5, 13.25 }, { 3.5, 13.25 } };
        must(raster_open(20, 20, (colour){ 255, 255, 255 }, &r, &err), &err);
        if (clipped)
            r.clip_x1 = 8.5;
        raster_polygon(&r, p, 4);
        raster_ink(&r, (colour){ 0, 0, 0 }, 0.0);
        for (int k = 0; k < 400; k++)
            sum += (255 - r.pixels[3 * k]) / 255.0;
        /* mask and pixel round by 1/510 each in up to 40 pixels of the edge */
        check_below("area in pixels", fabs(sum - (clipped ? 50.0 : 100.0)), 40.0 / 255.0);
        raster_free(&r);
    }
}

static void letters_cover_what_figures_say(void **state)
{
    (void)state;
    for (char c = ' '; c <= '~'; c++)
        assert_true(letters_know((const char[]){ c, 0 }));
    assert_true(letters_know(
        "\xCF\x84\xCF\x80\xCE\x94\xC2\xB2\xC3\x97\xE2\x88\x92\xC2\xB0\xE2\x82\x81\xE2\x81\xBB\xE2\x80\xA6"));
    assert_false(letters_know("\xE4\xB8\xAD"));
    assert_true(letters_width(10.0, "wide") > letters_width(10.0, "i"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_even),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(every_number_has_words),
        cmocka_unit_test(axes_hold_their_numbers),
        cmocka_unit_test(contours_follow_a_circle),
        cmocka_unit_test(projections_come_back),
        cmocka_unit_test(mollweide_keeps_areas),
        cmocka_unit_test(svg_files),
        cmocka_unit_test(png_files),
        cmocka_unit_test(areas_are_covered),
        cmocka_unit_test(letters_cover_what_figures_say),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
