/* reproduce_spectrum.c - Fourier coefficients on T2, and those of a density while it is fitted (Figures S3
 * to S5). */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.28318530717958647692

/* ---- The transform ----------------------------------------------------------------------------------------------- */

/* One factor after the other: y_k = (1/G) sum_j x_j exp(-i k x_j), along the second index; the result is
 * transposed, so that two passes restore the order. */
static void transform_pass(const double *x, int G, const double *wave, double *y)
{
    for (int i = 0; i < G; i++)
        for (int k = 0; k < G; k++) {
            double re = 0.0, im = 0.0;
            for (int j = 0, at = 0; j < G; j++, at = (at + k) % G) {
                const double *v = x + 2 * ((size_t)i * (size_t)G + (size_t)j);
                re += v[0] * wave[2 * at] + v[1] * wave[2 * at + 1];
                im += v[1] * wave[2 * at] - v[0] * wave[2 * at + 1];
            }
            double *out = y + 2 * ((size_t)k * (size_t)G + (size_t)i);
            out[0] = re / G;
            out[1] = im / G;
        }
}

static npmd_status transform(reproduce_spectrum *s, npmd_error *err)
{
    const int G = s->G;
    double *c = s->c;
    const size_t nodes = (size_t)G * (size_t)G;
    double *wave = malloc(2 * (size_t)G * sizeof *wave), *half = malloc(2 * nodes * sizeof *half);
    if (wave && half) {
        for (int j = 0; j < G; j++) {
            wave[2 * j] = cos(TWO_PI * j / G);
            wave[2 * j + 1] = sin(TWO_PI * j / G);
        }
        for (size_t i = 0; i < nodes; i++) {
            c[2 * i] = s->values[i];
            c[2 * i + 1] = 0.0;
        }
        transform_pass(c, G, wave, half);
        transform_pass(half, G, wave, c);
    }
    const bool done = wave && half;
    free(wave);
    free(half);
    return done ? NPMD_OK : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a spectrum");
}

const double *reproduce_spectrum_at(const reproduce_spectrum *s, int k1, int k2)
{
    const int G = s->G;
    return s->c + 2 * ((size_t)((k1 + G) % G) * (size_t)G + (size_t)((k2 + G) % G));
}

static double *grid_nodes(int G)
{
    double *x = malloc(2 * (size_t)G * (size_t)G * sizeof *x);
    for (int i = 0; x && i < G; i++)
        for (int j = 0; j < G; j++) {
            x[2 * (i * G + j)] = TWO_PI * i / G;
            x[2 * (i * G + j) + 1] = TWO_PI * j / G;
        }
    return x;
}

npmd_status reproduce_spectrum_open(int G, reproduce_spectrum *s, npmd_error *err)
{
    const size_t nodes = (size_t)G * (size_t)G;
    *s = (reproduce_spectrum){ G, malloc(nodes * sizeof(double)), malloc(2 * nodes * sizeof(double)) };
    return s->values && s->c ? NPMD_OK : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a spectrum");
}

void reproduce_spectrum_close(reproduce_spectrum *s)
{
    free(s->values);
    free(s->c);
}

