/* dissect.c - an order of elimination with little fill: nested dissection of the graph of a matrix.
 *
 * A part of the graph is cut by a level of a breadth-first search from a node far out: the nodes at one distance from
 * it, of which those that touch the next level are the separator. They are eliminated after the two sides, which are
 * cut in turn (George and Liu's automatic nested dissection). On a surface a level is a few curves, so a separator
 * of n nodes has about sqrt(n) and the factors about n log n entries; what is closest or least in degree does far
 * worse there on large regular meshes (five times the fill at 163,842 vertices). */
#include "surface.h"

enum { SMALL = 48 }; /* nodes that are not cut further: their factor is nearly full anyway */

typedef struct part {
    int32_t low, high; /* nodes order[low .. high - 1], eliminated in this order */
} part;

typedef struct dissection {
    const fem_matrices *a;
    int32_t *order; /* (nodes) */
    int32_t *owner; /* (nodes) the part that a node is in, by the part's number */
    int32_t *level; /* (nodes) distance in the current search; -1: not reached */
    int32_t *queue; /* (nodes) */
    part *todo; /* a stack of parts of more than SMALL nodes: they are disjoint, so at most nodes / SMALL */
} dissection;

/* Breadth-first from a node, within its part, along queue; returns how many were reached, the last being farthest. */
static int32_t search(const dissection *d, int32_t from, int32_t number, int32_t *queue)
{
    int32_t read = 0, written = 1;
    queue[0] = from;
    d->level[from] = 0;
    while (read < written) {
        const int32_t i = queue[read++];
        for (int32_t c = d->a->start[i]; c < d->a->start[i + 1]; c++) {
            const int32_t j = d->a->column[c];
            if (d->owner[j] == number && d->level[j] < 0) {
                d->level[j] = d->level[i] + 1;
                queue[written++] = j;
            }
        }
    }
    return written;
}

static void forget(const dissection *d, int32_t reached)
{
    for (int32_t i = 0; i < reached; i++)
        d->level[d->queue[i]] = -1;
}

/* A search from a node that is far from others: the end of a search from the end of a search. */
static int32_t search_from_afar(const dissection *d, part p, int32_t number)
{
    int32_t from = d->order[p.low], reached = 0;
    for (int turn = 0; turn < 2; turn++) {
        reached = search(d, from, number, d->queue);
        from = d->queue[reached - 1];
        forget(d, reached);
    }
    return search(d, from, number, d->queue);
}

static bool touches(const dissection *d, int32_t i, int32_t level)
{
    for (int32_t c = d->a->start[i]; c < d->a->start[i + 1]; c++)
        if (d->level[d->a->column[c]] == level)
            return true;
    return false;
}

/* Puts the searched nodes in the order near side, far side, separator; returns the ends of the first two. The queue is
 * sorted by level, and levels of other parts are -1. The last level is never the middle one: what is on it has a
 * neighbour on the level before, so the separator is not empty, and both sides are smaller than the part. */
static void cut(const dissection *d, part p, int32_t reached, int32_t *near, int32_t *far)
{
    const int32_t half = d->level[d->queue[reached / 2]], last = d->level[d->queue[reached - 1]],
                  middle = half < last ? half : last - 1;
    assert(last > 0);
    int32_t low = p.low, high = p.low + reached;
    for (int32_t i = 0; i < reached; i++) {
        const int32_t node = d->queue[i];
        if (d->level[node] < middle || (d->level[node] == middle && !touches(d, node, middle + 1)))
            d->order[low++] = node;
    }
    *near = low;
    for (int32_t i = 0; i < reached; i++)
        if (d->level[d->queue[i]] > middle)
            d->order[low++] = d->queue[i];
    *far = low;
    for (int32_t i = 0; i < reached; i++) {
        const int32_t node = d->queue[i];
        if (d->level[node] == middle && touches(d, node, middle + 1))
            d->order[--high] = node;
    }
    assert(high == low);
}

static void own(const dissection *d, part p, int32_t number)
{
    for (int32_t i = p.low; i < p.high; i++)
        d->owner[d->order[i]] = number;
}

static int32_t push(const dissection *d, part p, int32_t left)
{
    if (p.high - p.low > SMALL)
        d->todo[left++] = p;
    return left;
}

/* Brings the nodes of a part that hang together side by side, and puts the pieces on the stack; true: there is but one. */
static bool in_one_piece(const dissection *d, part p, int32_t number, int32_t *left)
{
    int32_t found = 0, pieces = 0;
    for (int32_t i = p.low; i < p.high; i++)
        if (d->level[d->order[i]] < 0) {
            found += search(d, d->order[i], number, d->queue + found);
            pieces++;
        }
    assert(found == p.high - p.low);
    for (int32_t i = 0, first = 0; i < found && pieces > 1; i++)
        if (i + 1 == found || d->level[d->queue[i + 1]] == 0) { /* a piece begins with its level 0 */
            *left = push(d, (part){ p.low + first, p.low + i + 1 }, *left);
            first = i + 1;
        }
    memcpy(d->order + p.low, d->queue, (size_t)found * sizeof *d->queue);
    forget(d, found);
    return pieces == 1;
}

static void dissect(const dissection *d)
{
    int32_t number = 0, left = push(d, (part){ 0, (int32_t)d->a->nodes }, 0);
    while (left > 0) {
        const part p = d->todo[--left];
        int32_t near = 0, far = 0;
        own(d, p, ++number);
        if (!in_one_piece(d, p, number, &left))
            continue;
        const int32_t reached = search_from_afar(d, p, number);
        assert(reached == p.high - p.low);
        cut(d, p, reached, &near, &far);
        forget(d, reached);
        own(d, (part){ far, p.high }, -1); /* the separator is in no part */
        left = push(d, (part){ p.low, near }, left);
        left = push(d, (part){ near, far }, left);
    }
}

npmd_status fem_order(const fem_matrices *a, int32_t *position, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    dissection d = { .a = a };
    TRY(memory_new(&d.order, a->nodes, err));
    TRY(memory_new(&d.owner, a->nodes, err));
    TRY(memory_new(&d.level, a->nodes, err));
    TRY(memory_new(&d.queue, a->nodes, err));
    TRY(memory_new(&d.todo, a->nodes / SMALL + 1, err));
    for (size_t i = 0; i < a->nodes; i++) {
        d.order[i] = (int32_t)i;
        d.level[i] = -1;
    }
    dissect(&d);
    for (size_t i = 0; i < a->nodes; i++)
        position[d.order[i]] = (int32_t)i;
done:
    memory_free(d.order);
    memory_free(d.owner);
    memory_free(d.level);
    memory_free(d.queue);
    memory_free(d.todo);
    return st;
}
