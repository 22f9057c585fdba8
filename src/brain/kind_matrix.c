/* kind_matrix.c - a matrix of regions by regions as coloured cells with the names of rows and columns.
 *
 * The file is what marginal --matrix writes: .csv with the names in its first row and column, or the numbers alone.
 * Masses of connections differ by powers of ten, so colours are on a log scale unless the request says otherwise; a
 * zero has the colour of the paper. */
#include "brain.h"
#include "io.h"

#include <locale.h>
#include <stdio.h>
#include <strings.h>

enum { NAMES_MOST = 1024 };

typedef struct matrix {
    int rows, columns;
    double *cell;         /* (rows, columns) */
    char **row, **column; /* names; NULL: there are none */
} matrix;

static void matrix_free(matrix *m)
{
    for (int i = 0; m->row != NULL && i < m->rows; i++)
        memory_free(m->row[i]);
    for (int i = 0; m->column != NULL && i < m->columns; i++)
        memory_free(m->column[i]);
    memory_free_all(m->row, m->column, m->cell);
    *m = (matrix){ 0 };
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The next field of a line, in quotes or not; *at stands behind its comma. false: the line is over. */
static bool field_take(const char **at, char *out, size_t room)
{
    const char *p = *at;
    size_t size = 0;
    if (*p == 0 || *p == '\n' || *p == '\r')
        return false;
    const bool quoted = *p == '"';
    for (p += quoted; *p != 0 && *p != '\n' && *p != '\r'; p++) {
        if (quoted && *p == '"' && p[1] != '"') {
            p++;
            break;
        }
        if (!quoted && *p == ',')
            break;
        p += quoted && *p == '"';
        if (size + 1 < room)
            out[size++] = *p;
    }
    out[size] = 0;
    while (*p != 0 && *p != ',' && *p != '\n' && *p != '\r')
        p++;
    *at = p + (*p == ',');
    return true;
}

static bool field_is_number(const char *field) /* digits begin one, in any locale */
{
    field += strspn(field, "+-. ");
    return *field >= '0' && *field <= '9';
}

static const char *line_after(const char *p)
{
    p += strcspn(p, "\n");
    return *p == '\n' ? p + 1 : p;
}

static int fields_count(const char *line)
{
    char field[256];
    int count = 0;
    while (field_take(&line, field, sizeof field))
        count++;
    return count;
}

static npmd_status row_take(const char *path, const char *line, int number, locale_t c, matrix *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char field[256];
    if (fields_count(line) != m->columns + 1)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s row %d has %d fields, expected a name and %d numbers", path, number + 2,
                      fields_count(line), m->columns));
    field_take(&line, field, sizeof field);
    TRY(memory_text(&m->row[number], field, err));
    for (int k = 0; k < m->columns; k++) {
        char *stop = NULL;
        field_take(&line, field, sizeof field);
        const double value = strtod_l(field, &stop, c);
        if (stop == field || *stop != 0 || !isfinite(value))
            TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s row %d, column %d: '%.40s' is no number", path, number + 2, k + 2,
                          field));
        m->cell[number * m->columns + k] = value;
    }
done:
    return st;
}

/* Names in the first row and column. */
static npmd_status named_read(const char *path, const char *text, matrix *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char field[256];
    const char *at = text;
    const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* whatever the host program has set */
    if (c == (locale_t)0)
        return npmd_fail(err, NPMD_ERR_MEMORY, "%s: no memory for the C locale", path);
    m->columns = fields_count(text) - 1;
    for (const char *p = line_after(text); *p != 0; p = line_after(p))
        m->rows += *p != '\n' && *p != '\r';
    if (m->columns < 1 || m->rows < 1 || m->columns > NAMES_MOST || m->rows > NAMES_MOST)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is a matrix of %d x %d, expected 1 to %d rows and columns", path,
                      m->rows, m->columns, NAMES_MOST));
    TRY(memory_new(&m->cell, m->rows * m->columns, err));
    TRY(memory_new(&m->row, m->rows, err));
    TRY(memory_new(&m->column, m->columns, err));
    field_take(&at, field, sizeof field);
    for (int k = 0; k < m->columns; k++) {
        field_take(&at, field, sizeof field);
        TRY(memory_text(&m->column[k], field, err));
    }
    const char *line = line_after(text);
    for (int i = 0; i < m->rows; line = line_after(line))
        if (*line != '\n' && *line != '\r')
            TRY(row_take(path, line, i++, c, m, err));
