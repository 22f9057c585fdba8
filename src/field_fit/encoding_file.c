/* encoding_file.c - an encoding as tensors of a model file, and back; nothing in the file is trusted.
 *
 *     encoding.function (vectors, factors)   eigenfunction numbers, or frequencies with their signs
 *     encoding.block    (blocks, 2)          rotated: features and functions of each block
 *     encoding.rotation (numbers)            rotated: the blocks' matrices (features, functions), in order
 *     encoding.scale    (features)           ridge law: factor of each function
 *     encoding.ridge    (3)                  ridge law: eps, r_max, its standard error */
#include "field_fit.h"

npmd_status encoding_save(const encoding *enc, record *rec, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t functions[2] = { (size_t)enc->vectors, (size_t)enc->domain->factors },
                 blocks[2] = { (size_t)enc->blocks, 2 }, numbers = encoding_rotation_size(enc->blocks, enc->block);
    TRY(record_add(rec, "encoding.function", TENSOR_I32, 2, functions, enc->function, err));
    if (enc->blocks > 0) {
        TRY(record_add(rec, "encoding.block", TENSOR_I32, 2, blocks, enc->block, err));
        TRY(record_add(rec, "encoding.rotation", TENSOR_F64, 1, &numbers, enc->rotation, err));
    }
    if (enc->ridge.eps > 0.0) {
        TRY(record_add(rec, "encoding.scale", TENSOR_F64, 1, &(size_t){ (size_t)enc->features }, enc->scale, err));
        TRY(record_add(rec, "encoding.ridge", TENSOR_F64, 1, &(size_t){ 3 }, &enc->ridge, err));
    }
done:
    return st;
}

/* Every index stands for an eigenfunction, or a frequency, that the options allow. */
static npmd_status functions_check(const npmd_domain *dom, const settings *opt, const tensor *t, const char *path,
                                   npmd_error *err)
{
    const size_t D = (size_t)dom->factors;
    const int32_t *function = t->data;
    for (size_t i = 0; i < t->shape[0] * D; i++) {
        const manifold *man = dom->factor[i % D];
        const int top = opt->encoding.max_frequency[i % D];
        const bool within = top <= man->max_frequency
                            && (encoding_waves(dom, opt) ? function[i] >= -top && function[i] <= top
                                                         : function[i] >= 0 && function[i] < man->functions(man, top));
        if (!within)
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s: encoding.function row %zu holds %d, beyond the highest frequency %d", path, i / D + 1,
                             (int)function[i], top);
    }
    return NPMD_OK;
}

/* Blocks that add up to features and vectors. */
static npmd_status blocks_check(const tensor *t, size_t features, size_t vectors, const char *path, npmd_error *err)
{
    const encoding_block *block = t->data;
    size_t has_features = 0, has_functions = 0;
    for (size_t b = 0; b < t->shape[0]; b++) {
        if (block[b].features < 1 || block[b].functions < block[b].features || block[b].functions > ENCODING_BLOCK)
            return npmd_fail(err, NPMD_ERR_FORMAT,
                             "%s: encoding.block row %zu makes %d features of %d functions, at most %d", path, b + 1,
                             block[b].features, block[b].functions, ENCODING_BLOCK);
        has_features += (size_t)block[b].features;
        has_functions += (size_t)block[b].functions;
    }
    if (has_features != features || has_functions != vectors)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: encoding.block has %zu features of %zu functions, expected %zu of %zu", path,
                         has_features, has_functions, features, vectors);
    return NPMD_OK;
}

/* One eigenvalue a block, or the Laplacian would be wrong; rows of length one. */
static npmd_status rotation_check(const encoding *enc, const char *path, npmd_error *err)
{
    const double *row = enc->rotation;
    for (int b = 0, vector = 0, k = 0; b < enc->blocks; b++) {
        const int functions = enc->block[b].functions;
        for (int i = 0; i < functions; i++, vector++)
            if (encoding_eigenvalue(enc, vector) != enc->lambda[k])
                return npmd_fail(err, NPMD_ERR_FORMAT,
                                 "%s: encoding.block row %d holds functions of eigenvalues %g and %g", path, b + 1,
                                 enc->lambda[k], encoding_eigenvalue(enc, vector));
        for (int i = 0; i < enc->block[b].features; i++, k++, row += functions) {
            double norm2 = 0.0;
            for (int j = 0; j < functions; j++)
                norm2 += row[j] * row[j];
            if (!(fabs(norm2 - 1.0) < 1e-9))
                return npmd_fail(err, NPMD_ERR_FORMAT,
                                 "%s: encoding.rotation, feature %d: a row of squared length %g, expected 1", path,
                                 k + 1, norm2);
        }
    }
    return NPMD_OK;
}

