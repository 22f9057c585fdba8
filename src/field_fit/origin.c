/* origin.c - fits that begin with another model: its encoding, its weights, or the linear part of a series.
 *
 * A field gives all of its parameters and, since they mean nothing without it, its encoding. A series is projected on
 * the features: these are orthonormal up to their scale, so each coefficient is an inner product with the series, known
 * in closed form for the functions of its basis. The fitted model keeps a hash of the other file's bytes, not its
 * name. */
#include "field_fit.h"

static npmd_status same_shape(const network_settings *own, const network_settings *from, const char *path,
                              npmd_error *err)
{
    if (own->depth != from->depth || own->width != from->width)
        return npmd_fail(err, NPMD_ERR_SHAPE, "%s: a field of depth %d and width %d, this fit has %d and %d", path,
                         from->depth, from->width, own->depth, own->width);
    if (own->skip != from->skip)
        return npmd_fail(err, NPMD_ERR_SHAPE, "%s: a field with `skip` %s, this fit has %s", path,
                         from->skip ? "on" : "off", own->skip ? "on" : "off");
    if (own->omega != from->omega)
        return npmd_fail(err, NPMD_ERR_SHAPE, "%s: a field with `omega` %g, this fit has %g", path, from->omega,
                         own->omega);
    return NPMD_OK;
}

npmd_status origin_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    settings *o = &p->full;
    const fit_origin *from = &p->origin;
    if (from->encoded != NULL) {
        if (from->encoded->kind != &ESTIMATOR_FIELD) {
            st = npmd_fail(err, NPMD_ERR_SHAPE, "`encoding-from`: %s was fitted by `estimator` %s, expected a field",
                           from->encoded_path, from->encoded->kind->name);
            goto done;
        }
        TRY(settings_take_encoding(o, &from->encoded->set, from->encoded_path, err));
    }
    if (from->model == NULL)
        goto done;
    if (from->model->kind == &ESTIMATOR_FIELD) {
        if (from->encoded != from->model) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "`start-from`: the weights of a field belong to its own encoding; do without "
                           "`encoding-from`");
            goto done;
        }
        TRY(same_shape(&o->network, &from->model->set.network, from->model_path, err));
    } else if (from->model->set.estimator != FIT_SERIES || from->model->parts > 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE,
                       "`start-from`: %s was fitted by `estimator` %s, expected a field or a series", from->model_path,
                       from->model->kind->name);
    } else if (!o->network.skip && o->network.depth > 1) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "`start-from`: a series starts the linear path, which `skip` off leaves out");
    }
done:
    return st;
}

/* ---- a series on the features ------------------------------------------------------------------------------------ */

/* The coefficient of a product of eigenfunctions; false: it is not in the basis. */
static bool product_coefficient(const series_basis *b, const double *c, const int *function, double *out)
{
    size_t at = 0;
    for (int d = 0; d < b->factors; d++) {
        if ((size_t)function[d] >= b->functions[d])
            return false;
        at = at * (d == b->factors - 1 ? b->last : b->functions[d]) + (size_t)function[d];
    }
    *out = c[at];
    return true;
}

/* The mean of v times sqrt(2) cos(i . x), or sine. With the z non-zero frequencies i_d the cosine is a sum
 * over the sets of factors that take their sine, even in number (of the sine: odd), of a sign times a
 * product of cosines and sines, each 2^(-1/2) times a function of mean square 1:
 *     cos(a + b) = cos a cos b - sin a sin b,     sin(a + b) = sin a cos b + cos a sin b, and so on. */
static bool wave_coefficient(const series_basis *b, const double *c, const int *frequency, bool sine, double *out)
{
    int function[NPMD_MAX_FACTORS] = { 0 }, factor[NPMD_MAX_FACTORS], z = 0;
    double sum = 0.0;
    for (int d = 0; d < b->factors; d++)
        if (frequency[d] != 0)
            factor[z++] = d;
    for (unsigned set = 0; set < 1u << z; set++) {
        int sines = 0, sign = 1;
        double term = 0.0;
        for (int j = 0; j < z; j++) {
            const int k = abs(frequency[factor[j]]), takes = (int)(set >> j & 1u);
            function[factor[j]] = 2 * k - 1 + takes; /* cosine, then sine */
            sines += takes;
            sign *= takes && frequency[factor[j]] < 0 ? -1 : 1;
        }
        if (sines % 2 != (sine ? 1 : 0))
            continue;
        if (!product_coefficient(b, c, function, &term))
            return false;
        sum += (sines / 2 % 2 == 0 ? sign : -sign) * term;
    }
    *out = sqrt(2.0) * pow(2.0, -0.5 * z) * sum;
    return true;
}

int origin_project(const npmd_model *series, const encoding *enc, double *coefficient)
{
    const series_state *state = series->state;
    const series_basis *b = &state->basis;
    const double *c = state->c, *rotation = enc->rotation;
    const size_t D = (size_t)enc->domain->factors;
    int matched = 0, block = 0, in_block = 0, first = 0; /* of a rotated encoding: its block, its row there */
    for (int k = 0; k < enc->features; k++) {
        const double copies = enc->copies == NULL ? 1.0 : enc->copies[k];
        double found = 0.0;
        bool inside = true;
        if (enc->blocks > 0) {
            const encoding_block *at = &enc->block[block];
            for (int j = 0; j < at->functions && inside; j++) {
                double term = 0.0;
                inside = product_coefficient(b, c, enc->function + (size_t)(first + j) * D, &term);
                found += rotation[j] * term;
            }
            rotation += at->functions;
            if (++in_block == at->features) {
                first += at->functions;
                block++;
                in_block = 0;
            }
        } else if (enc->waves) {
            const bool sine = k >= enc->vectors;
            inside = wave_coefficient(b, c, enc->function + (size_t)(sine ? k - enc->vectors : k) * D, sine, &found);
        } else {
            inside = product_coefficient(b, c, enc->function + (size_t)k * D, &found);
        }
        coefficient[k] = inside ? feature_unit(enc, k) * found / copies : 0.0;
        matched += inside;
    }
    return matched;
}
