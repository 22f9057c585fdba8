/* spectrum.c - the eigenfunctions of each factor up to its frequency, and the list of a small product. */
#include "spectrum.h"

#define LISTED 262144.0 /* members of a product that may be listed */

void spectrum_free(spectrum *s)
{
    for (int d = 0; d < NPMD_MAX_FACTORS; d++) {
        memory_free(s->number[d]);
        memory_free(s->lambda[d]);
    }
}

npmd_status spectrum_open(const npmd_domain *dom, const settings *opt, spectrum *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (spectrum){ .factors = dom->factors,
                     .waves = encoding_waves(dom, opt),
                     .signs = opt->encoding.signs != 0,
                     .constant = opt->encoding.constant != 0 };
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        const int top = opt->encoding.max_frequency[d];
        s->choices[d] = !s->waves ? m->functions(m, top) : s->signs ? 2 * top + 1 : top;
        TRY(memory_new(&s->number[d], s->choices[d], err));
        TRY(memory_new(&s->lambda[d], s->choices[d], err));
        for (int i = 0; i < s->choices[d]; i++) {
            /* waves: 0, 1, -1, 2, -2, ... or 1, 2, 3, ... */
            const int f = !s->waves ? i : !s->signs ? i + 1 : i % 2 ? (i + 1) / 2 : -(i / 2);
            s->number[d][i] = f;
            s->lambda[d][i] = s->waves ? (double)f * f : m->eigenvalue(m, f);
        }
    }
done:
    return st;
}

double spectrum_raw(const spectrum *s)
{
    double members = 1.0;
    for (int d = 0; d < s->factors; d++)
        members *= s->choices[d];
    return members;
}

double spectrum_members(const spectrum *s)
{
    const double raw = spectrum_raw(s);
    if (!s->waves)
        return raw - (s->constant ? 0.0 : 1.0);
    return s->signs ? (raw - 1.0) / 2.0 : raw; /* one of i and -i; never 0 */
}

bool spectrum_listed(const spectrum *s)
{
    return spectrum_raw(s) <= LISTED;
}

bool spectrum_accept(const spectrum *s, int *function)
{
    int first = 0;
    while (first < s->factors && function[first] == 0)
        first++;
    if (first == s->factors)
        return !s->waves && s->constant;
    if (s->waves && function[first] < 0)
        for (int d = first; d < s->factors; d++)
            function[d] = -function[d];
    return true;
}

bool spectrum_member(const spectrum *s, size_t i, int *function, double *lambda)
{
    int same[NPMD_MAX_FACTORS];
    *lambda = 0.0;
    for (int d = s->factors - 1; d >= 0; d--) {
        const size_t choice = i % (size_t)s->choices[d];
        i /= (size_t)s->choices[d];
        function[d] = same[d] = s->number[d][choice];
        *lambda += s->lambda[d][choice];
    }
    return spectrum_accept(s, same) && memcmp(same, function, (size_t)s->factors * sizeof *same) == 0;
}
