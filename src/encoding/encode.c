/* encode.c - an encoding from its indices, and its jet in double precision. */
#include "spectrum.h"

/* Copies count things of a size, of NULL nothing. */
static npmd_status copy_array(const void *from, size_t count, size_t size, void *out, npmd_error *err)
{
    void *copy = NULL;
    const npmd_status st = from == NULL ? NPMD_OK : memory_take(&copy, count, size, err);
    if (copy != NULL)
        memcpy(copy, from, count * size);
    memcpy(out, &copy, sizeof copy);
    return st;
}

npmd_status encoding_copy(const encoding *enc, const npmd_domain *dom, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t K = (size_t)enc->features, functions = (size_t)enc->vectors * (size_t)dom->factors;
    encoding copy = *enc;
    copy.domain = dom;
    copy.function = copy.copies = NULL;
    copy.lambda = copy.scale = copy.rotation = NULL;
    copy.block = NULL;
    TRY(copy_array(enc->function, functions, sizeof *enc->function, &copy.function, err));
    TRY(copy_array(enc->lambda, K, sizeof *enc->lambda, &copy.lambda, err));
    TRY(copy_array(enc->scale, K, sizeof *enc->scale, &copy.scale, err));
    TRY(copy_array(enc->copies, K, sizeof *enc->copies, &copy.copies, err));
    TRY(copy_array(enc->block, (size_t)enc->blocks, sizeof *enc->block, &copy.block, err));
    TRY(copy_array(enc->rotation, encoding_rotation_size(enc->blocks, enc->block), sizeof *enc->rotation,
                   &copy.rotation, err));
    *out = copy;
    copy = (encoding){ 0 };
done:
    encoding_free(&copy);
    return st;
}

double encoding_eigenvalue(const encoding *enc, int vector)
{
    const int D = enc->domain->factors, *function = enc->function + (size_t)vector * (size_t)D;
    double lambda = 0.0;
    assert(!enc->columns);
    for (int d = 0; d < D; d++)
        lambda += enc->waves ? (double)function[d] * (double)function[d]
                             : enc->domain->factor[d]->eigenvalue(enc->domain->factor[d], function[d]);
    return lambda;
}

static void encoding_scale(encoding *enc, feature_scale scale)
{
    const double volume = enc->domain->volume;
    for (int k = 0; k < enc->features; k++)
        if (!enc->waves) /* the product itself is orthonormal, and so is a combination */
            enc->scale[k] = scale == SCALE_UNIT ? sqrt(volume) : 1.0;
        else if (scale == SCALE_NONE)
            enc->scale[k] = 1.0;
        else { /* mean cos^2 = 1/2, except for the zero vector */
            const double mean_square = enc->lambda[k] == 0.0 ? 1.0 : 0.5;
            enc->scale[k] = 1.0 / sqrt(scale == SCALE_UNIT ? mean_square : mean_square * volume);
        }
}

static void encoding_measure(encoding *enc, feature_scale scale)
{
    enc->square = 0.0;
    for (int k = 0; k < enc->features; k++) { /* of the function that is scaled */
        const double mean_square = !enc->waves ? 1.0 / enc->domain->volume : enc->lambda[k] == 0.0 ? 1.0 : 0.5;
        enc->square += scale == SCALE_UNIT ? 1.0 : enc->scale[k] * enc->scale[k] * mean_square;
    }
}

static void encoding_describe(encoding *enc, feature_scale scale)
{
    const int D = enc->domain->factors;
    for (int i = 0; i < enc->vectors * D; i++) {
        const int d = i % D, number = enc->function[i];
        const int f = enc->waves ? abs(number) : enc->domain->factor[d]->frequency(enc->domain->factor[d], number);
        if (f > enc->frequency[d])
            enc->frequency[d] = f;
    }
    if (enc->blocks == 0)
        for (int k = 0; k < enc->features; k++)
            enc->lambda[k] = encoding_eigenvalue(enc, k % enc->vectors);
    for (int b = 0, k = 0, vector = 0; b < enc->blocks; vector += enc->block[b++].functions)
        for (int i = 0; i < enc->block[b].features; i++)
            enc->lambda[k++] = encoding_eigenvalue(enc, vector);
    encoding_scale(enc, scale);
    encoding_measure(enc, scale);
}

/* Fills what is asked for of an encoding with its sizes set. */
static npmd_status encoding_fill(encoding *enc, const int *function, feature_scale scale, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t entries = (size_t)enc->vectors * (size_t)enc->domain->factors;
    TRY(memory_new(&enc->function, entries, err));
    TRY(memory_new(&enc->lambda, enc->features, err));
    TRY(memory_new(&enc->scale, enc->features, err));
    memcpy(enc->function, function, entries * sizeof *function);
    encoding_describe(enc, scale);
done:
    return st;
}

