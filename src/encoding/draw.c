/* draw.c - which eigenfunctions: K distinct ones from all products up to a frequency on each factor.
 *
 * The full product is never written down (T7 at frequency 20 has 1e11 members). Under the uniform law the
 * factors are drawn independently. Under the power law a product has probability proportional to (1 +
 * lambda)^-s with lambda = sum_d lambda_d, which does not factorise, but
 *
 *     (1 + lambda)^-s = 1/Gamma(s) integral over t > 0 of t^(s-1) e^-t prod_d e^(-t lambda_d) dt
 *
 * is a mixture over t of laws that do: draw t, then every factor by itself. The integral is a trapezoid sum
 * in log t, whose integrand is smooth and dies out at both ends: for s > 1/2 the sum is exact to far below
 * what a draw could show. Repeated draws are thrown away, which is drawing without replacement, and the
 * constant is conditioned out, since in many dimensions nearly every draw would be it. Products of at most
 * LISTED members are listed instead, and the same law is applied to the list by exponential keys: there a
 * steep law would repeat itself for ever. */
#include "encoding.h"

typedef struct spectrum { /* the alternatives on each factor */
    int factors;
    int choices[NPMD_MAX_FACTORS];
    int *number[NPMD_MAX_FACTORS];    /* eigenfunction number, or signed frequency */
    double *lambda[NPMD_MAX_FACTORS]; /* rising */
    bool waves;                       /* vectors modulo sign */
    bool signs, constant;
} spectrum;

static void spectrum_free(spectrum *s)
{
    for (int d = 0; d < NPMD_MAX_FACTORS; d++) {
        memory_free(s->number[d]);
        memory_free(s->lambda[d]);
    }
}

static npmd_status spectrum_open(const npmd_domain *dom, const npmd_options *opt, spectrum *s,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *s = (spectrum){ .factors = dom->factors,
                     .waves = !opt->separable,
                     .signs = opt->signs != 0,
                     .constant = opt->constant != 0 };
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        const int top = opt->max_frequency[d];
        s->choices[d] = !s->waves ? m->functions(top) : s->signs ? 2 * top + 1 : top;
        TRY(memory_new(&s->number[d], s->choices[d], err));
        TRY(memory_new(&s->lambda[d], s->choices[d], err));
        for (int i = 0; i < s->choices[d]; i++) {
            /* waves: 0, 1, -1, 2, -2, ... or 1, 2, 3, ... */
            const int f = !s->waves ? i : !s->signs ? i + 1 : i % 2 ? (i + 1) / 2 : -(i / 2);
            s->number[d][i] = f;
            s->lambda[d][i] = s->waves ? (double)f * f : m->eigenvalue(f);
        }
    }
done:
    return st;
}

/* Members of the product, before the zero vector or the constant is left out and signs are identified. */
static double spectrum_raw(const spectrum *s)
{
    double members = 1.0;
    for (int d = 0; d < s->factors; d++)
        members *= s->choices[d];
    return members;
}

static double spectrum_members(const spectrum *s)
{
    const double raw = spectrum_raw(s);
    if (!s->waves)
        return raw - (s->constant ? 0.0 : 1.0);
    return s->signs ? (raw - 1.0) / 2.0 : raw; /* one of i and -i; never 0 */
}

/* False for what must not be drawn; a wave vector's first non-zero entry is made positive. */
static bool spectrum_accept(const spectrum *s, int *function)
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

/* ---- the mixture over t -------------------------------------------------------------------------------- */

#define MIXTURE_NODES 768
#define MOST_ATTEMPTS 20000000
#define LISTED 262144.0 /* members of a product that may be listed */

/* Nodes of t with their cumulative probability; one node t = 0 for the uniform law. */
typedef struct mixture {
    int nodes;
    bool no_zero; /* the member with number 0 on every factor is not drawn */
    double t[MIXTURE_NODES], cumulative[MIXTURE_NODES];
    double total[MIXTURE_NODES][NPMD_MAX_FACTORS]; /* sum_i e^(-t lambda_i) on each factor */
    double some_left[MIXTURE_NODES]
                    [NPMD_MAX_FACTORS + 1]; /* probability that factors d, d + 1, ... are not all 0 */
} mixture;

