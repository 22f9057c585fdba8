/* relief_page.c - views of surfaces laid out in rows and columns.
 *
 * Panels of one group have one scale, that of the widest of them; a row is as high as its highest panel. Names of views
 * are below them, titles above the columns, and a colour bar below each column, or one at the right. */
#include "relief.h"

/* In points. */
static const double EDGE = 6.0, BETWEEN = 12.0, NAME_ROOM = 12.0, TITLE_ROOM = 15.0, BAR = 7.0, BAR_GAP = 14.0;

typedef struct layout {
    const relief_page *page;
    double scale[RELIEF_GROUPS]; /* points a unit of length */
    double top;                  /* of the first row */
    double body;                 /* height of all rows */
    double width, height;        /* of the page */
} layout;

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

typedef struct extent {
    double low[2], high[2];
} extent;

static extent panel_extent(const relief_panel *p)
{
    extent e;
    if (p->radius > 0.0) {
        relief_extent(p->centre, 1, &p->view, e.low, e.high);
        for (int k = 0; k < 2; k++) { /* a little wider than high, as pages are */
            e.low[k] -= p->radius * (k == 0 ? 1.0 : 0.75);
            e.high[k] += p->radius * (k == 0 ? 1.0 : 0.75);
        }
    } else {
        relief_extent(p->scene->x, p->scene->vertices, &p->view, e.low, e.high);
    }
    return e;
}

static const relief_panel *panel_at(const relief_page *page, int row, int column)
{
    return &page->panel[row * page->columns + column];
}

static void scales_find(layout *l)
{
    const relief_page *page = l->page;
    double widest[RELIEF_GROUPS] = { 0.0 };
    for (int k = 0; k < page->rows * page->columns; k++)
        if (page->panel[k].scene != NULL) {
            const extent e = panel_extent(&page->panel[k]);
            const int group = page->panel[k].group;
            widest[group] = fmax(widest[group], e.high[0] - e.low[0]);
        }
    for (int g = 0; g < RELIEF_GROUPS; g++) {
        const double share = page->share[g] > 0.0 ? page->share[g] : 1.0;
        l->scale[g] = widest[g] > 0.0 ? share * page->cell / widest[g] : 1.0;
    }
}

static double row_height(const layout *l, int row)
{
    double height = 0.0;
    for (int k = 0; k < l->page->columns; k++) {
        const relief_panel *p = panel_at(l->page, row, k);
        if (p->scene == NULL)
            continue;
        const extent e = panel_extent(p);
        height = fmax(height, (e.high[1] - e.low[1]) * l->scale[p->group] + (p->name ? NAME_ROOM : 0.0));
    }
    return height;
}

static bool bars_lie(const relief_page *page)
{
    return page->bar_count > 1 || (page->bar_count == 1 && page->columns == 1);
}

/* The bars below the columns: where the k-th stands, given the upper edge of all. */
static box bar_lying(const relief_page *page, int k, double top)
{
    const double indent = 0.1 * page->cell;
    return (box){ EDGE + k * (page->cell + BETWEEN) + indent, top, page->cell - 2.0 * indent, BAR };
}

static box bar_upright(const layout *l)
{
    const double left = EDGE + l->page->columns * (l->page->cell + BETWEEN) + 0.3 * BETWEEN;
    const double height = fmin(l->body, 170.0);
    return (box){ left, l->top + 0.5 * (l->body - height), BAR, height };
}

static double bars_height(const relief_page *page)
{
    double height = 0.0;
    for (int k = 0; bars_lie(page) && k < page->bar_count; k++)
        height = fmax(height, BAR_GAP + BAR + bar_room(bar_lying(page, k, 0.0), &page->bars[k]));
    return height;
}

