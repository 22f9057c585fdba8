/* bench_kernels.c - every kernel of every variant that this machine can run: first against plain double loops, then
 * timed on one thread.
 *
 * The arrays have the size of a tile of the cpu backend, so they stay in the second-level cache as they do there: 192
 * rows (points, or fewer points with the rows of their jets) of 128 units; 48 rows of 256 units.
 *
 * An error is relative to the sum of the absolute terms, |found - expected| / size. k roundings make an error of at
 * most k u / (1 - k u), u = 2^-24 (Higham 2002, section 3.1); sine and cosine have the absolute error SINCOS, and u |x|
 * since their argument is rounded. */
#include "bench.h"

#include <stdio.h>

enum { ROWS = 192, UNITS = 128, WIDE_ROWS = 48, WIDE_UNITS = 256, CENTRES = 512 };
enum { FACTORS = 2, COLUMNS = 6 }; /* of cauchy_mean: S2 x S2 */
#define U 0x1p-24
#define SINCOS 1e-7
static const int EMBEDDING[FACTORS] = { 3, 3 }, POWER[FACTORS] = { 2, 2 };
#define CAUCHY_RHO 0.8

typedef struct room {
    const kernels *k;
    const struct kernel_row *row;
    size_t rows, units, ld, ld_columns; /* of the tile; leading dimensions by rows and by columns */
    size_t m;                           /* points */
    int T, lap;
    /* before: (rows, units) as they were given; work, post, bar: what a kernel changes */
    float *before, *work, *post, *bar, *bar_before, *weights, *bias, *vector, *gradient, *gradient_before;
    double *centre, e[COLUMNS];
    double mean; /* what cauchy_mean returned */
    double sums[64];
} room;

typedef struct agreement { /* of the output that comes nearest to its bound */
    double error, bound;
} agreement;

typedef struct kernel_row {
    const char *name, *unit;      /* what an element is */
    bool wide;                    /* the tile of 256 units */
    int T;                        /* rows of derivatives, with a Laplacian row below; 0: values */
    double flop, elements, bytes; /* of one call; 0: not worth stating */
    void (*call)(room *r);
    agreement (*check)(room *r); /* calls once, on fresh arrays */
    void (*settle)(room *r);     /* before the timing: arrays that stay finite however often; NULL: they do */
    enum { LAYER_FORWARD, FIRST_LAYER, INPUT_GRADIENT, WEIGHT_GRADIENT } product; /* of a layer */
} kernel_row;

/* ---- Arrays and errors ------------------------------------------------------------------------------------------- */

static void judge(agreement *v, double found, double expected, double size, double bound)
{
    const double error = fabs(found - expected) / fmax(size, 1e-30);
    if (!(error / bound <= (v->bound > 0.0 ? v->error / v->bound : -1.0)))
        *v = (agreement){ isnan(error) ? INFINITY : error, bound };
}

static double rounding(double k)
{
    return k * U / (1.0 - k * U);
}

static void fill(float *p, size_t n, double size, uint64_t what)
{
    const rng_key key = rng_key_make(1, RNG_TEST, what);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(size * (2.0 * rng_uniform(key, i, 0) - 1.0));
}

enum { SIZE = WIDE_UNITS * (WIDE_UNITS + TILE_UNITS) }; /* the weights of the wide tile; all else is smaller */

/* What kernels change, as it was. */
static void room_refresh(room *r)
{
    memcpy(r->work, r->before, SIZE * sizeof(float));
    memcpy(r->bar, r->bar_before, SIZE * sizeof(float));
    memcpy(r->gradient, r->gradient_before, SIZE * sizeof(float));
    memset(r->post, 0, SIZE * sizeof(float));
}

/* Those that are filled come first. */
enum { FILLED = 6, ARRAYS = 10 };
static void room_arrays(room *r, float **out[ARRAYS])
{
    float **const arrays[ARRAYS] = { &r->before,          &r->bar_before, &r->weights, &r->bias, &r->vector,
                                     &r->gradient_before, &r->work,       &r->post,    &r->bar,  &r->gradient };
    memcpy(out, arrays, sizeof arrays);
}

static void room_close(room *r)
{
    float **array[ARRAYS];
    room_arrays(r, array);
    for (int i = 0; i < ARRAYS; i++)
        memory_free(*array[i]);
    memory_free(r->centre);
}

