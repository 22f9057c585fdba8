/* encode.c - an encoding from its indices, and its jet in double precision. */
#include "encoding.h"

static double product_eigenvalue(const encoding *enc, const int *function)
{
    double lambda = 0.0;
    for (int d = 0; d < enc->domain->factors; d++)
        lambda += enc->separable ? enc->domain->factor[d]->eigenvalue(function[d])
                                 : (double)function[d] * (double)function[d];
    return lambda;
}

static void encoding_describe(encoding *enc, npmd_scale scale)
{
    const int D = enc->domain->factors;
    const double volume = enc->domain->volume;
    for (int k = 0; k < enc->features; k++) {
        const int *function = enc->function + (size_t)(k % enc->vectors) * (size_t)D;
        enc->lambda[k] = product_eigenvalue(enc, function);
        if (enc->separable) /* the product itself is orthonormal */
            enc->scale[k] = scale == NPMD_SCALE_UNIT ? sqrt(volume) : 1.0;
        else if (scale == NPMD_SCALE_NONE)
            enc->scale[k] = 1.0;
        else { /* mean cos^2 = 1/2, except for the zero vector */
            const double mean_square = enc->lambda[k] == 0.0 ? 1.0 : 0.5;
            enc->scale[k] = 1.0 / sqrt(scale == NPMD_SCALE_UNIT ? mean_square : mean_square * volume);
        }
        for (int d = 0; d < D; d++) {
            const int f = enc->separable ? enc->domain->factor[d]->frequency(function[d]) : abs(function[d]);
            if (f > enc->frequency[d])
                enc->frequency[d] = f;
        }
    }
}

npmd_status encoding_make(const npmd_domain *dom, bool separable, int features, int vectors,
                          const int *function, npmd_scale scale, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding enc = { .domain = dom, .separable = separable, .features = features, .vectors = vectors };
    const size_t entries = (size_t)vectors * (size_t)dom->factors;
    assert(separable ? features == vectors : vectors <= features && features <= 2 * vectors);
    TRY(memory_new(&enc.function, entries, err));
    TRY(memory_new(&enc.lambda, features, err));
    TRY(memory_new(&enc.scale, features, err));
    memcpy(enc.function, function, entries * sizeof *function);
    encoding_describe(&enc, scale);
    *out = enc;
    enc = (encoding){ 0 };
done:
    encoding_free(&enc);
    return st;
}

void encoding_free(encoding *enc)
{
    memory_free(enc->function);
    memory_free(enc->lambda);
    memory_free(enc->scale);
    *enc = (encoding){ 0 };
}

size_t encoding_work(const encoding *enc)
{
    size_t doubles = 0;
    for (int d = 0; d < enc->domain->factors; d++) {
        const manifold *m = enc->domain->factor[d];
        doubles += (size_t)(1 + m->dimension) * (size_t)m->functions(enc->frequency[d]);
    }
    return doubles;
}

/* Product rule: the derivative along a direction of factor d takes that factor's derivative and the others'
 * values. */
static void separable_jet(const encoding *enc, const double *x, int rows, double *work, double *eta)
{
    const npmd_domain *dom = enc->domain;
    const int K = enc->features, D = dom->factors;
    const double *jet[NPMD_MAX_FACTORS];
    int functions[NPMD_MAX_FACTORS];
    for (int d = 0; d < D; d++) {
        const manifold *m = dom->factor[d];
        jet[d] = work;
        functions[d] = m->functions(enc->frequency[d]);
        m->jets(x + dom->column[d], enc->frequency[d], work);
        work += (size_t)(1 + m->dimension) * (size_t)functions[d];
    }
    for (int k = 0; k < K; k++) {
        const int *function = enc->function + (size_t)k * (size_t)D;
        double value = enc->scale[k];
        for (int d = 0; d < D; d++)
            value *= jet[d][function[d]];
        eta[k] = value;
        if (rows == 1)
            continue;
        for (int d = 0; d < D; d++) {
            double others = enc->scale[k];
            for (int e = 0; e < D; e++)
                others *= e == d ? 1.0 : jet[e][function[e]];
            for (int t = 0; t < dom->factor[d]->dimension; t++)
                eta[(size_t)(1 + dom->direction[d] + t) * (size_t)K + (size_t)k] =
                    others * jet[d][(size_t)(1 + t) * (size_t)functions[d] + (size_t)function[d]];
        }
        eta[(size_t)(rows - 1) * (size_t)K + (size_t)k] = -enc->lambda[k] * value;
    }
}

static void plane_wave_jet(const encoding *enc, const double *x, int rows, double *eta)
{
    const int K = enc->features, D = enc->domain->factors;
    for (int k = 0; k < K; k++) {
        const int *f = enc->function + (size_t)(k % enc->vectors) * (size_t)D;
        double phase = 0.0;
        for (int d = 0; d < D; d++)
            phase += f[d] * x[d];
        const double c = enc->scale[k] * cos(phase), s = enc->scale[k] * sin(phase);
        const double value = k < enc->vectors ? c : s, slope = k < enc->vectors ? -s : c;
        eta[k] = value;
        if (rows == 1)
            continue;
        for (int d = 0; d < D; d++)
            eta[(size_t)(1 + d) * (size_t)K + (size_t)k] = f[d] * slope;
        eta[(size_t)(rows - 1) * (size_t)K + (size_t)k] = -enc->lambda[k] * value;
    }
}

void encoding_jet(const encoding *enc, const double *x, int rows, double *work, double *eta)
{
    assert(rows == 1 || rows == enc->domain->dimension + 2);
    if (enc->separable)
        separable_jet(enc, x, rows, work, eta);
    else
        plane_wave_jet(enc, x, rows, eta);
}
