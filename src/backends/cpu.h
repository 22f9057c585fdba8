/* cpu.h - what the files of the cpu backend share; no other file includes it.
 *
 * cpu.c opens and closes the backend, lays out its buffers and deals tiles to lanes; cpu_tile.c takes one tile of
 * points through the encoding, all layers, and back; cpu_squares.c does the same for squared gradients. */
#ifndef NPMD_CPU_H
#define NPMD_CPU_H

#include "backend.h"
#include "kernels.h"

#define TILE_BYTES ((size_t)768 << 10)  /* memory of a tile: most of a second-level cache */
#define TILE_MOST 192                   /* points */
#define CACHE_BYTES ((size_t)256 << 20) /* encodings of the data are kept if they fit in this */
#define ROTATED_ROWS 8                  /* features that one matrix product makes */

typedef struct layer_view { /* a hidden layer in the float32 buffers; sizes are padded */
    size_t inputs, outputs, ld_in, ld_out;
    size_t forward, backward, bias; /* offsets in weights; the first layer has no backward */
    size_t gradient, bias_gradient; /* offsets in a lane's gradient */
} layer_view;

typedef struct factor_table { /* the eigenfunctions of one factor that occur in the encoding */
    int used;
    int *function; /* (used): eigenfunction number */
    size_t offset; /* of the table (1 + dimension, used, m) in a workspace */
} factor_table;

typedef struct workspace { /* one for each thread */
    double *x, *weight, *scratch;
    float *table, *eta, *gathered, *pre, *post, *bar[2], *v, *g;
    float *block; /* the products of one rotated block; NULL: nothing is rotated */
} workspace;

typedef struct lane {
    float *gradient;
    double sum;
} lane;

typedef struct squares squares; /* see cpu_squares.c; opened by the first call that needs it */

typedef struct cpu {
    field_plan plan;
    const kernels *kernels;
    int threads, hidden; /* layers with an activation: depth - 1 */
    size_t parameters;
    double *vector[VECTORS];
    bool gradient_in_lanes;

    layer_view layer[FIELD_MAX_DEPTH];
    size_t width, ld; /* padded number of units; leading dimension of activations */
    size_t features;  /* K padded for gradients */
    float *weights;   /* all layers, then the output weights, then the linear part */
    size_t weights_size, output, linear;
    size_t gradient_size, output_gradient, linear_gradient, constant_gradient;
    float constant; /* output bias */
    bool has_linear;

    factor_table table[NPMD_MAX_FACTORS];
    int *slot;       /* (vectors, factors): place of a feature's eigenfunction in its factor's table */
    float *rotation; /* the blocks' matrices times the features' scales; rows padded to ROTATED_ROWS */

    size_t tile_values, tile_jets, rows; /* points in a tile without and with jets; rows of the buffers */
    workspace *space;
    lane lanes[LANES];

    const npmd_points *points;
    float *cache; /* (n, K) encodings of the data, or NULL */
    squares *squares;
} cpu;

static inline size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

static inline const layer_kernels *cpu_activation(const cpu *c)
{
    return c->plan.shape.activation == FIELD_SINE ? &c->kernels->sine : &c->kernels->relu;
}

/* In the functions of a tile: m points (a multiple of TILE_ROWS), T derivative rows and, with lap, a Laplacian row. */

/* The encoding of points first .. first + count - 1 of the source, padded to m by copies of the first. */
strided tile_points(const cpu *c, workspace *w, const point_source *s, size_t first, size_t count, size_t m, int T,
                    bool lap);
/* w->v (rows m) from the encoding; activations stay in w->pre and w->post for the way back. */
void tile_forward(const cpu *c, workspace *w, strided eta, size_t m, int T, bool lap);
/* w->v (m) alone, without what the way back needs. */
void tile_values(const cpu *c, workspace *w, strided eta, size_t m);
/* The sum over the tile's points of w_i g(jet), and w->g = factor x its derivative, 0 for padding. */
double tile_seed(workspace *w, const term_request *what, size_t count, size_t m, int T, bool lap);
/* Adds to the lane's gradient the derivative with respect to the parameters, from that with respect to w->v, w->g (rows
 * m). */
void tile_backward(const cpu *c, workspace *w, strided eta, size_t m, int T, bool lap, float *gradient);

npmd_status cpu_squares(void *self, const term_request *what, double *gradient, double *square, npmd_error *err);
size_t squares_bytes(const cpu *c);
void squares_close(squares *q);

#endif