/* The law of one node: its totals, and the log of its mass. */
static double mixture_node(const spectrum *s, mixture *mix, int j)
{
    double log_total = 0.0, log_left = 0.0;
    for (int d = 0; d < s->factors; d++) {
        double total = 0.0;
        for (int i = 0; i < s->choices[d]; i++)
            total += exp(-mix->t[j] * s->lambda[d][i]);
        mix->total[j][d] = total;
        log_total += log(total);
    }
    mix->some_left[j][s->factors] = 0.0;
    for (int d = s->factors - 1; d >= 0; d--) { /* number 0 has lambda 0, so probability 1 / total */
        log_left += log(mix->total[j][d]);
        mix->some_left[j][d] = -expm1(-log_left);
    }
    return log_total + (mix->no_zero ? log(mix->some_left[j][0]) : 0.0);
}

static void mixture_open(const spectrum *s, const npmd_options *opt, mixture *mix)
{
    const bool power = opt->spectrum_law == NPMD_LAW_POWER;
    const double first = log(1e-9), step = (log(300.0) - first) / (MIXTURE_NODES - 1);
    double log_mass[MIXTURE_NODES], top = -INFINITY, sum = 0.0;
    mix->nodes = power ? MIXTURE_NODES : 1;
    mix->no_zero = s->waves ? s->signs : !s->constant;
    for (int j = 0; j < mix->nodes; j++) {
        const double t = power ? exp(first + step * j) : 0.0;
        mix->t[j] = t;
        log_mass[j] = mixture_node(s, mix, j);
        log_mass[j] += power ? opt->spectrum_decay * (first + step * j) - t : 0.0; /* dt = t d(log t) */
        top = fmax(top, log_mass[j]);
    }
    for (int j = 0; j < mix->nodes; j++)
        mix->cumulative[j] = sum += exp(log_mass[j] - top);
    for (int j = 0; j < mix->nodes; j++)
        mix->cumulative[j] /= sum;
}

/* The choice on factor d behind u, from number first (0 or 1) on, in proportion to e^(-t lambda). */
static int mixture_choice(const mixture *mix, const spectrum *s, int node, int d, int first, double u)
{
    double rest = u * (mix->total[node][d] - first);
    int i = first;
    for (; i < s->choices[d] - 1; i++) {
        rest -= exp(-mix->t[node] * s->lambda[d][i]);
        if (rest <= 0.0)
            break;
    }
    return i;
}

static void mixture_draw(const mixture *mix, const spectrum *s, rng_key key, uint64_t attempt, int *function)
{
    const double u = rng_uniform(key, attempt, 0);
    int low = 0, high = mix->nodes - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (mix->cumulative[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    bool all_zero = mix->no_zero; /* so far, and it must not stay so */
    for (int d = 0; d < s->factors; d++) {
        const double w = rng_uniform(key, attempt, (uint32_t)(1 + d));
        int i = 0;
        if (all_zero) {
            const double zero = mix->some_left[low][d + 1] / mix->total[low][d] / mix->some_left[low][d];
            if (w >= zero) {
                i = mixture_choice(mix, s, low, d, 1, (w - zero) / (1.0 - zero));
                all_zero = false;
            }
        } else {
            i = mixture_choice(mix, s, low, d, 0, w);
        }
        function[d] = s->number[d][i];
    }
}

/* ---- without replacement ------------------------------------------------------------------------------- */

static uint64_t function_hash(const int *function, int factors)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (int d = 0; d < factors; d++)
        h = (h ^ (uint32_t)function[d]) * 1099511628211u;
    return h ^ h >> 29;
}

static npmd_status draw_by_rejection(const spectrum *s, const npmd_options *opt, rng_key key, int want,
                                     int *function, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    mixture *mix = NULL;
    int *slot = NULL; /* open addressing: 1 + the member that sits here */
    size_t slots = 16;
    while (slots < 4 * (size_t)want)
        slots *= 2;
    TRY(memory_new(&mix, 1, err));
    TRY(memory_new(&slot, slots, err));
    mixture_open(s, opt, mix);
    const size_t row = (size_t)s->factors;
    int have = 0;
    for (uint64_t attempt = 0; have < want; attempt++) {
        if (attempt > MOST_ATTEMPTS) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "only %d of %d features could be drawn: lower --features or --spectrum-decay",
                           have, want);
            goto done;
        }
        int *candidate = function + (size_t)have * row;
        mixture_draw(mix, s, key, attempt, candidate);
        if (!spectrum_accept(s, candidate))
            continue;
        size_t at = function_hash(candidate, s->factors) & (slots - 1);
        while (slot[at] != 0
               && memcmp(function + (size_t)(slot[at] - 1) * row, candidate, row * sizeof *candidate) != 0)
            at = (at + 1) & (slots - 1);
        if (slot[at] == 0)
            slot[at] = ++have;
    }
