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
    part *todo;     /* a stack: each cut leaves two parts for one, the larger below: log n at once */
} dissection;

/* Breadth-first from a node, within its part; returns how many were reached, the last in the queue being farthest. */
static int32_t search(const dissection *d, int32_t from, int32_t number)
{
    int32_t read = 0, written = 1;
    d->queue[0] = from;
    d->level[from] = 0;
    while (read < written) {
        const int32_t i = d->queue[read++];
        for (int32_t c = d->a->start[i]; c < d->a->start[i + 1]; c++) {
            const int32_t j = d->a->column[c];
            if (d->owner[j] == number && d->level[j] < 0) {
                d->level[j] = d->level[i] + 1;
                d->queue[written++] = j;
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
        reached = search(d, from, number);
        from = d->queue[reached - 1];
        forget(d, reached);
    }
    return search(d, from, number);
}

static bool touches(const dissection *d, int32_t i, int32_t level)
{
    for (int32_t c = d->a->start[i]; c < d->a->start[i + 1]; c++)
        if (d->level[d->a->column[c]] == level)
            return true;
    return false;
}

/* Puts the searched nodes in the order near side, far side, separator; returns the ends of the first two. The queue is
 * sorted by level, and levels of other parts are -1. */
static void cut(const dissection *d, part p, int32_t reached, int32_t *near, int32_t *far)
{
    const int32_t middle = d->level[d->queue[reached / 2]];
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

/* What a search did not reach comes behind what it reached, as a part of its own. */
static void set_aside(const dissection *d, part p, int32_t reached)
{
    int32_t rest = p.high;
    int32_t i = p.low, last = p.high - 1;
    while (i <= last) /* the unreached to the end; the reached are written anew by cut */
        if (d->level[d->order[i]] < 0) {
            const int32_t held = d->order[i];
            d->order[i] = d->order[last];
            d->order[last--] = held;
            rest--;
        } else {
            i++;
        }
    assert(rest == p.low + reached);
    (void)rest, (void)reached;
}

static void own(const dissection *d, part p, int32_t number)
{
    for (int32_t i = p.low; i < p.high; i++)
        d->owner[d->order[i]] = number;
}

static void dissect(const dissection *d)
{
    int32_t left = 1, number = 0;
    d->todo[0] = (part){ 0, (int32_t)d->a->nodes };
    while (left > 0) {
        const part p = d->todo[--left];
        int32_t near = 0, far = 0;
        if (p.high - p.low <= SMALL)
            continue;
        own(d, p, ++number);
        const int32_t reached = search_from_afar(d, p, number);
        set_aside(d, p, reached);
        cut(d, p, reached, &near, &far);
        forget(d, reached);
        own(d, (part){ far, p.low + reached }, -1); /* the separator is in no part */
        d->todo[left++] = (part){ p.low, near };
        d->todo[left++] = (part){ near, far };
        d->todo[left++] = (part){ p.low + reached, p.high };
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
    TRY(memory_new(&d.todo, 3 + 3 * (a->nodes / SMALL + 1), err));
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