npmd_status encoding_make(const npmd_domain *dom, bool separable, int features, int vectors, const int *function,
                          feature_scale scale, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding enc = { .domain = dom, .waves = !separable, .features = features, .vectors = vectors };
    assert(separable ? features == vectors : vectors <= features && features <= 2 * vectors);
    TRY(encoding_fill(&enc, function, scale, err));
    *out = enc;
    enc = (encoding){ 0 };
done:
    encoding_free(&enc);
    return st;
}

size_t encoding_rotation_size(int blocks, const encoding_block *block)
{
    size_t numbers = 0;
    for (int b = 0; b < blocks; b++)
        numbers += (size_t)block[b].features * (size_t)block[b].functions;
    return numbers;
}

npmd_status encoding_make_rotated(const npmd_domain *dom, int features, int vectors, const int *function, int blocks,
                                  const encoding_block *block, const double *rotation, feature_scale scale,
                                  encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding enc = { .domain = dom, .features = features, .vectors = vectors, .blocks = blocks };
    const size_t numbers = encoding_rotation_size(blocks, block);
    assert(blocks > 0 && features <= vectors);
    TRY(memory_new(&enc.block, blocks, err));
    TRY(memory_new(&enc.rotation, numbers, err));
    memcpy(enc.block, block, (size_t)blocks * sizeof *block);
    memcpy(enc.rotation, rotation, numbers * sizeof *rotation);
    TRY(encoding_fill(&enc, function, scale, err));
    *out = enc;
    enc = (encoding){ 0 };
done:
    encoding_free(&enc);
    return st;
}

npmd_status encoding_columns(const npmd_domain *dom, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding enc = { .domain = dom, .columns = true, .features = dom->columns };
    assert(!dom->surfaces);
    TRY(memory_new(&enc.lambda, enc.features, err));
    TRY(memory_new(&enc.scale, enc.features, err));
    for (int d = 0; d < dom->factors; d++)
        for (int j = 0; j < dom->factor[d]->columns; j++) {
            const manifold *m = dom->factor[d];
            const bool angle = m->columns == m->dimension;
            enc.lambda[dom->column[d] + j] = angle ? 0.0 : m->dimension;
            enc.scale[dom->column[d] + j] = 1.0;
            enc.square += angle ? TWO_PI * TWO_PI / 3.0 : 1.0 / m->columns; /* mean squares */
        }
    *out = enc;
    enc = (encoding){ 0 };
done:
    encoding_free(&enc);
    return st;
}

/* How many features are equal to each; a cosine is not its sine. */
static npmd_status encoding_count_copies(encoding *enc, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int K = enc->features, vectors = enc->vectors;
    member_set set = { 0 };
    int *first = NULL, *count = NULL;
    TRY(member_set_open(enc->domain->factors, (size_t)vectors, &set, err));
    TRY(memory_new(&first, vectors, err)); /* the first vector that equals this one */
    TRY(memory_new(&count, 2 * (size_t)vectors, err));
    TRY(memory_new(&enc->copies, K, err));
    for (int i = 0; i < vectors; i++)
        first[i] = member_set_add(&set, enc->function, i);
    for (int k = 0; k < K; k++)
        count[k < vectors ? first[k] : vectors + first[k - vectors]]++;
    for (int k = 0; k < K; k++)
        enc->copies[k] = count[k < vectors ? first[k] : vectors + first[k - vectors]];
done:
    member_set_close(&set);
    memory_free(first);
    memory_free(count);
    return st;
}

npmd_status encoding_scale_ridge(encoding *enc, const settings *opt, const encoding_ridge *ridge, npmd_error *err)
{
    const feature_scale scale = (feature_scale)opt->encoding.scale;
    double mean = 0.0;
    assert(!enc->columns);
    enc->ridge = *ridge;
    for (int k = 0; k < enc->features; k++) /* S / q = (S + eps) r_max */
        mean += (pow(1.0 + enc->lambda[k], -opt->encoding.decay) + ridge->eps) / enc->features;
    for (int k = 0; k < enc->features; k++) {
        const double square = pow(1.0 + enc->lambda[k], -opt->encoding.decay) + ridge->eps;
        enc->scale[k] *= sqrt(scale == SCALE_UNIT ? square / mean : square * ridge->r_max);
    }
    encoding_measure(enc, scale);
    return encoding_count_copies(enc, err);
}

void encoding_free(encoding *enc)
{
    memory_free(enc->function);
    memory_free(enc->lambda);
    memory_free(enc->scale);
    memory_free(enc->block);
    memory_free(enc->rotation);
    memory_free(enc->copies);
    *enc = (encoding){ 0 };
}

/* ---- jets -------------------------------------------------------------------------------------------------------- */

size_t encoding_work(const encoding *enc)
{
    size_t doubles = enc->blocks > 0 ? ENCODING_BLOCK * ((size_t)enc->domain->dimension + 1) : 0;
    for (int d = 0; d < enc->domain->factors; d++) {
        const manifold *m = enc->domain->factor[d];
        doubles += (size_t)(1 + m->dimension) * (size_t)m->functions(m, enc->frequency[d]);
    }
    return doubles;
}