done:
    memory_free(slot);
    memory_free(mix);
    return st;
}

typedef struct keyed {
    double key;
    size_t member;
} keyed;

static int keyed_order(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->member < y->member ? -1 : x->member > y->member;
}

static void spectrum_member(const spectrum *s, size_t member, int *function, double *lambda)
{
    *lambda = 0.0;
    for (int d = s->factors - 1; d >= 0; d--) {
        const size_t i = member % (size_t)s->choices[d];
        member /= (size_t)s->choices[d];
        function[d] = s->number[d][i];
        *lambda += s->lambda[d][i];
    }
}

/* The member with the smallest E_i / w_i, E_i standard exponential, is drawn with probability w_i / sum w;
 * the next smallest is the next draw without replacement. */
static npmd_status draw_by_keys(const spectrum *s, const npmd_options *opt, rng_key key, int want,
                                int *function, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    keyed *list = NULL;
    int candidate[NPMD_MAX_FACTORS], flipped[NPMD_MAX_FACTORS];
    size_t members = 0;
    const size_t raw = (size_t)spectrum_raw(s), row = (size_t)s->factors;
    double lambda = 0.0;
    TRY(memory_new(&list, raw, err));
    for (size_t i = 0; i < raw; i++) {
        spectrum_member(s, i, candidate, &lambda);
        memcpy(flipped, candidate, sizeof flipped);
        if (!spectrum_accept(s, flipped) || memcmp(flipped, candidate, row * sizeof *candidate) != 0)
            continue;
        const double log_weight = opt->spectrum_law == NPMD_LAW_POWER ? -opt->spectrum_decay * log1p(lambda)
                                                                      : 0.0;
        list[members++] = (keyed){ log(-log(rng_uniform(key, i, 0))) - log_weight, i };
    }
    qsort(list, members, sizeof *list, keyed_order);
    assert((size_t)want <= members);
    for (int k = 0; k < want; k++)
        spectrum_member(s, list[k].member, function + (size_t)k * row, &lambda);
done:
    memory_free(list);
    return st;
}

double encoding_available(const npmd_domain *dom, const npmd_options *opt)
{
    double members = 1.0;
    for (int d = 0; d < dom->factors; d++)
        members *= opt->separable ? dom->factor[d]->functions(opt->max_frequency[d])
                   : opt->signs   ? 2.0 * opt->max_frequency[d] + 1.0
                                  : opt->max_frequency[d];
    if (opt->separable)
        return members - (opt->constant ? 0.0 : 1.0);
    return opt->signs ? members - 1.0 : 2.0 * members; /* a cosine and a sine each */
}

npmd_status encoding_draw(const npmd_domain *dom, const npmd_options *opt, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    spectrum s = { 0 };
    int *function = NULL;
    const rng_key key = rng_key_make(opt->seed, RNG_ENCODING, 0);
    const int vectors = opt->separable ? opt->features : (opt->features + 1) / 2;
    TRY(spectrum_open(dom, opt, &s, err));
    if (spectrum_members(&s) < vectors) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "%d features were asked for, but %s has only %.0f up to this frequency", opt->features,
                       dom->text, encoding_available(dom, opt));
        goto done;
    }
    TRY(memory_new(&function, (size_t)vectors * (size_t)dom->factors, err));
    if (spectrum_raw(&s) <= LISTED)
        TRY(draw_by_keys(&s, opt, key, vectors, function, err));
    else
        TRY(draw_by_rejection(&s, opt, key, vectors, function, err));
    TRY(encoding_make(dom, opt->separable != 0, opt->features, vectors, function, (npmd_scale)opt->scale, out,
                      err));
done:
    spectrum_free(&s);
    memory_free(function);
    return st;
}
