/* contour.c - the lines along which a function on a grid has one value, by marching squares.
 *
 * A node is above the level or not; an edge between an upper and a lower node is crossed once, where the linear
 * function between them has the level. Every square joins its two or four crossed edges; of four, the mean of the
 * corners decides which pairs belong together. A line is then followed from square to square. */
#include "draw.h"

typedef struct tracer {
    const double *f;
    int columns, rows;
    double level;
    unsigned char *done; /* (2, columns, rows): edge from (i, j) along x, along y */
    spot *line;
    size_t count, capacity;
} tracer;

typedef struct edge { /* from node (i, j) to the next along x (way 0) or y (way 1) */
    int i, j, way;
} edge;

static double node(const tracer *t, int i, int j)
{
    return t->f[(size_t)i * (size_t)t->rows + (size_t)j];
}

static bool upper(const tracer *t, int i, int j)
{
    return node(t, i, j) > t->level;
}

static bool edge_crossed(const tracer *t, edge e)
{
    return upper(t, e.i, e.j) != upper(t, e.i + (e.way == 0), e.j + (e.way == 1));
}

static unsigned char *edge_done(const tracer *t, edge e)
{
    return t->done + ((size_t)e.way * (size_t)t->columns + (size_t)e.i) * (size_t)t->rows + (size_t)e.j;
}

static spot edge_spot(const tracer *t, edge e)
{
    const double a = node(t, e.i, e.j), b = node(t, e.i + (e.way == 0), e.j + (e.way == 1));
    const double s = (t->level - a) / (b - a);
    return (spot){ e.i + (e.way == 0 ? s : 0.0), e.j + (e.way == 1 ? s : 0.0) };
}

/* The four edges of square (i, j): below, right, above, left. */
static edge square_edge(int i, int j, int side)
{
    return side == 0   ? (edge){ i, j, 0 }
           : side == 1 ? (edge){ i + 1, j, 1 }
           : side == 2 ? (edge){ i, j + 1, 0 }
                       : (edge){ i, j, 1 };
}

/* In square (i, j), from side `from`: the side where the line leaves. */
static int square_leave(const tracer *t, int i, int j, int from)
{
    int crossed[4], count = 0;
    for (int side = 0; side < 4; side++)
        if (edge_crossed(t, square_edge(i, j, side)))
            crossed[count++] = side;
    if (count == 2)
        return crossed[0] == from ? crossed[1] : crossed[0];
    /* a saddle: corner (i, j) is between sides 3 and 0; where it is as the middle is, it is cut off from neither, and
     * the lines go round the other two corners */
    const double middle = 0.25 * (node(t, i, j) + node(t, i + 1, j) + node(t, i, j + 1) + node(t, i + 1, j + 1));
    const bool joined = (middle > t->level) == upper(t, i, j);
    static const int ROUND_OTHERS[4] = { 1, 0, 3, 2 }, ROUND_CORNER[4] = { 3, 2, 1, 0 };
    return joined ? ROUND_OTHERS[from] : ROUND_CORNER[from];
}

static npmd_status tracer_add(tracer *t, edge e, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(memory_grow((void **)&t->line, &t->capacity, t->count + 1, sizeof *t->line, err));
    t->line[t->count++] = edge_spot(t, e);
    *edge_done(t, e) = 1;
done:
    return st;
}

/* Follows the line that enters square (i, j) by a side until it leaves the grid or comes back; *closed says which. */
static npmd_status tracer_follow(tracer *t, int i, int j, int side, bool *closed, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *closed = false;
    while (i >= 0 && j >= 0 && i + 1 < t->columns && j + 1 < t->rows) {
        side = square_leave(t, i, j, side);
        const edge e = square_edge(i, j, side);
        if (*edge_done(t, e)) {
            *closed = true;
            break;
        }
        TRY(tracer_add(t, e, err));
        i += side == 1 ? 1 : side == 3 ? -1 : 0;
        j += side == 2 ? 1 : side == 0 ? -1 : 0;
        side = (side + 2) % 4; /* what is right of one square is left of the next */
    }
done:
    return st;
}

static npmd_status tracer_line(tracer *t, edge start, contour_line line, void *user, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool closed = false;
    t->count = 0;
    TRY(tracer_add(t, start, err));
    /* into the square above or to the right of the edge; an open line then goes on from its start to the other side */
    TRY(tracer_follow(t, start.i, start.j, start.way == 0 ? 0 : 3, &closed, err));
    if (!closed) {
        for (size_t a = 0, b = t->count - 1; a < b; a++, b--) {
            const spot swap = t->line[a];
            t->line[a] = t->line[b];
            t->line[b] = swap;
        }
        if (start.way == 0)
            TRY(tracer_follow(t, start.i, start.j - 1, 2, &closed, err));
        else
            TRY(tracer_follow(t, start.i - 1, start.j, 1, &closed, err));
        closed = false;
    }
    line(t->line, t->count, closed, user);
done:
    return st;
}

npmd_status contour_trace(const double *f, int columns, int rows, double level, contour_line line, void *user,
                          npmd_error *err)
{
    npmd_status st = NPMD_OK;
    tracer t = { .f = f, .columns = columns, .rows = rows, .level = level };
    TRY(memory_new(&t.done, 2 * (size_t)columns * (size_t)rows, err));
    for (int way = 0; way < 2; way++)
        for (int i = 0; i + (way == 0) < columns; i++)
            for (int j = 0; j + (way == 1) < rows; j++) {
                const edge e = { i, j, way };
                if (!*edge_done(&t, e) && edge_crossed(&t, e))
                    TRY(tracer_line(&t, e, line, user, err));
            }
done:
    memory_free(t.done);
    free(t.line); /* memory_grow is realloc */
    return st;
}
