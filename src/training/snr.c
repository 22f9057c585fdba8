/* snr.c - signal-to-noise ratios of the gradients of the data, the integral and the penalty (the paper's supplement,
 * "Convergence Diagnostics"; Mahsereci et al. 2017).
 *
 * With g_i the gradient that point i alone would give, i = 1 .. n, and g their mean, each term has
 *
 *     SNR = average over parameters p of g_p^2 / Var_p,     Var_p = sum_i (g_i - g)_p^2 / (n - 1).
 *
 * The variance is that of one point's gradient, as in the paper, not that of the mean: n only enters the noise of the
 * ratio, 1/n on average where there is no signal. Parameters with the same gradient for all points (the output's bias
 * under the data) have no variance and are left out. A data point of weight w (mean 1) counts with w times its
 * gradient, as in a step, so unequal weights are noise as well.
 *
 * The ratio is defined for independent points: the integral and the penalty use q1 and q2 independent uniform points,
 * whatever training uses, and the data the batch of the next step. */
#include "training.h"

/* Of the mean square of a gradient. A variance below it is the rounding of the sums that it is the difference of. */
#define NO_VARIANCE 1e-10

npmd_status snr_open(snr *s, const field_plan *plan, const backend *b, int threads, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (snr){ .parameters = field_parameters(&plan->shape) };
    TRY(memory_new(&s->gradient, s->parameters, err));
    TRY(memory_new(&s->square, s->parameters, err));
    if (b->ops->squares == NULL) {
        TRY(memory_new(&s->theta, s->parameters, err));
        TRY(backend_open("cpu", threads, plan, &s->other, err));
    }
done:
    if (st != NPMD_OK)
        snr_close(s);
    return st;
}

void snr_close(snr *s)
{
    backend_close(&s->other);
    memory_free(s->theta);
    memory_free(s->gradient);
    memory_free(s->square);
    *s = (snr){ 0 };
}

/* gradient = sum_i c_i and square = sum_i c_i^2, c_i = g_i / n: so Var = n/(n - 1) (n square - gradient^2). */
static double average_ratio(const double *gradient, const double *square, size_t parameters, size_t n)
{
    double sum = 0.0;
    size_t counted = 0;
    for (size_t p = 0; p < parameters && n > 1; p++) {
        const double mean2 = gradient[p] * gradient[p], second = (double)n * square[p];
        if (!(second - mean2 > NO_VARIANCE * second))
            continue;
        sum += mean2 / (second - mean2) * ((double)n - 1.0) / (double)n;
        counted++;
    }
    return counted == 0 ? NAN : sum / (double)counted;
}

static npmd_status term_snr(snr *s, const backend *with, term_kind kind, const point_source *points, double *out,
                            npmd_error *err)
{
    const npmd_status st = with->ops->squares(with->self, &(term_request){ kind, points, 1.0 }, s->gradient, s->square,
                                              err);
    if (st == NPMD_OK)
        *out = average_ratio(s->gradient, s->square, s->parameters, points->count);
    return st;
}

npmd_status snr_at(snr *s, objective *o, backend *b, int64_t step, snr_values *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = o->opt;
    const backend *with = s->theta == NULL ? b : &s->other;
    const step_recipe recipe = objective_recipe(o);
    snr_values found = { NAN, NAN, NAN };
    point_source points;
    if (s->theta != NULL) {
        TRY(b->ops->get(b->self, VECTOR_THETA, s->theta, err));
        TRY(with->ops->put(with->self, VECTOR_THETA, s->theta, err));
    }
    objective_batch(o, step, &points);
    TRY(term_snr(s, with, TERM_DATA, &points, &found.a, err));
    if (o->base != NULL)
        TRY(objective_integral_points(o, step, (size_t)opt->descent.q1, &points, err));
    else
        source_uniform(&points, o->domain, (size_t)opt->descent.q1, false,
                       rng_key_make(opt->seed, RNG_DIAGNOSE, 2 * (uint64_t)step));
    TRY(term_snr(s, with, TERM_INTEGRAL, &points, &found.b, err));
    if (recipe.penalised) {
        source_uniform(&points, o->domain, (size_t)opt->descent.q2, false,
                       rng_key_make(opt->seed, RNG_DIAGNOSE, 2 * (uint64_t)step + 1));
        TRY(term_snr(s, with, recipe.penalty, &points, &found.c, err));
    }
    *out = found;
done:
    return st;
}