static npmd_status room_open(room *r, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    float **array[ARRAYS];
    room_arrays(r, array);
    for (int i = 0; i < ARRAYS; i++)
        TRY(memory_new(array[i], SIZE, err));
    TRY(memory_new(&r->centre, COLUMNS * CENTRES, err));
    for (int i = 0; i < FILLED; i++)
        fill(*array[i], SIZE, i == 0 ? 4.0 : 1.0, (uint64_t)i + 1);
    for (int c = -1; c < CENTRES; c++) /* unit vectors, one for each factor; the first is e */
        for (int d = 0; d < FACTORS; d++) {
            double u[2], x[3];
            for (int i = 0; i < 2; i++)
                u[i] = rng_uniform(rng_key_make(1, RNG_TEST, 7), (uint64_t)(c + 1), (uint32_t)(2 * d + i));
            SPHERE.uniform(&SPHERE, u, x);
            for (int i = 0; i < 3; i++)
                *(c < 0 ? &r->e[3 * d + i] : &r->centre[(3 * d + i) * CENTRES + c]) = x[i];
        }
done:
    return st;
}

/* ---- Products: C (m, n) = A (m, k) B (k, n) ---------------------------------------------------------------------- */

static agreement product_check(const float *C, size_t ldc, const float *C_before, strided A, const float *B, size_t ldb,
                               size_t m, size_t n, size_t k)
{
    agreement v = { 0 };
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = C_before == NULL ? 0.0 : (double)C_before[i * ldc + j], size = fabs(sum);
            for (size_t p = 0; p < k; p++) {
                const double term = (double)A.p[i * A.row + p * A.column] * (double)B[p * ldb + j];
                sum += term;
                size += fabs(term);
            }
            judge(&v, (double)C[i * ldc + j], sum, size, rounding((double)k + 2.0));
        }
    return v;
}

#define BY_ROWS(array) ((strided){ .p = (array), .row = r->ld, .column = 1 })
#define TRANSPOSED(array) ((strided){ .p = (array), .row = 1, .column = r->ld })
#define BY_COLUMNS(array) ((strided){ .p = (array), .row = 1, .column = r->ld_columns })

/* The four products of a layer. The encoding stands by features, so the first layer sees it transposed. */
typedef struct layer_product {
    strided A;
    const float *B;
    float *C;
    const float *C_before; /* what C adds to; NULL: nothing */
    size_t m, n, k;
} layer_product;

static layer_product product_of(const room *r)
{
    switch (r->row->product) {
    case FIRST_LAYER:
        return (layer_product){ BY_COLUMNS(r->before), r->weights, r->work, NULL, r->rows, r->units, r->units };
    case INPUT_GRADIENT:
        return (layer_product){ BY_ROWS(r->bar), r->weights, r->post, NULL, r->rows, r->units, r->units };
    case WEIGHT_GRADIENT:
        return (layer_product){
            TRANSPOSED(r->before), r->bar, r->gradient, r->gradient_before, r->units, r->units, r->rows
        };
    default:
        return (layer_product){ BY_ROWS(r->before), r->weights, r->work, NULL, r->rows, r->units, r->units };
    }
}

static void layer(room *r)
{
    const layer_product p = product_of(r);
    r->k->product(p.m, p.n, p.k, p.A, p.B, r->ld, p.C, r->ld, p.C_before != NULL);
}

static agreement layer_check(room *r)
{
    const layer_product p = product_of(r);
    layer(r);
    return product_check(p.C, r->ld, p.C_before, p.A, p.B, r->ld, p.m, p.n, p.k);
}

/* ---- Sine layers ------------------------------------------------------------------------------------------------- */

static void sine_forward(room *r)
{
    r->k->sine.forward(r->m, r->T, r->lap, r->units, r->ld, r->bias, r->work, r->post);
}