static void layout_make(layout *l)
{
    const relief_page *page = l->page;
    scales_find(l);
    l->top = EDGE + page->head + (page->titles ? TITLE_ROOM : 0.0);
    l->body = (page->rows - 1) * BETWEEN;
    for (int row = 0; row < page->rows; row++)
        l->body += row_height(l, row);
    l->width = 2.0 * EDGE + page->columns * page->cell + (page->columns - 1) * BETWEEN;
    if (page->bar_count == 1 && !bars_lie(page)) {
        const box at = bar_upright(l);
        l->width = at.x + at.width + bar_room(at, &page->bars[0]) + EDGE;
    }
    l->height = l->top + l->body + bars_height(page) + page->foot + EDGE;
    if (page->legend_rows > 0) {
        const box legend = legend_size(page->legend, page->legend_rows);
        l->height += legend.height + 6.0;
        l->width = fmax(l->width, legend.width + 2.0 * EDGE);
    }
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* The surface in the middle of a box; a rim about it leaves room for lines and points at its edge. */
static npmd_status panel_draw(canvas *c, const relief_panel *p, double scale, box at, int threads, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    relief_image image = { 0 };
    const extent e = panel_extent(p);
    const double rim = p->radius > 0.0 ? 0.0 : 4.0, point = canvas_pixels(c, 720.0) / 720.0;
    const double width = (e.high[0] - e.low[0]) * scale + 2.0 * rim;
    const double height = (e.high[1] - e.low[1]) * scale + 2.0 * rim;
    relief_window w = {
        .scale = scale * point, .width = canvas_pixels(c, width), .height = canvas_pixels(c, height), .point = point
    };
    w.left = 0.5 * (e.low[0] + e.high[0]) - 0.5 * w.width / w.scale;
    w.top = 0.5 * (e.low[1] + e.high[1]) + 0.5 * w.height / w.scale;
    TRY(relief_render(p->scene, &p->view, &w, threads, &image, err));
    const box place = { at.x + 0.5 * (at.width - w.width / point), at.y + 0.5 * (at.height - w.height / point),
                        w.width / point, w.height / point };
    canvas_image(c, place, image.rgba, image.width, image.height);
    if (p->radius > 0.0)
        canvas_frame(c, place, &STROKE_AXIS);
    if (p->name != NULL)
        canvas_text(c, at.x + 0.5 * at.width, at.y + at.height + 0.75 * NAME_ROOM, TEXT_CENTRE, 0.0, &LETTER_LABEL,
                    p->name);
done:
    relief_image_free(&image);
    return st;
}

static npmd_status rows_draw(const layout *l, canvas *c, int threads, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const relief_page *page = l->page;
    double y = l->top;
    for (int row = 0; row < page->rows; row++) {
        const double height = row_height(l, row);
        for (int k = 0; k < page->columns; k++) {
            const relief_panel *p = panel_at(page, row, k);
            const box at = { EDGE + k * (page->cell + BETWEEN), y, page->cell, height - (p->name ? NAME_ROOM : 0.0) };
            if (p->scene != NULL)
                TRY(panel_draw(c, p, l->scale[p->group], at, threads, err));
        }
        y += height + BETWEEN;
    }
done:
    return st;
}

static void words_draw(const layout *l, canvas *c)
{
    const relief_page *page = l->page;
    const double below = l->top + l->body + BAR_GAP;
    for (int k = 0; page->titles != NULL && k < page->columns; k++)
        text_fit(c, EDGE + k * (page->cell + BETWEEN) + 0.5 * page->cell, l->top - 0.3 * TITLE_ROOM, TEXT_CENTRE, 0.0,
                 &LETTER_TITLE, page->cell, page->titles[k]);
    for (int k = 0; k < page->bar_count; k++)
        bar_draw(c, bars_lie(page) ? bar_lying(page, k, below) : bar_upright(l), &page->bars[k]);
    if (page->legend_rows > 0) {
        const box size = legend_size(page->legend, page->legend_rows);
        const box at = { EDGE, l->height - EDGE - page->foot - size.height, size.width, size.height };
        legend_draw(c, at, 0, page->legend, page->legend_rows);
    }
}

void relief_page_size(const relief_page *page, double *width, double *height)
{
    layout l = { .page = page };
    layout_make(&l);
    *width = l.width;
    *height = l.height;
}

npmd_status relief_page_draw(const relief_page *page, canvas *c, int threads, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    layout l = { .page = page };
    layout_make(&l);
    TRY(rows_draw(&l, c, threads, err));
    words_draw(&l, c);
done:
    return st;
}
