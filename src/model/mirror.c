/* mirror.c - unordered pairs: a density on M x M that does not depend on the order of the two points.
 *
 * With f the density that was fitted, a model of unordered pairs has
 *     g(x, y) = (f(x, y) + f(y, x)) / 2,
 * symmetric by construction. It integrates to what f does, so v = log(exp v(x, y) + exp v(y, x)) - log 2 has the log
 * integral of f. Its jet is that of a mixture of two (blend_values.c): the second is that of f at (y, x) with the
 * derivatives of the two factors exchanged, since both have the same frame. A blend needs none of this: its parts are
 * symmetric. */
#include "model.h"

npmd_status mirror_check(const settings *set, const npmd_domain *dom, npmd_error *err)
{
    if (!set->unordered || (dom->factors == 2 && strcmp(dom->factor[0]->name, dom->factor[1]->name) == 0))
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "`unordered` on: pairs are points of two equal factors, like S2 x S2; the domain is %s",
                     dom->text);
}

bool model_mirrored(const npmd_model *m)
{
    return m->set.unordered && m->parts == 0;
}

/* y = x with its two factors exchanged, for n rows; they may be the same. */
void mirror_rows(const npmd_domain *dom, const double *x, size_t n, double *y)
{
    const size_t columns = (size_t)dom->columns, half = columns / 2;
    for (size_t i = 0; i < n * columns; i += columns)
        for (size_t j = 0; j < half; j++) {
            const double first = x[i + j];
            y[i + j] = x[i + half + j];
            y[i + half + j] = first;
        }
}

/* The jet of f(y, x) as a function of (x, y), from that of f at (y, x). */
void mirror_jet(const npmd_domain *dom, double *jet)
{
    const int half = dom->dimension / 2;
    for (int t = 1; t <= half; t++) {
        const double first = jet[t];
        jet[t] = jet[half + t];
        jet[half + t] = first;
    }
}

/* Draws of f are draws of g once a coin has been thrown for the order of each. */
void mirror_draws(const npmd_model *m, uint64_t seed, size_t n, double *x)
{
    const rng_key key = rng_key_make(seed, RNG_SAMPLE, UINT32_MAX - 1u);
    const size_t columns = (size_t)m->domain->columns;
    for (size_t i = 0; i < n; i++)
        if (rng_uniform(key, i, 0) < 0.5)
            mirror_rows(m->domain, x + i * columns, 1, x + i * columns);
}