static agreement sine_forward_check(room *r)
{
    const size_t step = r->m * r->ld;
    agreement v = { 0 };
    sine_forward(r);
    for (size_t i = 0; i < r->m; i++)
        for (size_t j = 0; j < r->units; j++) {
            const size_t at = i * r->ld + j, below = at + (size_t)(r->T + 1) * step;
            const double x = (double)r->before[at] + (double)r->bias[j], s = sin(x), c = cos(x),
                         trig = SINCOS + U * fabs(x);
            double norm2 = 0.0;
            judge(&v, (double)r->post[at], s, 1.0, trig);
            judge(&v, (double)r->work[at], c, 1.0, trig);
            for (int t = 1; t <= r->T; t++) {
                const double a_t = (double)r->before[at + (size_t)t * step];
                norm2 += a_t * a_t;
                judge(&v, (double)r->post[at + (size_t)t * step], c * a_t, fabs(a_t), trig + rounding(1.0));
            }
            if (r->lap) {
                const double lap = (double)r->before[below];
                judge(&v, (double)r->post[below], c * lap - s * norm2, fabs(lap) + norm2, trig + rounding(r->T + 3.0));
            }
        }
    return v;
}

static void sine_values(room *r)
{
    r->k->sine.values(r->m, r->units, r->ld, r->bias, r->work);
}

static agreement sine_values_check(room *r)
{
    agreement v = { 0 };
    sine_values(r);
    for (size_t i = 0; i < r->m; i++)
        for (size_t j = 0; j < r->units; j++) {
            const size_t at = i * r->ld + j;
            const double x = (double)r->before[at] + (double)r->bias[j];
            judge(&v, (double)r->work[at], sin(x), 1.0, SINCOS + U * fabs(x));
        }
    return v;
}

static void sine_adjoint(room *r)
{
    r->k->sine.adjoint(r->m, r->T, r->lap, r->units, r->ld, r->work, r->post, r->bar, r->gradient);
}

/* The adjoint of what the forward pass stored: cosines and a_t in work, sines in post. */
static agreement sine_adjoint_check(room *r)
{
    const size_t step = r->m * r->ld;
    agreement v = { 0 };
    sine_forward(r);
    sine_adjoint(r);
    for (size_t j = 0; j < r->units; j++) {
        double sum = (double)r->gradient_before[j], sum_size = fabs(sum);
        for (size_t i = 0; i < r->m; i++) {
            const size_t at = i * r->ld + j, below = at + (size_t)(r->T + 1) * step;
            const double c = (double)r->work[at], s = (double)r->post[at],
                         lap_bar = r->lap ? (double)r->bar_before[below] : 0.0;
            double value = c * (double)r->bar_before[at], size = fabs(value), norm2 = 0.0;
            for (int t = 1; t <= r->T; t++) {
                const size_t k = at + (size_t)t * step;
                const double a_t = (double)r->work[k], h_t = (double)r->bar_before[k];
                norm2 += a_t * a_t;
                value -= s * a_t * h_t;
                size += fabs(s * a_t * h_t);
                judge(&v, (double)r->bar[k], c * h_t - 2.0 * s * a_t * lap_bar,
                      fabs(c * h_t) + 2.0 * fabs(s * a_t * lap_bar), rounding(4.0));
            }
            if (r->lap) {
                value -= s * (double)r->work[below] * lap_bar + c * norm2 * lap_bar;
                size += fabs(s * (double)r->work[below] * lap_bar) + fabs(c * norm2 * lap_bar);
                judge(&v, (double)r->bar[below], c * lap_bar, fabs(c * lap_bar), rounding(1.0));
            }
            judge(&v, (double)r->bar[at], value, size, rounding(r->T + 7.0));
            sum += value;
            sum_size += size;
        }
        judge(&v, (double)r->gradient[j], sum, sum_size, rounding((double)r->m + r->T + 7.0));
    }
    return v;
}

/* Cosines 1 and sines 0: bar is not multiplied down to numbers so small that they are slow. */
static void sine_adjoint_settle(room *r)
{
    for (size_t i = 0; i < r->m * r->ld; i++) {
        r->work[i] = 1.0f;
        r->post[i] = 0.0f;
    }
}

/* ---- The output and the skip ------------------------------------------------------------------------------------- */

static void output_forward(room *r)
{
    r->k->output_forward(r->rows, r->units, r->ld, r->before, r->bias, r->gradient);
}

static agreement output_forward_check(room *r)
{
    output_forward(r);
    return product_check(r->gradient, 1, r->gradient_before, BY_ROWS(r->before), r->bias, 1, r->rows, 1, r->units);
}

