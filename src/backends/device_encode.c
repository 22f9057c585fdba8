/* device_encode.c - an encoding laid out for a device: which eigenfunctions have a place in a point's table, the places
 * of every feature's factors, the constants of the recurrences, and the tables of surfaces. */
#include "core.h"
#include "device_encode.h"

/* Pieces of one block, cut off one after another; without a block they are only counted. */
typedef struct cutter {
    unsigned char *block;
    size_t used;
} cutter;

static void *cut(cutter *c, size_t count, size_t size)
{
    void *piece = c->block == NULL ? NULL : c->block + c->used;
    c->used += (count * size + 15) / 16 * 16;
    return piece;
}

static int functions_up_to(const encoder_plan *p, int d) /* places in slot */
{
    const int f = p->frequency[d];
    return p->waves ? f + 1 : p->kind[d] == DEVICE_CIRCLE ? 2 * f + 1 : (f + 1) * (f + 1);
}

static size_t view_slots(const encoder_plan *p) /* of all factors */
{
    size_t slots = 0;
    for (int d = 0; d < p->factors; d++)
        slots += (size_t)functions_up_to(p, d);
    return slots;
}

/* Everything that needs no memory. */
static int view_sizes(const encoder_plan *p, encoder_view *v)
{
    *v = (encoder_view){ .factors = p->factors,
                         .columns = p->columns,
                         .dimension = p->dimension,
                         .features = p->features,
                         .ld = p->ld,
                         .waves = p->waves,
                         .vectors = p->vectors,
                         .blocks = p->blocks,
                         .round_tf32 = p->round_tf32,
                         .degree = -1 };
    if (p->factors > DEVICE_MAX_FACTORS || p->dimension > DEVICE_DIRECTIONS)
        return DEVICE_REFUSED;
    int slots = 0, row = 1;
    for (int d = 0; d < p->factors; d++) {
        const bool circle = p->kind[d] == DEVICE_CIRCLE;
        const int f = p->frequency[d];
        v->kind[d] = (int)p->kind[d];
        v->column[d] = p->column[d];
        v->direction[d] = p->direction[d];
        v->frequency[d] = f;
        v->embedded[d] = v->embedding;
        v->embedding += circle ? 2 : 3;
        v->unit[d + 1] = v->unit[d];
        if (circle)
            v->unit[d + 1] += (f + CIRCLE_UNIT - 1) / CIRCLE_UNIT + (f == 0);
        else if (p->kind[d] == DEVICE_SPHERE)
            v->unit[d + 1] += f + 1;
        v->slots[d] = slots;
        slots += functions_up_to(p, d);
        v->degree = p->kind[d] == DEVICE_SPHERE && f > v->degree ? f : v->degree;
        for (int t = 0; t < (circle ? 1 : 2); t++, row++)
            v->row_factor[row] = d;
    }
    return 0;
}

/* Places for the functions that occur; then where derivatives stand, and how long a point's table is. A
 * stride that is odd (in loads) spreads neighbouring points over all banks of shared memory. */
static void view_places(const encoder_plan *p, encoder_view *v, int *slot)
{
    const size_t D = (size_t)p->factors;
    int values = 0, slopes = 0;
    for (int d = 0; d < p->factors; d++) {
        int *own = slot + v->slots[d];
        v->first[d] = values;
        const int count = functions_up_to(p, d), width = p->waves ? 2 : 1, before = values;
        for (int i = 0; i < count; i++)
            own[i] = -1;
        for (int k = 0; k < p->vectors; k++) {
            const int function = p->function[(size_t)k * D + (size_t)d];
            own[p->waves ? abs(function) : function] = 0;
        }
        for (int i = 0; i < count; i++)
            if (own[i] == 0) {
                own[i] = values;
                values += width;
            }
        v->used[d] = values - before;
    }
    for (int d = 0, row = 1, before = 0; d < p->factors; before += v->used[d++]) {
        v->slope[d] = values + slopes - before;
        for (int t = 0; t < (p->kind[d] == DEVICE_CIRCLE ? 1 : 2); t++, row++) {
            v->row_shift[row] = v->slope[d] + t * v->used[d];
            slopes += v->used[d];
        }
    }
    v->stride[0] = p->waves ? (values / 2 | 1) * 2 : values | 1;
    v->stride[1] = p->waves ? v->stride[0] : (values + slopes) | 1;
}

static void view_legendre(int degree, legendre_step *step, double *diagonal)
{
    const int row = degree + 1;
    diagonal[0] = 1.0 / sqrt(4.0 * NPMD_PI);
    for (int a = 1; a <= degree + 1; a++)
        diagonal[a] = sqrt((2.0 * a + 1.0) / (2.0 * a)) * diagonal[a - 1];
    for (int a = 0; a <= degree + 1; a++)
        for (int l = a + 1; l <= degree; l++) {
            legendre_step *s = step + a * row + l;
            s->c = sqrt((4.0 * l * l - 1.0) / ((double)l * l - (double)a * a));
            s->above = l == a + 1 ? 0.0 : s->c / s[-1].c;
            s->next = sqrt((l - a) * (l + a + 1.0));
        }
}

