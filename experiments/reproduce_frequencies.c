/* reproduce_frequencies.c - the frequencies in v, the log density up to a constant, on T2, against the paper's Theorem
 * 1.
 *
 * The theorem, corrected. Let W hold the frequency vectors of the encoding: (a, b) and (a, -b) for a product of cos or
 * sin of a x and b y, one vector for a plane wave. A sine layer, expanded about its biases, multiplies functions, and a
 * product of cosines has the sums and differences of their frequencies. So a term of degree m has frequencies +- w_1 +-
 * ... +- w_m, w_i in W, any of them, signs and all; v has only frequencies of the lattice that W generates, and the
 * degree of a frequency is the least number of vectors of W that give it. Without biases sin is odd, and so is every
 * degree; with them, as here, all degrees occur. The paper takes one sign pattern for each product: multiples of (1, 1)
 * and of (1, -1) from cos x cos y, but not (2, 0) of degree 2, nor (3, 1) of degree 3.
 *
 * How far the series matters. With |f| the sum of the moduli of the coefficients of f, the terms of degree m are
 * bounded by the coefficients V_m of a power series: pre-activations of the first layer by A_1(t) = a t, a layer by
 * exp(A(t)) - 1 since all derivatives of the sine are at most 1, its sum by the greatest weight times the width. A
 * frequency of degree d has a coefficient of at most sum of V_m, m >= d. The truncation M is the least degree for which
 * that sum beyond it is below the tolerance. From depth 4 on M is beyond any grid: then all of the lattice is
 * permitted. */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.28318530717958647692
#define TOLERANCE 1e-6 /* of the largest coefficient; rounding leaves 1e-16 of it */

enum {
    GRID_FIRST = 128, /* doubled while the highest frequencies still hold something */
    GRID_MOST = 512,
    EDGE = 8,
    FUNCTIONS_MOST = 8,
    SERIES = 400 /* terms of the majorant */
};

/* ---- The encoding ------------------------------------------------------------------------------------------------ */

typedef struct vector {
    int k1, k2;
} vector;

typedef struct wave_set { /* of one function: its frequencies modulo sign */
    vector w[2];
    int count;
} wave_set;

typedef struct encoding {
    wave_set function[FUNCTIONS_MOST];
    int count;
} encoding;

static double sine_or_cosine(bool sine, double x)
{
    return sine ? sin(x) : cos(x);
}

/* Mean over the grid of v times a product, or a plane wave when `plane`. */
static double projection(const reproduce_spectrum *s, bool plane, vector w, bool sine1, bool sine2)
{
    double sum = 0.0;
    for (int i = 0; i < s->G; i++)
        for (int j = 0; j < s->G; j++) {
            const double x = TWO_PI * w.k1 * i / s->G, y = TWO_PI * w.k2 * j / s->G;
            sum += s->values[(size_t)i * (size_t)s->G + (size_t)j]
                   * (plane ? sine_or_cosine(sine1, x + y) : sine_or_cosine(sine1, x) * sine_or_cosine(sine2, y));
        }
    return sum / s->G / s->G;
}

/* A network of depth 1 is a sum of its encoding, so its projections on products, or on plane waves, say
 * which there are. */
static npmd_status find_encoding(const reproduce_spectrum *s, bool plane, int most, encoding *out, npmd_error *err)
{
    double largest = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int k1 = 0; k1 <= most; k1++)
            for (int k2 = plane && k1 > 0 ? -most : 0; k2 <= most; k2++)
                for (int sines = 0; sines < 4; sines++) {
                    const bool sine1 = sines & 1, sine2 = sines & 2;
                    const bool none = plane ? sine2 : (sine1 && k1 == 0) || (sine2 && k2 == 0);
                    if (none || (k1 == 0 && k2 == 0))
                        continue;
                    const double found = fabs(projection(s, plane, (vector){ k1, k2 }, sine1, sine2));
                    if (pass == 0)
                        largest = fmax(largest, found);
                    if (pass == 0 || found <= 1e-9 * largest)
                        continue;
                    if (out->count == FUNCTIONS_MOST)
                        return reproduce_fail(err, NPMD_ERR_NUMERIC, "the encoding has more functions than expected");
                    wave_set *f = &out->function[out->count++];
                    f->w[f->count++] = (vector){ k1, k2 };
                    if (!plane && k1 > 0 && k2 > 0)
                        f->w[f->count++] = (vector){ k1, -k2 };
                }
    return NPMD_OK;
}

/* ---- Degrees: the least number of vectors that add up to a frequency --------------------------------------------- */

typedef struct degrees { /* of the frequencies up to H; -1: none */
    int H;
    int *of, *walked, *queue; /* (2 H + 1, 2 H + 1) each; the last two belong to a walk */
} degrees;