static void output_adjoint(room *r)
{
    r->k->output_adjoint(r->rows, r->units, r->ld, r->before, r->bias, r->vector, r->work, r->gradient);
}

static agreement output_adjoint_check(room *r)
{
    output_adjoint(r);
    agreement v = product_check(r->gradient, 1, r->gradient_before, TRANSPOSED(r->before), r->vector, 1, r->units, 1,
                                r->rows);
    for (size_t i = 0; i < r->rows; i++)
        for (size_t j = 0; j < r->units; j++) {
            const double bar = (double)r->vector[i] * (double)r->bias[j];
            judge(&v, (double)r->work[i * r->ld + j], bar, fabs(bar), rounding(1.0));
        }
    return v;
}

static void linear_forward(room *r)
{
    r->k->linear_forward(r->rows, r->units, BY_COLUMNS(r->before), r->bias, r->gradient);
}

static agreement linear_forward_check(room *r)
{
    linear_forward(r);
    return product_check(r->gradient, 1, r->gradient_before, BY_COLUMNS(r->before), r->bias, 1, r->rows, 1, r->units);
}

static void linear_adjoint(room *r)
{
    r->k->linear_adjoint(r->rows, r->units, BY_COLUMNS(r->before), r->vector, r->gradient);
}

static agreement linear_adjoint_check(room *r)
{
    const strided features = { .p = r->before, .row = r->ld_columns, .column = 1 };
    linear_adjoint(r);
    return product_check(r->gradient, 1, r->gradient_before, features, r->vector, 1, r->units, 1, r->rows);
}

/* ---- The encoding: one feature of a tile at a time --------------------------------------------------------------- */

static void multiply(room *r)
{
    for (size_t k = 0; k < r->units; k++)
        r->k->multiply(r->rows, r->bias[k], r->before + k * r->ld_columns, r->bar_before + k * r->ld_columns,
                       r->work + k * r->ld_columns);
}

static agreement multiply_check(room *r)
{
    agreement v = { 0 };
    multiply(r);
    for (size_t k = 0; k < r->units; k++)
        for (size_t i = 0; i < r->rows; i++) {
            const size_t at = k * r->ld_columns + i;
            const double product = (double)r->bias[k] * (double)r->before[at] * (double)r->bar_before[at];
            judge(&v, (double)r->work[at], product, fabs(product), rounding(2.0));
        }
    return v;
}

static void scale(room *r)
{
    for (size_t k = 0; k < r->units; k++)
        r->k->scale(r->rows, r->bias[k], r->before + k * r->ld_columns, r->work + k * r->ld_columns);
}

static agreement scale_check(room *r)
{
    agreement v = { 0 };
    scale(r);
    for (size_t k = 0; k < r->units; k++)
        for (size_t i = 0; i < r->rows; i++) {
            const double product = (double)r->bias[k] * (double)r->before[k * r->ld_columns + i];
            judge(&v, (double)r->work[k * r->ld_columns + i], product, fabs(product), rounding(1.0));
        }
    return v;
}

/* (work, bar) by the cosines and sines of one feature, in post, as a plane wave grows by one factor. */
static void turn(room *r)
{
    for (size_t k = 0; k < r->units; k++)
        r->k->turn(r->rows, r->post, r->post + r->rows, k % 2 ? -1.0f : 1.0f, r->work + k * r->ld_columns,
                   r->bar + k * r->ld_columns);
}

static void turn_settle(room *r) /* true angles: the modulus stays */
{
    for (size_t i = 0; i < r->rows; i++) {
        r->post[i] = (float)cos((double)i);
        r->post[r->rows + i] = (float)sin((double)i);
    }
}

static agreement turn_check(room *r)
{
    agreement v = { 0 };
    turn_settle(r);
    turn(r);
    for (size_t k = 0; k < r->units; k++)
        for (size_t i = 0; i < r->rows; i++) {
            const size_t at = k * r->ld_columns + i;
            const double c = (double)r->post[i], s = (k % 2 ? -1.0 : 1.0) * (double)r->post[r->rows + i],
                         re = (double)r->before[at], im = (double)r->bar_before[at];
            judge(&v, (double)r->work[at], re * c - im * s, fabs(re * c) + fabs(im * s), rounding(2.0));
            judge(&v, (double)r->bar[at], re * s + im * c, fabs(re * s) + fabs(im * c), rounding(2.0));
        }
    return v;
}