static npmd_status load_rotated(const npmd_domain *dom, const settings *opt, const record *rec, const char *path,
                                const tensor *function, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding enc = { 0 };
    const tensor *block = NULL, *rotation = NULL;
    TRY(record_find(rec, path, "encoding.block", TENSOR_I32, 2, (const size_t[]){ 0, 2 }, &block, err));
    TRY(blocks_check(block, (size_t)opt->encoding.features, function->shape[0], path, err));
    const int blocks = (int)block->shape[0];
    TRY(record_find(rec, path, "encoding.rotation", TENSOR_F64, 1,
                    &(size_t){ encoding_rotation_size(blocks, block->data) }, &rotation, err));
    TRY(encoding_make_rotated(dom, opt->encoding.features, (int)function->shape[0], function->data, blocks, block->data,
                              rotation->data, (feature_scale)opt->encoding.scale, &enc, err));
    TRY(rotation_check(&enc, path, err));
    *out = enc;
    enc = (encoding){ 0 };
done:
    encoding_free(&enc);
    return st;
}

/* The scales follow from functions and options, up to the last digits of pow: those of the file are taken. */
static npmd_status load_ridge(const settings *opt, const record *rec, const char *path, encoding *enc, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const tensor *scale = NULL, *law = NULL;
    encoding_ridge ridge;
    TRY(record_find(rec, path, "encoding.scale", TENSOR_F64, 1, &(size_t){ (size_t)enc->features }, &scale, err));
    TRY(record_find(rec, path, "encoding.ridge", TENSOR_F64, 1, &(size_t){ 3 }, &law, err));
    const double *stored = scale->data;
    memcpy(&ridge, law->data, sizeof ridge);
    if (!(ridge.eps > 0.0 && ridge.eps == opt->encoding.ridge && opt->encoding.decay > 0.0 && ridge.r_max > 0.0
          && isfinite(ridge.r_max) && ridge.r_max_se >= 0.0 && isfinite(ridge.r_max_se))) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: encoding.ridge does not go with `spectrum-ridge` %g", path,
                       opt->encoding.ridge);
        goto done;
    }
    TRY(encoding_scale_ridge(enc, opt, &ridge, err));
    for (int k = 0; k < enc->features; k++)
        if (!(fabs(stored[k] - enc->scale[k]) <= 1e-9 * enc->scale[k])) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: encoding.scale, feature %d: %g, expected %g", path, k + 1,
                           stored[k], enc->scale[k]);
            goto done;
        }
    memcpy(enc->scale, stored, (size_t)enc->features * sizeof *stored);
done:
    return st;
}

npmd_status encoding_load(const npmd_domain *dom, const settings *opt, const record *rec, const char *path,
                          encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool waves = encoding_waves(dom, opt), rotated = encoding_rotated(dom, opt);
    const int vectors = waves ? (opt->encoding.features + 1) / 2 : opt->encoding.features;
    encoding enc = { 0 };
    const tensor *t = NULL;
    if (rotated && opt->encoding.law == LAW_RIDGE) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: its options ask for the ridge law and a rotation", path);
        goto done;
    }
    TRY(record_find(rec, path, "encoding.function", TENSOR_I32, 2,
                    (const size_t[]){ rotated ? 0 : (size_t)vectors, (size_t)dom->factors }, &t, err));
    TRY(functions_check(dom, opt, t, path, err));
    if (rotated)
        TRY(load_rotated(dom, opt, rec, path, t, &enc, err));
    else
        TRY(encoding_make(dom, !waves, opt->encoding.features, vectors, t->data, (feature_scale)opt->encoding.scale,
                          &enc, err));
    if (opt->encoding.law == LAW_RIDGE)
        TRY(load_ridge(opt, rec, path, &enc, err));
    *out = enc;
    enc = (encoding){ 0 };
done:
    encoding_free(&enc);
    return st;
}