static size_t degree_index(const degrees *d, int k1, int k2)
{
    return (size_t)(k1 + d->H) * (size_t)(2 * d->H + 1) + (size_t)(k2 + d->H);
}

static npmd_status degrees_open(int H, degrees *d, npmd_error *err)
{
    const size_t count = (size_t)(2 * H + 1) * (size_t)(2 * H + 1), bytes = count * sizeof(int);
    *d = (degrees){ H, malloc(bytes), malloc(bytes), malloc(bytes) };
    for (size_t i = 0; d->of && i < count; i++)
        d->of[i] = -1;
    return d->of && d->walked && d->queue ? NPMD_OK
                                          : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for degrees");
}

static void degrees_close(degrees *d)
{
    free(d->of);
    free(d->walked);
    free(d->queue);
}

/* Breadth first from 0 along +-w; a degree that is there already and less stays. */
static void degrees_walk(degrees *d, const vector *w, int count)
{
    const int side = 2 * d->H + 1;
    int first = 0, last = 0;
    for (int i = 0; i < side * side; i++)
        d->walked[i] = -1;
    d->queue[last++] = (int)degree_index(d, 0, 0);
    d->walked[d->queue[0]] = 0;
    while (first < last) {
        const int at = d->queue[first++], k1 = at / side - d->H, k2 = at % side - d->H;
        for (int i = 0; i < 2 * count; i++) {
            const int sign = i % 2 ? -1 : 1, to1 = k1 + sign * w[i / 2].k1, to2 = k2 + sign * w[i / 2].k2;
            if (abs(to1) > d->H || abs(to2) > d->H || d->walked[degree_index(d, to1, to2)] >= 0)
                continue;
            d->walked[degree_index(d, to1, to2)] = d->walked[at] + 1;
            d->queue[last++] = (int)degree_index(d, to1, to2);
        }
    }
    for (int i = 0; i < side * side; i++)
        if (d->walked[i] >= 0 && (d->of[i] < 0 || d->walked[i] < d->of[i]))
            d->of[i] = d->walked[i];
}

/* All vectors of all functions. */
static void degrees_corrected(const encoding *e, degrees *d)
{
    vector w[2 * FUNCTIONS_MOST] = { { 0, 0 } };
    int count = 0;
    for (int k = 0; k < e->count; k++)
        for (int i = 0; i < e->function[k].count; i++)
            w[count++] = e->function[k].w[i];
    degrees_walk(d, w, count);
}

/* The paper's set, read generously: any whole c_k, negative ones too, but one vector for each function. */
static void degrees_paper(const encoding *e, degrees *d)
{
    for (unsigned pattern = 0; pattern < 1u << e->count; pattern++) {
        vector w[FUNCTIONS_MOST] = { { 0, 0 } };
        bool distinct = true;
        for (int k = 0; k < e->count; k++) {
            const bool second = pattern >> k & 1u;
            distinct = distinct && (!second || e->function[k].count == 2);
            w[k] = e->function[k].w[second && e->function[k].count == 2];
        }
        if (distinct)
            degrees_walk(d, w, e->count);
    }
}

/* ---- The degree that suffices ------------------------------------------------------------------------------------ */

/* e = exp(a) as power series, a_0 = 0: n e_n = sum k a_k e_(n-k). */
static void series_exp(const double *a, double *e)
{
    e[0] = 1.0;
    for (int n = 1; n < SERIES; n++) {
        double sum = 0.0;
        for (int k = 1; k <= n; k++)
            sum += k * a[k] * e[n - k];
        e[n] = sum / n;
    }
}

/* Only for weights at the authors' start: |W_1| <= 1/K on plain functions, |W_l| <= sqrt(6 / width) /
 * omega. NaN: no degree up to the last of the series is known to suffice. */
static double truncation(const npmd_options *o, double tolerance)
{
    const double depth = npmd_options_number(o, "depth"), omega = npmd_options_number(o, "omega");
    double a[SERIES] = { 0.0 }, e[SERIES], tail = 0.0;
    if (npmd_options_number(o, "rate") > 0.0)
        return NAN;
    if (depth == 1.0)
        return 1.0;
    const double sum = sqrt(6.0 * npmd_options_number(o, "width")); /* of a unit's moduli, times omega */
    a[1] = omega;
    for (int l = 2; l <= depth; l++) {
        series_exp(a, e);
        for (int n = 1; n < SERIES; n++)
            a[n] = (l == depth ? sum / omega : sum) * e[n];
    }
    for (int n = SERIES - 1; n > 0; n--) {
        tail += a[n];
        if (!(tail < tolerance))
            return n < SERIES - 1 && isfinite(tail) ? (double)n : NAN;
    }
    return NAN;
}

/* ---- One task ---------------------------------------------------------------------------------------------------- */