done:
    freelocale(c);
    return st;
}

static npmd_status plain_read(const char *path, matrix *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table t = { 0 };
    TRY(table_read(path, &t, err));
    if (t.rows > NAMES_MOST || t.columns > NAMES_MOST)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "%s is %zu x %zu; a picture has at most %d rows and columns", path, t.rows,
                      t.columns, NAMES_MOST));
    m->rows = (int)t.rows;
    m->columns = (int)t.columns;
    m->cell = t.data;
    t.data = NULL;
done:
    table_free(&t);
    return st;
}

/* A first field that is no number: names. */
static npmd_status matrix_read(const char *path, matrix *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes bytes = { 0 };
    matrix m = { 0 };
    bool named = false;
    if (file_has_suffix(path, ".csv")) {
        TRY(file_read_checked(path, file_starts_text, &bytes, err));
        const char *text = (const char *)bytes.data;
        char field[256] = "";
        const char *at = text;
        const bool first = field_take(&at, field, sizeof field);
        named = first && !field_is_number(field);
        if (named)
            TRY(named_read(path, text, &m, err));
    }
    if (!named)
        TRY(plain_read(path, &m, err));
    *out = m;
    m = (matrix){ 0 };
done:
    matrix_free(&m);
    file_bytes_free(&bytes);
    return st;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static npmd_status matrix_shade(const figure *f, const matrix *m, shade *out, npmd_error *err)
{
    double least = INFINITY, most = 0.0;
    bool negative = false;
    for (int i = 0; i < m->rows * m->columns; i++) {
        negative |= m->cell[i] < 0.0;
        most = fmax(most, m->cell[i]);
        if (m->cell[i] > 0.0)
            least = fmin(least, m->cell[i]);
    }
    if (negative || !(most > 1e-300)) /* smaller ones are noughts with noise */
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "the matrix has %s; masses and counts are not negative, and some are above zero",
                         negative ? "negative entries" : "zeros only");
    *out = (shade){ .map = MAP_FALLING, .scale = { .kind = AXIS_LOG, .name = "probability or count" } };
    if (f->ask->surfaces != NULL && f->ask->surfaces->linear) {
        out->scale = (axis){ .kind = AXIS_LINEAR, .from = 0.0, .to = most, .name = out->scale.name };
    } else { /* five powers of ten at most: what is rarer is as good as absent */
        out->scale.to = most;
        out->scale.from = fmax(least, 1e-5 * most);
        out->below = least < out->scale.from;
        if (!(out->scale.from < most)) /* one value, of one cell or of all */
            out->scale.from = 0.1 * most;
    }
    if (f->ask->ranges > 0) {
        if (out->scale.kind == AXIS_LOG && !(f->ask->range[0] > 0.0))
            return npmd_fail(err, NPMD_ERR_ARGUMENT,
                             "`range` %g:%g does not begin above 0, as the log scale of a matrix needs; `scale` linear "
                             "may begin at 0",
                             f->ask->range[0], f->ask->range[1]);
        out->below = least < f->ask->range[0];
        out->above = most > f->ask->range[1];
        out->scale.from = f->ask->range[0];
        out->scale.to = f->ask->range[1];
    }
    return NPMD_OK;
}

static double widest_name(char *const *name, int count, const lettering *how)
{
    double width = 0.0;
    for (int i = 0; name != NULL && i < count; i++)
        width = fmax(width, canvas_text_width(how, name[i]));
    return fmin(width, 110.0);
}

