/* furniture.c - what figures have in common: axes, colour bars, legends, titles, panels.
 *
 * Letters are 7 to 9 points high: a picture of 85 mm (a column) or 180 mm (a page) is meant to be printed at its
 * size. */
#include "draw.h"

#include <stdio.h>

const colour INK = { 38, 42, 51 }, PAPER = { 255, 255, 255 };
const lettering LETTER_TITLE = { 8.5, { 38, 42, 51 }, true };
const lettering LETTER_NAME = { 8.0, { 38, 42, 51 }, false };
const lettering LETTER_LABEL = { 7.0, { 38, 42, 51 }, false };
const lettering LETTER_SMALL = { 6.0, { 38, 42, 51 }, false };
const stroke STROKE_AXIS = { .width = 0.6, .ink = { 84, 90, 101 } };
const stroke STROKE_GRID = { .width = 0.4, .ink = { 84, 90, 101 }, .clear = 0.8 };

#define TICK 2.6
#define SMALL_TICK 1.5
#define LABEL_GAP 2.4
#define NAME_GAP 4.0
#define ROW 1.25       /* height of a row of text, in font sizes */
#define BETWEEN_X 28.0 /* points that a label takes along x and along y, about */
#define BETWEEN_Y 20.0

static int ticks_along(double length, double each)
{
    return (int)fmin(fmax(length / each, length > 40.0 ? 4.0 : 2.0), 8.0);
}