/* Where every feature, or every product of its block, finds its factors. */
static void view_features(const encoder_plan *p, const encoder_view *v, const int *slot, int *place, float *wavenumber,
                          int *functions, float *rotation)
{
    const size_t D = (size_t)p->factors, V = (size_t)p->vectors, K = (size_t)p->features;
    const double *from = p->rotation;
    size_t k = 0, vector = 0;
    for (size_t j = 0; p->blocks == 0 && j < V; j++)
        for (size_t d = 0; d < D; d++) {
            const int function = p->function[j * D + d];
            const int at = slot[v->slots[d] + (p->waves ? abs(function) : function)];
            place[d * V + j] = p->waves ? 2 * at + (function < 0) : at;
            if (p->waves)
                wavenumber[d * V + j] = (float)function;
        }
    for (int b = 0; b < p->blocks; b++) {
        const size_t B = (size_t)p->block_functions[b];
        for (int i = 0; i < p->block_features[b]; i++, k++) {
            functions[k] = (int)B;
            for (size_t j = 0; j < B; j++) {
                rotation[j * K + k] = (float)*from++;
                for (size_t d = 0; d < D; d++)
                    place[(j * D + d) * K + k] = slot[v->slots[d] + p->function[(vector + j) * D + d]];
            }
        }
        vector += B;
    }
}

/* The first factor that is the same surface: they share what does not depend on the functions. */
static int view_twin(const encoder_plan *p, int d)
{
    int e = 0;
    while (p->kind[e] != DEVICE_SURFACE || p->surface[e].map.corner != p->surface[d].map.corner)
        e++;
    return e;
}

static void view_cut_surface(const encoder_plan *p, encoder_view *v, int d, cutter *c)
{
    const device_surface *from = &p->surface[d];
    device_surface *to = &v->surface[d];
    const size_t faces = from->map.faces;
    const int twin = view_twin(p, d);
    if (twin < d) {
        *to = v->surface[twin];
    } else {
        *to = (device_surface){ .map.faces = faces, .corners = from->corners, .nodes = from->nodes };
        to->map.corner = cut(c, faces, sizeof *to->map.corner);
        to->map.order = cut(c, faces, sizeof *to->map.order);
        to->map.split = cut(c, faces, sizeof *to->map.split);
        to->map.axis = cut(c, faces, sizeof *to->map.axis);
        to->node = cut(c, faces * (size_t)from->corners, sizeof *to->node);
        to->metric = cut(c, 3 * faces, sizeof *to->metric);
    }
    to->functions = v->used[d];
    to->phi = cut(c, from->nodes * (size_t)v->used[d], sizeof *to->phi);
}

static void view_fill_surface(const encoder_plan *p, const encoder_view *v, int d, const int *slot)
{
    const device_surface *from = &p->surface[d], *to = &v->surface[d];
    const size_t faces = from->map.faces;
    const int *own = slot + v->slots[d], count = functions_up_to(p, d);
    assert(count <= from->functions);
    if (view_twin(p, d) == d) {
        memcpy(to->map.corner, from->map.corner, faces * sizeof *to->map.corner);
        memcpy(to->map.order, from->map.order, faces * sizeof *to->map.order);
        memcpy(to->map.split, from->map.split, faces * sizeof *to->map.split);
        memcpy(to->map.axis, from->map.axis, faces * sizeof *to->map.axis);
        memcpy((int32_t *)to->node, from->node, faces * (size_t)from->corners * sizeof *to->node);
        memcpy((double *)to->metric, from->metric, 3 * faces * sizeof *to->metric);
    }
    for (size_t i = 0; i < from->nodes; i++) {
        float *row = (float *)to->phi + i * (size_t)to->functions;
        for (int f = 0; f < count; f++)
            if (own[f] >= 0)
                row[own[f] - v->first[d]] = from->phi[i * (size_t)from->functions + (size_t)f];
    }
}