static npmd_status cells_draw(figure *f, const matrix *m, const shade *how, box at, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    /* an image of a cell a pixel would be smoothed by some readers of .svg: boxes */
    const double w = at.width / m->columns, h = at.height / m->rows;
    unsigned char *rgba = NULL;
    for (int i = 0; i < m->rows && m->rows * m->columns <= 10000; i++)
        for (int k = 0; k < m->columns; k++)
            if (m->cell[i * m->columns + k] > 0.0)
                canvas_box(f->page, (box){ at.x + k * w, at.y + i * h, w, h },
                           shade_colour(how, m->cell[i * m->columns + k]), 0.0);
    if (m->rows * m->columns > 10000) {
        TRY(memory_new(&rgba, 4 * m->rows * m->columns, err));
        for (int i = 0; i < m->rows * m->columns; i++) {
            const colour c = m->cell[i] > 0.0 ? shade_colour(how, m->cell[i]) : PAPER;
            const unsigned char pixel[4] = { c.red, c.green, c.blue, 255 };
            memcpy(rgba + 4 * i, pixel, 4);
        }
        canvas_image(f->page, at, rgba, m->columns, m->rows);
    }
done:
    memory_free(rgba);
    return st;
}

static void names_draw(canvas *c, const matrix *m, box at, const lettering *how)
{
    const double w = at.width / m->columns, h = at.height / m->rows, drop = 0.5 * TEXT_CAPITAL * how->size;
    for (int i = 0; m->row != NULL && i < m->rows; i++)
        text_fit(c, at.x - 3.0, at.y + (i + 0.5) * h + drop, TEXT_RIGHT, 0.0, how, 110.0, m->row[i]);
    for (int k = 0; m->column != NULL && k < m->columns; k++)
        text_fit(c, at.x + (k + 0.5) * w + drop, at.y + at.height + 3.0, TEXT_RIGHT, 90.0, how, 110.0, m->column[k]);
}

static npmd_status matrix_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    matrix m = { 0 };
    shade how;
    TRY(matrix_read(f->ask->surfaces->values, &m, err));
    TRY(matrix_shade(f, &m, &how, err));
    const double width = figure_width(f, PAGE_MM * 0.8), room = 10.0;
    lettering names = LETTER_SMALL;
    const double bar = 46.0;
    double left = widest_name(m.row, m.rows, &names) + room;
    const double side = (width - left - bar - room) / m.columns;
    TRY(figure_room(f, width, 1, side * m.columns, 48.0, err));
    names.size = fmin(names.size, 0.95 * side);
    left = widest_name(m.row, m.rows, &names) + room;
    const double top = f->ask->title != NULL ? 22.0 : room;
    const box at = { left, top, side * m.columns, side * m.rows };
    const double bottom = widest_name(m.column, m.columns, &names) + room;
    TRY(figure_page(f, left + at.width + bar + room, top + at.height + bottom, err));
    TRY(cells_draw(f, &m, &how, at, err));
    canvas_frame(f->page, at, &STROKE_AXIS);
    names_draw(f->page, &m, at, &names);
    if (f->ask->title != NULL)
        title_draw(f->page, at, f->ask->title);
    bar_draw(f->page, (box){ at.x + at.width + 12.0, at.y, 7.0, fmin(at.height, 170.0) }, &how);
    figure_shows(f, 1, &how.scale);
done:
    matrix_free(&m);
    return st;
}

static bool matrix_takes(const figure *f)
{
    return f->sources == 0 && f->ask->surfaces != NULL && f->ask->surfaces->values != NULL;
}

const figure_kind KIND_MATRIX = { .name = "matrix",
                                  .help = "a matrix of regions, as marginal `matrix` writes it",
                                  .fits = NULL, /* a file of numbers may be anything */
                                  .wants = "a file of numbers, .csv with names or .npy",
                                  .takes = matrix_takes,
                                  .uses = USES_RANGE | USES_LOG,
                                  .draw = matrix_draw };