/* In double precision, so that a coefficient that is not there is not. */
npmd_status reproduce_spectrum_of_model(const npmd_model *model, npmd_what what, reproduce_spectrum *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int G = s->G;
    npmd_compute how = NPMD_SIZED(npmd_compute);
    npmd_points *nodes = NULL;
    double *x = grid_nodes(G);
    how.threads = 1;
    how.device = "reference";
    TRY(x ? reproduce_points(x, (size_t)G * (size_t)G, npmd_model_domain(model), &nodes, err)
          : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a grid"));
    TRY(npmd_evaluate_at(model, nodes, what, &how, s->values, err));
    TRY(transform(s, err));
done:
    npmd_points_free(nodes);
    free(x);
    return st;
}

/* ---- Figures S3 to S5 -------------------------------------------------------------------------------------------- */

enum {
    BIAS_GRID = 128, /* the narrowest component has a standard deviation of 0.1: nothing is left at frequency 64 */
    BIAS_SHOWN = 16,
    BIAS_LOW = 4
};

static npmd_status truth_spectrum(const npmd_truth *truth, const npmd_compute *how, reproduce_spectrum *s,
                                  npmd_error *err)
{
    const size_t nodes = (size_t)s->G * (size_t)s->G;
    const double volume = npmd_domain_volume(npmd_truth_domain(truth));
    double *x = grid_nodes(s->G);
    npmd_status st = x ? npmd_truth_log_density(truth, x, nodes, how, s->values, err)
                       : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for a grid");
    for (size_t i = 0; st == NPMD_OK && i < nodes; i++)
        s->values[i] = volume * exp(s->values[i]);
    free(x);
    return st == NPMD_OK ? transform(s, err) : st;
}

/* Share of the truth's power, without the constant, that the estimate misses, up to a frequency. */
static double missed(const reproduce_spectrum *estimate, const reproduce_spectrum *truth, int most)
{
    double error = 0.0, power = 0.0;
    for (int k1 = -most; k1 <= most; k1++)
        for (int k2 = -most; k2 <= most; k2++) {
            const double *e = reproduce_spectrum_at(estimate, k1, k2), *t = reproduce_spectrum_at(truth, k1, k2);
            if (k1 == 0 && k2 == 0)
                continue;
            error += (e[0] - t[0]) * (e[0] - t[0]) + (e[1] - t[1]) * (e[1] - t[1]);
            power += t[0] * t[0] + t[1] * t[1];
        }
    return error / power;
}

/* The relative density of this moment; its moduli become rows. */
static npmd_status keep_spectrum(reproduce_child *c, const reproduce_spectrum *truth, reproduce_spectrum *now,
                                 npmd_error *err)
{
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    npmd_model_facts(c->model, &facts, NULL);
    const npmd_status st = reproduce_spectrum_of_model(c->model, NPMD_RELATIVE, now, err);
    for (int k1 = 0; st == NPMD_OK && k1 <= BIAS_SHOWN; k1++)
        for (int k2 = k1 == 0 ? 0 : -BIAS_SHOWN; k2 <= BIAS_SHOWN; k2++) {
            const double *e = reproduce_spectrum_at(now, k1, k2), *t = reproduce_spectrum_at(truth, k1, k2);
            reproduce_text_row(
                &c->rows[1], (const double[]){ (double)facts.steps, k1, k2, hypot(e[0], e[1]), hypot(t[0], t[1]) }, 5);
        }
    c->result.figure[FIGURE_MISSED] = missed(now, truth, now->G / 2 - 1);
    c->result.figure[FIGURE_MISSED_LOW] = missed(now, truth, BIAS_LOW);
    return st;
}

/* After a hundredth and a tenth of the steps, and at the end. A fit that is stopped cannot go on, so the
 * beginning is done again: the same numbers, since every random number is a function of the seed and the
 * step. */
npmd_status measure_spectral_bias(reproduce_child *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const double until[] = { 0.01, 0.1, 1.0 };
    reproduce_spectrum truth = { 0 }, now = { 0 };
    TRY(reproduce_options(c, err));
    TRY(reproduce_spectrum_open(BIAS_GRID, &truth, err));
    TRY(reproduce_spectrum_open(BIAS_GRID, &now, err));
    TRY(truth_spectrum(c->truth, &c->plan->how, &truth, err));
    for (int i = 0; i < 3; i++) {
        c->until = until[i];
        c->profile = i == 2;
        npmd_options_truth(c->options, c->profile ? c->truth : NULL);
        TRY(reproduce_fit(c, err));
        TRY(keep_spectrum(c, &truth, &now, err));
    }
    TRY(reproduce_compare(c, err));
done:
    reproduce_spectrum_close(&truth);
    reproduce_spectrum_close(&now);
    return st;
}