/* The view's pieces, at their places in the block, or their sizes. */
static void view_cut(const encoder_plan *p, encoder_view *v, cutter *c)
{
    const size_t D = (size_t)p->factors, K = (size_t)p->features, V = (size_t)p->vectors;
    const size_t degrees = v->degree < 0 ? 0 : (size_t)v->degree + 1, dimensions = (size_t)p->dimension + 1;
    size_t most = 0;
    for (int b = 0; b < p->blocks; b++)
        most = (size_t)p->block_functions[b] > most ? (size_t)p->block_functions[b] : most;
    v->slot = cut(c, view_slots(p), sizeof(int));
    v->place = cut(c, p->blocks > 0 ? most * D * K : D * V, sizeof(int));
    v->wavenumber = cut(c, p->waves ? D * V : 0, sizeof(float));
    v->scale = cut(c, K, sizeof(float));
    v->minus_lambda = cut(c, K, sizeof(float));
    v->functions = cut(c, p->blocks > 0 ? K : 0, sizeof(int));
    v->rotation = cut(c, most * K, sizeof(float));
    v->legendre = cut(c, degrees > 0 ? (degrees + 1) * degrees : 0, sizeof(legendre_step));
    v->diagonal = cut(c, degrees + 1, sizeof(double));
    v->sobol = cut(c, dimensions * 32, sizeof(uint32_t));
    for (int d = 0; d < p->factors; d++)
        if (p->kind[d] == DEVICE_SURFACE)
            view_cut_surface(p, v, d, c);
}

/* Everything but the block: the places come first, since it depends on them how large the block is. */
static int view_measure(const encoder_plan *p, encoder_view *v, int **slot, size_t *bytes)
{
    cutter c = { 0 };
    const int refused = view_sizes(p, v);
    if (refused != 0)
        return refused;
    if (memory_new(slot, view_slots(p), NULL) != NPMD_OK)
        return DEVICE_HOST_MEMORY;
    view_places(p, v, *slot);
    view_cut(p, v, &c);
    *bytes = c.used;
    return 0;
}

int encoder_bytes(const encoder_plan *plan, size_t *bytes)
{
    encoder_view v;
    int *slot = NULL;
    const int refused = view_measure(plan, &v, &slot, bytes);
    memory_free(slot);
    return refused;
}

/* The block is ours to fill; the view promises not to change it. */
static void view_fill(const encoder_plan *p, const encoder_view *v, const int *slot)
{
    float *scale = (float *)v->scale, *minus_lambda = (float *)v->minus_lambda;
    memcpy((int *)v->slot, slot, view_slots(p) * sizeof *slot);
    view_features(p, v, slot, (int *)v->place, (float *)v->wavenumber, (int *)v->functions, (float *)v->rotation);
    for (int k = 0; k < p->features; k++) {
        scale[k] = (float)p->scale[k];
        minus_lambda[k] = (float)-p->lambda[k];
    }
    if (v->degree >= 0)
        view_legendre(v->degree, (legendre_step *)v->legendre, (double *)v->diagonal);
    for (int d = 0; d <= p->dimension; d++)
        sobol_directions(d, (uint32_t *)v->sobol + 32 * d);
    for (int d = 0; d < p->factors; d++)
        if (p->kind[d] == DEVICE_SURFACE)
            view_fill_surface(p, v, d, slot);
}

int encoder_view_make(const encoder_plan *plan, encoder_view *out, void **block, size_t *bytes)
{
    encoder_view v;
    cutter c = { 0 };
    int *slot = NULL, status = view_measure(plan, &v, &slot, bytes);
    if (status == 0 && memory_new(&c.block, *bytes, NULL) != NPMD_OK)
        status = DEVICE_HOST_MEMORY;
    if (status == 0) {
        view_cut(plan, &v, &c);
        view_fill(plan, &v, slot);
        *out = v;
        *block = c.block;
    }
    memory_free(slot);
    return status;
}

static void *moved(const void *piece, const void *from, void *to)
{
    return (unsigned char *)to + ((const unsigned char *)piece - (const unsigned char *)from);
}

void encoder_view_move(encoder_view *v, const void *from, void *to)
{
    v->slot = moved(v->slot, from, to);
    v->place = moved(v->place, from, to);
    v->wavenumber = moved(v->wavenumber, from, to);
    v->scale = moved(v->scale, from, to);
    v->minus_lambda = moved(v->minus_lambda, from, to);
    v->functions = moved(v->functions, from, to);
    v->rotation = moved(v->rotation, from, to);
    v->legendre = moved(v->legendre, from, to);
    v->diagonal = moved(v->diagonal, from, to);
    v->sobol = moved(v->sobol, from, to);
    for (int d = 0; d < v->factors; d++) {
        device_surface *s = &v->surface[d];
        if (v->kind[d] != DEVICE_SURFACE)
            continue;
        s->map.corner = moved(s->map.corner, from, to);
        s->map.order = moved(s->map.order, from, to);
        s->map.split = moved(s->map.split, from, to);
        s->map.axis = moved(s->map.axis, from, to);
        s->node = moved(s->node, from, to);
        s->metric = moved(s->metric, from, to);
        s->phi = moved(s->phi, from, to);
    }
}

void encoder_view_free(void *block)
{
    memory_free(block);
}
