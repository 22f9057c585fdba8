/* start.c - fits that begin with another model: its encoding, its weights, or the linear part of a series.
 *
 * A field gives all of its parameters and, since they mean nothing without it, its encoding. A series is
 * projected on the features: those are orthonormal but for their scale, so each coefficient is an inner
 * product with the series, known in closed form for the functions of its basis. The model that is fitted
 * keeps a hash of the other file's bytes; its name is no part of the answer. */
#include "series.h"

#include <stdio.h>

static npmd_status start_load(const char *path, const npmd_domain *dom, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    TRY(npmd_load(path, &m, err));
    if (strcmp(m->domain->text, dom->text) != 0) {
        st = npmd_fail(err, NPMD_ERR_SHAPE, "%s is a model on %s, this fit is on %s", path, m->domain->text,
                       dom->text);
        goto done;
    }
    *out = m;
    m = NULL;
done:
    npmd_model_free(m);
    return st;
}

static npmd_status start_hash(const char *path, char hash[MODEL_HASH], npmd_error *err)
{
    file_bytes bytes = { 0 };
    const npmd_status st = file_read(path, &bytes, err);
    if (st != NPMD_OK)
        return st;
    snprintf(hash, MODEL_HASH, "%016llx", (unsigned long long)hash_bytes(0, bytes.data, bytes.size));
    file_bytes_free(&bytes);
    return NPMD_OK;
}

/* ---- before the fit ------------------------------------------------------------------------------------ */

static npmd_status same_shape(const npmd_options *opt, const npmd_options *from, const char *path,
                              npmd_error *err)
{
    if (opt->depth != from->depth || opt->width != from->width)
        return npmd_fail(err, NPMD_ERR_SHAPE, "%s: a field of depth %d and width %d, this fit has %d and %d",
                         path, from->depth, from->width, opt->depth, opt->width);
    if (opt->skip != from->skip)
        return npmd_fail(err, NPMD_ERR_SHAPE, "%s: a field with --skip %s, this fit has %s", path,
                         from->skip ? "on" : "off", opt->skip ? "on" : "off");
    if (opt->omega != from->omega)
        return npmd_fail(err, NPMD_ERR_SHAPE, "%s: a field with --omega %g, this fit has %g", path,
                         from->omega, opt->omega);
    return NPMD_OK;
}

npmd_status start_resolve(npmd_options *opt, const npmd_domain *dom, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    if (opt->encoding_from[0] != '\0') {
        TRY(start_load(opt->encoding_from, dom, &m, err));
        if (m->kind != &ESTIMATOR_FIELD) {
            st = npmd_fail(err, NPMD_ERR_SHAPE,
                           "--encoding-from: %s was fitted by --estimator %s, expected a field",
                           opt->encoding_from, m->kind->name);
            goto done;
        }
        TRY(options_take_encoding(opt, &m->options, opt->encoding_from, err));
        npmd_model_free(m);
        m = NULL;
    }
    if (opt->start_from[0] == '\0')
        goto done;
    TRY(start_load(opt->start_from, dom, &m, err));
    if (m->kind == &ESTIMATOR_FIELD) {
        if (opt->encoding_from[0] != '\0' && strcmp(opt->encoding_from, opt->start_from) != 0) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "--start-from: the weights of a field belong to its own encoding; do without "
                           "--encoding-from");
            goto done;
        }
        TRY(options_take_encoding(opt, &m->options, opt->start_from, err));
        TRY(same_shape(opt, &m->options, opt->start_from, err));
    } else if (m->kind != &ESTIMATOR_SERIES) {
        st = npmd_fail(err, NPMD_ERR_SHAPE,
                       "--start-from: %s was fitted by --estimator %s, expected a field or a series",
                       opt->start_from, m->kind->name);
    } else if (!opt->skip && opt->depth > 1) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--start-from: a series starts the linear path, which --skip off leaves out");
    }
done:
    npmd_model_free(m);
    return st;
}

/* ---- a series on the features -------------------------------------------------------------------------- */

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
static bool wave_coefficient(const series_basis *b, const double *c, const int *frequency, bool sine,
                             double *out)
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

int start_project(const npmd_model *series, const encoding *enc, double *coefficient)
{
    const series_basis *b = NULL;
    const double *c = NULL, *rotation = enc->rotation;
    const size_t D = (size_t)enc->domain->factors;
    int matched = 0, block = 0, in_block = 0, first = 0; /* of a rotated encoding: its block, its row there */
    series_coefficients(series, &b, &c);
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
            inside = wave_coefficient(b, c, enc->function + (size_t)(sine ? k - enc->vectors : k) * D, sine,
                                      &found);
        } else {
            inside = product_coefficient(b, c, enc->function + (size_t)k * D, &found);
        }
        coefficient[k] = inside ? feature_unit(enc, k) * found / copies : 0.0;
        matched += inside;
    }
    return matched;
}

/* ---- in the fit ---------------------------------------------------------------------------------------- */

npmd_status start_open(npmd_model *m, fit_origin *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_options *opt = &m->options;
    fit_origin s = { 0 };
    if (opt->start_from[0] != '\0') {
        TRY(start_load(opt->start_from, m->domain, &s.model, err));
        TRY(start_hash(opt->start_from, m->started_from, err));
        if (s.model->kind == &ESTIMATOR_FIELD) /* short fits that choose tau take its encoding alone */
            memcpy(m->options.encoding_from, opt->start_from, sizeof opt->start_from);
    }
    if (opt->encoding_from[0] != '\0') {
        TRY(start_load(opt->encoding_from, m->domain, &s.encoded, err));
        TRY(start_hash(opt->encoding_from, m->encoded_from, err));
    }
    *out = s;
    s = (fit_origin){ 0 };
done:
    start_close(&s);
    return st;
}

void start_close(fit_origin *s)
{
    npmd_model_free(s->model);
    npmd_model_free(s->encoded);
    *s = (fit_origin){ 0 };
}
