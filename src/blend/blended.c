/* blended.c - what ensembles and stacks share: draws, and their part of a model file. Their values are in
 * model/blend_values.c. */
#include "blend.h"

/* Which part a row comes from, by its own random number; then every part draws its rows. */
npmd_status blend_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = rng_key_make(seed, RNG_SAMPLE, UINT32_MAX);
    const size_t columns = (size_t)m->domain->columns;
    size_t *row = NULL;
    double *drawn = NULL, below = 0.0;
    compute_part part = { how, "draws", 0.0, 0.0 };
    const npmd_compute own = compute_of_part(&part);
    TRY(memory_new(&row, n, err));
    TRY(memory_new(&drawn, n * columns, err));
    for (int k = 0; k < blend_counted(m); k++) {
        const double above = k + 1 == blend_counted(m) ? 2.0 : below + m->part_weight[k];
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            const double u = rng_uniform(key, i, 0);
            if (below <= u && u < above)
                row[count++] = i;
        }
        below = above;
        if (count == 0)
            continue;
        part.from = part.to;
        part.to += (double)count / (double)n;
        TRY(model_sample(m->part[k], hash_word(seed, (uint64_t)k), count, &own, drawn, err));
        for (size_t i = 0; i < count; i++)
            memcpy(x + row[i] * columns, drawn + i * columns, columns * sizeof *x);
    }
done:
    memory_free(row);
    memory_free(drawn);
    return st;
}

npmd_status blend_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    double sum = 0.0;
    int none = 0;
    (void)rec;
    for (int k = 0; k < m->parts; k++) {
        sum += m->part_weight[k];
        none += m->part_weight[k] == 0.0;
    }
    const bool paired = none == 2 && blend_counted(m) == m->parts - none && m->set.bootstrap
                        && m->set.estimator != FIT_STACK;
    if (none > 0 && !paired)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: %d parts of weight 0, expected none, or two behind the members of `bootstrap` on", path,
                         none);
    if (m->parts < 1 || !(fabs(sum - 1.0) <= 1e-9))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %d parts whose weights add up to %g, expected 1", path, m->parts,
                         sum);
    return NPMD_OK;
}

npmd_status blend_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *list = json_object_get(into, "parts");
    for (int k = 0; k < m->parts && st == NPMD_OK; k++) {
        json_t *one = json_incref(json_array_get(list, (size_t)k)); /* a share of it, to change it */
        if (m->part[k]->kind->describe != NULL)
            st = m->part[k]->kind->describe(m->part[k], one, err);
        json_decref(one);
    }
    return st;
}