static double modulus(const reproduce_spectrum *s, int k1, int k2)
{
    const double *c = reproduce_spectrum_at(s, k1, k2);
    return hypot(c[0], c[1]);
}

/* The largest coefficient but the constant, of those with a frequency of at least `from`. */
static double largest_from(const reproduce_spectrum *s, int from)
{
    const int H = s->G / 2 - 1;
    double largest = 0.0;
    for (int k1 = 0; k1 <= H; k1++)
        for (int k2 = -H; k2 <= H; k2++)
            if (k1 >= from || abs(k2) >= from)
                largest = fmax(largest, modulus(s, k1, k2));
    return largest;
}

static npmd_status fit_spectrum(reproduce_child *c, reproduce_spectrum *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool enough = false;
    TRY(reproduce_fit(c, err));
    for (int G = GRID_FIRST; !enough; G *= 2) {
        reproduce_spectrum_close(s);
        TRY(reproduce_spectrum_open(G, s, err));
        TRY(reproduce_spectrum_of_model(c->model, NPMD_LOG_DENSITY, s, err));
        enough = 2 * G > GRID_MOST || largest_from(s, G / 2 - EDGE) < 1e-3 * TOLERANCE * largest_from(s, 1);
    }
done:
    return st;
}

/* Counts are modulo sign: k1 > 0, or k1 = 0 and k2 > 0. The paper's set is taken at the least truncation
 * at which the corrected one holds everything that was found. */
static void count_frequencies(reproduce_child *c, const reproduce_spectrum *s, const degrees *corrected,
                              const degrees *paper, double most)
{
    const double largest = largest_from(s, 1), tolerance = TOLERANCE * largest;
    double *figure = c->result.figure, found = 0, permitted = 0, outside = 0, outside_paper = 0, worst = 0;
    int highest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k1 = 0; k1 <= corrected->H; k1++)
            for (int k2 = k1 == 0 ? 1 : -corrected->H; k2 <= corrected->H; k2++) {
                const int d = corrected->of[degree_index(corrected, k1, k2)],
                          p = paper->of[degree_index(paper, k1, k2)];
                const double size = modulus(s, k1, k2);
                const bool within = d >= 0 && !(d > most); /* most NaN: no bound */
                if (pass == 0) {
                    permitted += within;
                    if (size > tolerance && d > highest)
                        highest = d;
                    continue;
                }
                if (size <= tolerance)
                    continue;
                found++;
                outside += !within;
                if (p < 0 || p > highest) {
                    outside_paper++;
                    worst = fmax(worst, size / largest);
                }
                reproduce_text_row(&c->rows[0], (const double[]){ k1, k2, size, d, p }, 5);
            }
    figure[FIGURE_FOUND] = found;
    figure[FIGURE_DEGREE] = highest;
    figure[FIGURE_TRUNCATION] = most;
    figure[FIGURE_PERMITTED] = permitted;
    figure[FIGURE_OUTSIDE] = outside;
    figure[FIGURE_OUTSIDE_PAPER] = outside_paper;
    figure[FIGURE_LARGEST_OUTSIDE_PAPER] = worst;
    figure[FIGURE_EDGE] = largest_from(s, s->G / 2 - EDGE) / largest;
}

/* The task's network without its hidden layers, at its start: a sum of the encoding. */
static npmd_status shallow_options(reproduce_child *c, npmd_error *err)
{
    static const char *const SETTINGS[][2] = { { "depth", "1" }, { "rate", "0" }, { "steps", "1" } };
    npmd_status st = reproduce_options(c, err);
    for (size_t i = 0; st == NPMD_OK && i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        st = npmd_options_set(c->options, SETTINGS[i][0], SETTINGS[i][1], err);
    return st;
}

npmd_status measure_frequencies(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    reproduce_spectrum s = { 0 };
    degrees corrected = { 0 }, paper = { 0 };
    encoding e = { 0 };
    TRY(shallow_options(c, err));
    TRY(fit_spectrum(c, &s, err));
    TRY(find_encoding(&s, npmd_options_number(c->options, "separable") == 0.0,
                      (int)npmd_options_number(c->options, "max-frequency"), &e, err));
    TRY(reproduce_options(c, err));
    TRY(fit_spectrum(c, &s, err));
    TRY(degrees_open(s.G / 2 - 1, &corrected, err));
    TRY(degrees_open(s.G / 2 - 1, &paper, err));
    degrees_corrected(&e, &corrected);
    degrees_paper(&e, &paper);
    c->result.figure[FIGURE_FUNCTIONS] = e.count;
    count_frequencies(c, &s, &corrected, &paper, truncation(c->options, TOLERANCE * largest_from(&s, 1)));
done:
    degrees_close(&corrected);
    degrees_close(&paper);
    reproduce_spectrum_close(&s);
    return st;
}