/* ---- Sine and cosine, kernel sums -------------------------------------------------------------------------------- */

static void sincos_all(room *r)
{
    r->k->sincos(r->rows * r->units, r->bar, r->work, r->post);
}

static agreement sincos_check(room *r)
{
    agreement v = { 0 };
    for (size_t i = 0; i < r->rows * r->units; i++)
        r->bar[i] *= i % 2 ? 16.0f : 8192.0f; /* where layers live, and far out */
    sincos_all(r);
    for (size_t i = 0; i < r->rows * r->units; i++) {
        judge(&v, (double)r->work[i], sin((double)r->bar[i]), 1.0, SINCOS);
        judge(&v, (double)r->post[i], cos((double)r->bar[i]), 1.0, SINCOS);
    }
    return v;
}

static const double CAUCHY_A = (1.0 + CAUCHY_RHO * CAUCHY_RHO) / (1.0 - CAUCHY_RHO * CAUCHY_RHO),
                    CAUCHY_B = 2.0 * CAUCHY_RHO / (1.0 - CAUCHY_RHO * CAUCHY_RHO);

static void cauchy_mean(room *r)
{
    r->mean = r->k->cauchy_mean(FACTORS, EMBEDDING, POWER, r->e, CENTRES, r->centre, CAUCHY_A, CAUCHY_B);
}

/* a - b cos errs by 6 half-distances (2^-53) of a + b and is at least a - b; four such factors, a division, and
 * as many sums as there are centres, in the kernel and here. */
static agreement cauchy_mean_check(room *r)
{
    agreement v = { 0 };
    double sum = 0.0;
    cauchy_mean(r);
    for (int c = 0; c < CENTRES; c++) {
        double product = 1.0;
        for (int d = 0; d < FACTORS; d++) {
            double cosine = 0.0;
            for (int i = 0; i < 3; i++)
                cosine += r->e[3 * d + i] * r->centre[(3 * d + i) * CENTRES + c];
            product *= pow(CAUCHY_A - CAUCHY_B * cosine, -POWER[d]);
        }
        sum += product / CENTRES;
    }
    judge(&v, r->mean, sum, sum,
          2.0 * 0x1p-53 * (4.0 * 6.0 * (CAUCHY_A + CAUCHY_B) / (CAUCHY_A - CAUCHY_B) + CENTRES + 8.0));
    return v;
}

/* As many queries as there are rows against CENTRES centres on S2 x S2, kappa 150: work holds the queries, gradient
 * scales and offsets, bar the centres. */
enum { SUM_ROWS = 64 };
#define KAPPA 150.0

static void kernel_sums_settle(room *r)
{
    for (size_t i = 0; i < SUM_ROWS * COLUMNS; i++) /* queries: some of the centres, turned a little */
        r->work[i] = (float)(sqrt(0.5 * KAPPA)
                             * (r->centre[i % COLUMNS * CENTRES + i / COLUMNS] + 0.05 * (double)r->bias[i % 97]));
    for (size_t i = 0; i < COLUMNS * CENTRES; i++)
        r->bar[i] = (float)(sqrt(0.5 * KAPPA) * r->centre[i]);
    for (size_t c = 0; c < CENTRES; c++) {
        r->gradient[c] = 1.0f;
        r->gradient[CENTRES + c] = -(float)(c % 8) / 8.0f;
    }
}

static void kernel_sums(room *r)
{
    memset(r->sums, 0, sizeof r->sums);
    r->k->kernel_sums(SUM_ROWS, COLUMNS, r->work, CENTRES, r->bar, CENTRES, r->gradient, r->gradient + CENTRES,
                      r->sums);
}

/* An exponent is COLUMNS squares of three roundings and two more; exp errs by 3e-7; 32 sums a lane in the narrowest
 * registers 128. */