typedef struct factor_jets { /* of all factors at one point */
    const double *jet[NPMD_MAX_FACTORS];
    int functions[NPMD_MAX_FACTORS];
} factor_jets;

/* Returns the work that is left. */
static double *factor_jets_fill(const encoding *enc, const double *x, double *work, factor_jets *out)
{
    const npmd_domain *dom = enc->domain;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        out->jet[d] = work;
        out->functions[d] = m->functions(m, enc->frequency[d]);
        m->jets(m, 1, x + dom->column[d], 0, enc->frequency[d], 1 + m->dimension, work);
        work += (size_t)(1 + m->dimension) * (size_t)out->functions[d];
    }
    return work;
}

/* scale x the product of eigenfunctions: the value at out, the derivatives (unless there is one row) stride
 * apart behind it. Product rule: the derivative along a direction of factor d takes that factor's derivative
 * and the others' values. */
static void product_jet(const npmd_domain *dom, const factor_jets *at, const int *function, double scale, int rows,
                        size_t stride, double *out)
{
    const int D = dom->factors;
    double value = scale;
    for (int d = 0; d < D; d++)
        value *= at->jet[d][function[d]];
    out[0] = value;
    for (int d = 0; d < D && rows > 1; d++) {
        double others = scale;
        for (int e = 0; e < D; e++)
            others *= e == d ? 1.0 : at->jet[e][function[e]];
        for (int t = 0; t < dom->factor[d]->dimension; t++)
            out[(size_t)(1 + dom->direction[d] + t) * stride] =
                others * at->jet[d][(size_t)(1 + t) * (size_t)at->functions[d] + (size_t)function[d]];
    }
}

static void separable_jet(const encoding *enc, const factor_jets *at, int rows, double *eta)
{
    const size_t K = (size_t)enc->features, D = (size_t)enc->domain->factors;
    for (size_t k = 0; k < K; k++) {
        product_jet(enc->domain, at, enc->function + k * D, enc->scale[k], rows, K, eta + k);
        if (rows > 1)
            eta[(size_t)(rows - 1) * K + k] = -enc->lambda[k] * eta[k];
    }
}

/* Block by block: eta_i = scale_i sum_j rotation_ij product_j, and so for every derivative. products:
 * (dimension + 1, ENCODING_BLOCK). */
static void rotated_jet(const encoding *enc, const factor_jets *at, int rows, double *products, double *eta)
{
    const size_t K = (size_t)enc->features, D = (size_t)enc->domain->factors;
    const int *function = enc->function;
    const double *row = enc->rotation;
    size_t k = 0;
    for (int b = 0; b < enc->blocks; b++) {
        const size_t B = (size_t)enc->block[b].functions;
        for (size_t j = 0; j < B; j++, function += D)
            product_jet(enc->domain, at, function, 1.0, rows, ENCODING_BLOCK, products + j);
        for (int i = 0; i < enc->block[b].features; i++, k++, row += B) {
            for (int r = 0; r < (rows == 1 ? 1 : rows - 1); r++) {
                double sum = 0.0;
                for (size_t j = 0; j < B; j++)
                    sum += row[j] * products[(size_t)r * ENCODING_BLOCK + j];
                eta[(size_t)r * K + k] = enc->scale[k] * sum;
            }
            if (rows > 1)
                eta[(size_t)(rows - 1) * K + k] = -enc->lambda[k] * eta[k];
        }
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

/* Column j of factor d has the derivatives frame[t][j] along the directions t of its factor, 0 along all others. */
static void columns_jet(const encoding *enc, const double *x, int rows, double *eta)
{
    const npmd_domain *dom = enc->domain;
    const size_t K = (size_t)enc->features;
    memcpy(eta, x, K * sizeof *eta);
    if (rows == 1)
        return;
    memset(eta + K, 0, (size_t)dom->dimension * K * sizeof *eta);
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        double frame[MANIFOLD_MAX_DIMENSION * MANIFOLD_MAX_COLUMNS];
        m->frame(m, x + dom->column[d], frame);
        for (int t = 0; t < m->dimension; t++)
            memcpy(eta + (size_t)(1 + dom->direction[d] + t) * K + (size_t)dom->column[d], frame + t * m->columns,
                   (size_t)m->columns * sizeof *eta);
    }
    for (size_t k = 0; k < K; k++)
        eta[(size_t)(rows - 1) * K + k] = -enc->lambda[k] * x[k];
}

void encoding_jet(const encoding *enc, const double *x, int rows, double *work, double *eta)
{
    factor_jets at;
    assert(rows == 1 || rows == enc->domain->dimension + 2);
    if (enc->columns) {
        columns_jet(enc, x, rows, eta);
        return;
    }
    if (enc->waves) {
        plane_wave_jet(enc, x, rows, eta);
        return;
    }
    double *left = factor_jets_fill(enc, x, work, &at);
    if (enc->blocks > 0)
        rotated_jet(enc, &at, rows, left, eta);
    else
        separable_jet(enc, &at, rows, eta);
}