static double capital(const lettering *how)
{
    return TEXT_CAPITAL * how->size;
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

static double labels_width(const axis_ticks *t)
{
    double width = 0.0;
    for (int k = 0; k < t->count; k++)
        width = fmax(width, canvas_text_width(&LETTER_LABEL, t->tick[k].label));
    return width;
}

margins axes_margins(box at, const axis *x, const axis *y, unsigned parts)
{
    axis_ticks t;
    margins m = { 0.0, 0.0, 0.0, 0.0 };
    const double name = NAME_GAP + 1.1 * capital(&LETTER_NAME);
    axis_mark(y, ticks_along(at.height, BETWEEN_Y), &t);
    double side = parts & AXES_NO_Y_LABELS ? 0.0 : TICK + LABEL_GAP + labels_width(&t);
    side += y->name == NULL || parts & AXES_NO_Y_NAME ? 0.0 : name;
    if (parts & AXES_RIGHT) {
        m.right = side;
        return m;
    }
    m.left = side;
    axis_mark(x, ticks_along(at.width, BETWEEN_X), &t);
    m.bottom = parts & AXES_NO_X_LABELS ? 0.0 : TICK + LABEL_GAP + capital(&LETTER_LABEL);
    m.bottom += x->name == NULL || parts & AXES_NO_X_NAME ? 0.0 : name + 0.25 * LETTER_NAME.size;
    m.top = 0.5 * capital(&LETTER_LABEL);
    m.right = t.count > 0 && !(parts & AXES_NO_X_LABELS)
                  ? fmax(0.5 * canvas_text_width(&LETTER_LABEL, t.tick[t.count - 1].label)
                             - (1.0 - axis_place(x, t.tick[t.count - 1].value)) * at.width,
                         0.0)
                  : 0.0;
    return m;
}

spot axes_spot(box at, const axis *x, const axis *y, double x_value, double y_value)
{
    return (spot){ at.x + at.width * axis_place(x, x_value), at.y + at.height * (1.0 - axis_place(y, y_value)) };
}

/* The label at the end of an axis may be unwanted. */
static bool label_wanted(const axis *a, double value, bool no_end)
{
    return !no_end || axis_place(a, value) < 0.97;
}

static void x_axis_draw(canvas *c, box at, const axis *a, unsigned parts)
{
    axis_ticks t;
    const double bottom = at.y + at.height;
    axis_mark(a, ticks_along(at.width, BETWEEN_X), &t);
    for (int k = 0; k < t.count; k++) {
        const double x = at.x + at.width * axis_place(a, t.tick[k].value);
        const bool small = t.tick[k].label[0] == 0;
        canvas_line(c, x, bottom, x, bottom + (small ? SMALL_TICK : TICK), &STROKE_AXIS);
        if (parts & AXES_GRID && !small)
            canvas_line(c, x, at.y, x, bottom, &STROKE_GRID);
        if (!(parts & AXES_NO_X_LABELS) && label_wanted(a, t.tick[k].value, parts & AXES_NO_X_END))
            canvas_text(c, x, bottom + TICK + LABEL_GAP + capital(&LETTER_LABEL), TEXT_CENTRE, 0.0, &LETTER_LABEL,
                        t.tick[k].label);
    }
    if (a->name == NULL || parts & AXES_NO_X_NAME)
        return;
    const double labels = parts & AXES_NO_X_LABELS ? TICK : TICK + LABEL_GAP + capital(&LETTER_LABEL);
    text_fit(c, at.x + 0.5 * at.width, bottom + labels + NAME_GAP + capital(&LETTER_NAME), TEXT_CENTRE, 0.0,
             &LETTER_NAME, at.width, a->name);
}

static void y_axis_draw(canvas *c, box at, const axis *a, unsigned parts)
{
    axis_ticks t;
    const bool right = (parts & AXES_RIGHT) != 0;
    const double side = right ? 1.0 : -1.0, edge = at.x + (right ? at.width : 0.0);
    axis_mark(a, ticks_along(at.height, BETWEEN_Y), &t);
    for (int k = 0; k < t.count; k++) {
        const double y = at.y + at.height * (1.0 - axis_place(a, t.tick[k].value));
        const bool small = t.tick[k].label[0] == 0;
        canvas_line(c, edge, y, edge + side * (small ? SMALL_TICK : TICK), y, &STROKE_AXIS);
        if (parts & AXES_GRID && !small && !right)
            canvas_line(c, at.x, y, at.x + at.width, y, &STROKE_GRID);
        if (!(parts & AXES_NO_Y_LABELS) && label_wanted(a, t.tick[k].value, parts & AXES_NO_Y_END))
            canvas_text(c, edge + side * (TICK + LABEL_GAP), y + 0.5 * capital(&LETTER_LABEL),
                        right ? TEXT_LEFT : TEXT_RIGHT, 0.0, &LETTER_LABEL, t.tick[k].label);
    }
    if (a->name == NULL || parts & AXES_NO_Y_NAME)
        return;
    const double labels = parts & AXES_NO_Y_LABELS ? TICK : TICK + LABEL_GAP + labels_width(&t);
    text_fit(c, edge + side * (labels + NAME_GAP) + (right ? capital(&LETTER_NAME) : 0.0), at.y + 0.5 * at.height,
             TEXT_CENTRE, 90.0, &LETTER_NAME, at.height, a->name);
}

void axes_draw(canvas *c, box at, const axis *x, const axis *y, unsigned parts)
{
    if (!(parts & AXES_RIGHT)) {
        x_axis_draw(c, at, x, parts);
        canvas_frame(c, at, &STROKE_AXIS);
    }
    y_axis_draw(c, at, y, parts);
}

/* ---- Colour bars ------------------------------------------------------------------------------------------------- */

colour shade_colour(const shade *s, double value)
{
    return map_colour(s->map, axis_place(&s->scale, value));
}

static bool bar_lies(box at)
{
    return at.width > at.height;
}

double bar_room(box at, const shade *s)
{
    axis_ticks t;
    const double name = s->scale.name == NULL ? 0.0 : NAME_GAP + 1.25 * capital(&LETTER_NAME);
    if (bar_lies(at))
        return TICK + LABEL_GAP + capital(&LETTER_LABEL) + (name > 0.0 ? name + 0.2 * LETTER_NAME.size : 0.0);
    axis_mark(&s->scale, ticks_along(at.height, BETWEEN_Y), &t);
    return TICK + LABEL_GAP + labels_width(&t) + name;
}

/* The colours as an image of one row or column; a pixel a level of the bytes is finer than the eye. */
#define BAR_LEVELS 256
static void bar_fill(canvas *c, box at, const shade *s)
{
    unsigned char rgba[4 * BAR_LEVELS];
    const bool lies = bar_lies(at);
    for (int k = 0; k < BAR_LEVELS; k++) {
        const int level = lies ? k : BAR_LEVELS - 1 - k;
        const colour ink = map_colour(s->map, (level + 0.5) / BAR_LEVELS);
        const unsigned char pixel[4] = { ink.red, ink.green, ink.blue, 255 };
        memcpy(rgba + 4 * k, pixel, 4);
    }
    canvas_image(c, at, rgba, lies ? BAR_LEVELS : 1, lies ? 1 : BAR_LEVELS);
}

/* A triangle outside the box, at the end beyond which there are values. */
static void bar_tip(canvas *c, box at, const shade *s, bool above)
{
    const double l = at.x, r = at.x + at.width, t = at.y, b = at.y + at.height, along = above ? 0.8 : -0.8;
    const double x = above ? r : l, y = above ? t : b;
    const spot lying[3] = { { x, t }, { x, b }, { x + along * at.height, 0.5 * (t + b) } };
    const spot upright[3] = { { l, y }, { r, y }, { 0.5 * (l + r), y - along * at.width } };
    canvas_polygon(c, bar_lies(at) ? lying : upright, 3, map_colour(s->map, above ? 1.0 : 0.0), 0.0);
    canvas_polyline(c, bar_lies(at) ? lying : upright, 3, true, &STROKE_AXIS);
}

void bar_draw(canvas *c, box at, const shade *s)
{
    bar_fill(c, at, s);
    if (s->above)
        bar_tip(c, at, s, true);
    if (s->below)
        bar_tip(c, at, s, false);
    canvas_frame(c, at, &STROKE_AXIS);
    if (bar_lies(at))
        x_axis_draw(c, at, &s->scale, 0);
    else
        y_axis_draw(c, at, &s->scale, AXES_RIGHT);
}

/* ---- Legends, titles, panels ------------------------------------------------------------------------------------- */

#define SAMPLE 14.0 /* length of a line in a legend */
#define LEGEND_EDGE 3.0

box legend_size(const legend_row *row, int rows)
{
    double width = 0.0;
    for (int k = 0; k < rows; k++)
        width = fmax(width, canvas_text_width(&LETTER_LABEL, row[k].label));
    return (box){ .width = width + SAMPLE + 4.0 + 2.0 * LEGEND_EDGE,
                  .height = rows * ROW * LETTER_LABEL.size + 2.0 * LEGEND_EDGE - 0.3 * LETTER_LABEL.size };
}

void legend_draw(canvas *c, box at, int corner, const legend_row *row, int rows)
{
    const double away = 3.0; /* from the frame */
    box b = legend_size(row, rows);
    b.x = corner % 2 == 0 ? at.x + away : at.x + at.width - away - b.width;
    b.y = corner < 2   ? at.y + away
          : corner < 4 ? at.y + at.height - away - b.height
                       : at.y + 0.5 * (at.height - b.height);
    canvas_box(c, b, PAPER, 0.15);
    for (int k = 0; k < rows; k++) {
        const double y = b.y + LEGEND_EDGE + ROW * LETTER_LABEL.size * k + capital(&LETTER_LABEL);
        const double middle = y - 0.5 * capital(&LETTER_LABEL), x = b.x + LEGEND_EDGE;
        const spot centre = { x + 0.5 * SAMPLE, middle };
        if (row[k].line.width > 0.0)
            canvas_line(c, x, middle, x + SAMPLE, middle, &row[k].line);
        if (row[k].disc > 0.0)
            canvas_discs(c, &centre, 1, row[k].disc, row[k].line.ink, row[k].line.clear);
        canvas_text(c, x + SAMPLE + 4.0, y, TEXT_LEFT, 0.0, &LETTER_LABEL, row[k].label);
    }
}

void text_fit(canvas *c, double x, double y, text_place place, double turned, const lettering *how, double width,
              const char *text)
{
    enum { MOST = 256 };
    char cut[MOST + 4];
    lettering fitted = *how;
    const double full = canvas_text_width(how, text);
    fitted.size = full > width ? fmax(how->size * width / full, how->size * 2.0 / 3.0) : how->size;
    text_copy(cut, sizeof cut - 3, text);
    /* takes whole characters off the end; the bytes within one begin with 10 */
    for (size_t n = strlen(cut); n > 1 && canvas_text_width(&fitted, cut) > width * (1.0 + 1e-9);) {
        do
            n--;
        while (n > 0 && ((unsigned char)cut[n] & 0xC0) == 0x80);
        snprintf(cut + n, sizeof cut - n, "\xE2\x80\xA6");
    }
    canvas_text(c, x, y, place, turned, &fitted, cut);
}

void title_draw(canvas *c, box over, const char *text)
{
    text_fit(c, over.x + 0.5 * over.width, over.y - 4.0, TEXT_CENTRE, 0.0, &LETTER_TITLE, over.width, text);
}

box panel_box(const panel_grid *g, int k)
{
    return (box){ g->x + (k % g->columns) * (g->width + g->between_x),
                  g->y + (double)(k / g->columns) * (g->height + g->between_y), g->width, g->height };
}