static agreement kernel_sums_check(room *r)
{
    agreement v = { 0 };
    kernel_sums_settle(r);
    kernel_sums(r);
    for (size_t q = 0; q < SUM_ROWS; q++) {
        double sum = 0.0, size = 0.0;
        for (size_t c = 0; c < CENTRES; c++) {
            double z = 0.0;
            for (size_t j = 0; j < COLUMNS; j++) {
                const double far = (double)r->work[q * COLUMNS + j] - (double)r->bar[j * CENTRES + c];
                z += far * far;
            }
            const double term = exp((double)r->gradient[CENTRES + c] - z);
            sum += term;
            size += term * (3e-7 + rounding(COLUMNS + 5.0) * (z + 1.0)) + 1.7e-38;
        }
        judge(&v, r->sums[q], sum, sum, size / sum + rounding(140.0));
    }
    return v;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define NUMBERS ((double)ROWS * UNITS)
#define PRODUCT (2.0 * NUMBERS * UNITS)
#define WIDE_PRODUCT (2.0 * WIDE_ROWS * WIDE_UNITS * WIDE_UNITS)

/* Sine layers: the points of a jet are fewer, so that all rows are ROWS. Forward reads R rows, writes R and the
 * cosines; back reads R and the sines, and R of bar, which it writes, too. */
#define POINTS_OF(T) ((T) == 0 ? ROWS : ROWS / ((T) + 2))
#define SINE_FORWARD(T) (4.0 * UNITS * (2.0 * ROWS + POINTS_OF(T)))
#define SINE_ADJOINT(T) (4.0 * UNITS * (3.0 * ROWS + ((T) == 0 ? 0 : POINTS_OF(T))))

/* clang-format off */
static const kernel_row KERNELS[] = {
    /* name                  element        wide   T  flop          elements  bytes            call, check, settle, product */
    { "layer-forward",       NULL,          false, 0, PRODUCT,      0,        0,               layer, layer_check, NULL, LAYER_FORWARD },
    { "first-layer",         NULL,          false, 0, PRODUCT,      0,        0,               layer, layer_check, NULL, FIRST_LAYER },
    { "input-gradient",      NULL,          false, 0, PRODUCT,      0,        0,               layer, layer_check, NULL, INPUT_GRADIENT },
    { "weight-gradient",     NULL,          false, 0, PRODUCT,      0,        0,               layer, layer_check, NULL, WEIGHT_GRADIENT },
    { "layer-forward-256",   NULL,          true,  0, WIDE_PRODUCT, 0,        0,               layer, layer_check, NULL, LAYER_FORWARD },
    { "first-layer-256",     NULL,          true,  0, WIDE_PRODUCT, 0,        0,               layer, layer_check, NULL, FIRST_LAYER },
    { "input-gradient-256",  NULL,          true,  0, WIDE_PRODUCT, 0,        0,               layer, layer_check, NULL, INPUT_GRADIENT },
    { "weight-gradient-256", NULL,          true,  0, WIDE_PRODUCT, 0,        0,               layer, layer_check, NULL, WEIGHT_GRADIENT },
    { "sine-forward",        "unit",        false, 0, 0,            NUMBERS,  SINE_FORWARD(0), sine_forward, sine_forward_check, NULL, 0 },
    { "sine-forward-2",      "unit, a row", false, 2, 0,            NUMBERS,  SINE_FORWARD(2), sine_forward, sine_forward_check, NULL, 0 },
    { "sine-forward-4",      "unit, a row", false, 4, 0,            NUMBERS,  SINE_FORWARD(4), sine_forward, sine_forward_check, NULL, 0 },
    { "sine-values",         "unit",        false, 0, 0,            NUMBERS,  8.0 * NUMBERS,   sine_values, sine_values_check, NULL, 0 },
    { "sine-adjoint",        "unit",        false, 0, 0,            NUMBERS,  SINE_ADJOINT(0), sine_adjoint, sine_adjoint_check, sine_adjoint_settle, 0 },
    { "sine-adjoint-2",      "unit, a row", false, 2, 0,            NUMBERS,  SINE_ADJOINT(2), sine_adjoint, sine_adjoint_check, sine_adjoint_settle, 0 },
    { "sine-adjoint-4",      "unit, a row", false, 4, 0,            NUMBERS,  SINE_ADJOINT(4), sine_adjoint, sine_adjoint_check, sine_adjoint_settle, 0 },
    { "output-forward",      "unit",        false, 0, 0,            NUMBERS,  4.0 * NUMBERS,   output_forward, output_forward_check, NULL, 0 },
    { "output-adjoint",      "unit",        false, 0, 0,            NUMBERS,  8.0 * NUMBERS,   output_adjoint, output_adjoint_check, NULL, 0 },
    { "linear-forward",      "feature",     false, 0, 0,            NUMBERS,  4.0 * NUMBERS,   linear_forward, linear_forward_check, NULL, 0 },
    { "linear-adjoint",      "feature",     false, 0, 0,            NUMBERS,  4.0 * NUMBERS,   linear_adjoint, linear_adjoint_check, NULL, 0 },
    { "multiply",            "feature",     false, 0, 0,            NUMBERS,  12.0 * NUMBERS,  multiply, multiply_check, NULL, 0 },
    { "scale",               "feature",     false, 0, 0,            NUMBERS,  8.0 * NUMBERS,   scale, scale_check, NULL, 0 },
    { "turn",                "plane wave",  false, 0, 0,            NUMBERS,  16.0 * NUMBERS,  turn, turn_check, turn_settle, 0 },
    { "sincos",              "pair",        false, 0, 0,            NUMBERS,  12.0 * NUMBERS,  sincos_all, sincos_check, NULL, 0 },
    { "cauchy-mean",         "centre",      false, 0, 0,            CENTRES,  0,               cauchy_mean, cauchy_mean_check, NULL, 0 },
    { "kernel-sums",         "kernel term", false, 0, 0,            (double)SUM_ROWS * CENTRES, 0, kernel_sums, kernel_sums_check, kernel_sums_settle, 0 },
};
/* clang-format on */
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

const char *bench_kernel_name(int i)
{
    return i < KERNEL_COUNT ? KERNELS[i].name : NULL;
}

static npmd_status room_call(void *self, npmd_error *err)
{
    room *r = self;
    (void)err;
    r->row->call(r);
    return NPMD_OK;
}

static npmd_status kernel_time(const bench *b, room *r, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const kernel_row *k = r->row;
    char what[64];
    bench_times t;
    json_t *row = bench_row(rows);
    r->rows = k->wide ? WIDE_ROWS : ROWS;
    r->units = k->wide ? WIDE_UNITS : UNITS;
    r->ld = r->units + TILE_UNITS;
    r->ld_columns = r->rows + TILE_ROWS;
    r->T = k->T;
    r->lap = k->T > 0;
    r->m = (size_t)POINTS_OF(k->T);
    snprintf(what, sizeof what, "kernel %s, %s", k->name, r->k->name);
    TRY(bench_say(b, err, "%s", what));
    room_refresh(r);
    const agreement v = k->check(r);
    TRY(bench_verify(what, v.error, v.bound, err));
    room_refresh(r);
    if (k->settle != NULL)
        k->settle(r);
    TRY(bench_time(b, bench_effort_kernel(b), room_call, r, &t, err));
    const double rate = k->flop / t.median, bytes = k->bytes / t.median;
    TRY(BENCH_PUT(row, err, TEXT("variant", r->k->name), TEXT("name", k->name), REAL("error", v.error),
                  REAL("bound", v.bound), WHOLE("repeats", t.repeats), REAL("us", 1e6 * t.median),
                  REAL("us_low", 1e6 * t.low), REAL("us_high", 1e6 * t.high)));
    if (k->flop > 0.0)
        TRY(BENCH_PUT(row, err, REAL("gflops", 1e-9 * rate), REAL("share", rate / bench_rate(b, (int)r->units))));
    if (k->elements > 0.0)
        TRY(BENCH_PUT(row, err, TEXT("element", k->unit), REAL("ns", 1e9 * t.median / k->elements)));
    if (k->bytes > 0.0)
        TRY(BENCH_PUT(row, err, REAL("gbs", 1e-9 * bytes), REAL("share", bytes / b->bandwidth_cache)));
done:
    return st;
}

npmd_status bench_kernels(const bench *b, json_t *rows, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    room r = { 0 };
    TRY(room_open(&r, err));
    for (int v = 0; BENCH_VARIANTS[v] != NULL; v++) {
        r.k = kernels_select(BENCH_VARIANTS[v]);
        for (int i = 0; r.k != NULL && i < KERNEL_COUNT; i++) {
            r.row = &KERNELS[i];
            if (bench_wants(b, "kernels", r.k->name) || bench_wants(b, NULL, r.row->name))
                TRY(kernel_time(b, &r, rows, err));
        }
    }
done:
    room_close(&r);
    return st;
}
