/* draw.c - draws K distinct eigenfunctions among all products up to a frequency on each factor.
 *
 * The full product is never listed (T7 at frequency 20 has 1e11 members): the uniform law draws the factors
 * independently, the power law is a mixture of such laws (power_law.c), and repeated draws are rejected, which is
 * drawing without replacement. Small products, where a steep law would repeat itself for ever, are listed, and the same
 * law is applied to the list by exponential keys. The ridge law draws with replacement (ridge.c). */
#include "spectrum.h"

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

/* The member with the smallest E_i / w_i, E_i standard exponential, is drawn with probability w_i / sum w;
 * the next smallest is the next draw without replacement. */
static npmd_status drawing_list(drawing *d, double decay, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t raw = (size_t)spectrum_raw(d->spectrum);
    keyed *list = NULL;
    int function[NPMD_MAX_FACTORS];
    double lambda = 0.0;
    TRY(memory_new(&list, raw, err));
    for (size_t i = 0; i < raw; i++)
        if (spectrum_member(d->spectrum, i, function, &lambda)) {
            const double log_weight = decay > 0.0 ? -decay * log1p(lambda) : 0.0;
            list[d->members++] = (keyed){ log(-log(rng_uniform(d->key, i, 0))) - log_weight, i };
        }
    qsort(list, d->members, sizeof *list, keyed_order);
    TRY(memory_new(&d->order, d->members, err));
    for (size_t i = 0; i < d->members; i++)
        d->order[i] = list[i].member;
done:
    memory_free(list);
    return st;
}

/* A power so steep that no other eigenvalue is drawn before the lowest ones: what the coordinates are. */
#define STEEP 60.0

static double drawing_decay(const settings *opt)
{
    if (opt->encoding.from == FEATURES_COORDINATES)
        return STEEP;
    return opt->encoding.law == LAW_POWER ? opt->encoding.decay : 0.0;
}

npmd_status drawing_open(const spectrum *s, const settings *opt, drawing *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double decay = drawing_decay(opt);
    drawing d = { .spectrum = s,
                  .key = rng_key_make(opt->seed, RNG_ENCODING, KEY_DRAW),
                  .most_attempts = MOST_ATTEMPTS };
    if (spectrum_listed(s)) {
        TRY(drawing_list(&d, decay, err));
    } else {
        TRY(memory_new(&d.mix, 1, err));
        power_law_open(s, decay > 0.0, d.mix);
        power_law_aim(d.mix, decay, 1.0);
    }
    *out = d;
    d = (drawing){ 0 };
done:
    drawing_close(&d);
    return st;
}

void drawing_close(drawing *d)
{
    memory_free(d->order);
    memory_free(d->mix);
    *d = (drawing){ 0 };
}

bool drawing_next(drawing *d, int *function)
{
    double lambda;
    if (d->order != NULL) {
        if (d->next == d->members)
            return false;
        spectrum_member(d->spectrum, d->order[d->next++], function, &lambda);
        return true;
    }
    while (d->attempt <= d->most_attempts) {
        power_law_draw(d->mix, d->spectrum, d->key, d->attempt++, function);
        if (spectrum_accept(d->spectrum, function))
            return true;
    }
    return false;
}

npmd_status member_set_open(int factors, size_t most, member_set *out, npmd_error *err)
{
    member_set set = { .factors = factors, .slots = 16 };
    while (set.slots < 4 * most)
        set.slots *= 2;
    const npmd_status st = memory_new(&set.slot, set.slots, err);
    if (st == NPMD_OK)
        *out = set;
    return st;
}

void member_set_close(member_set *set)
{
    memory_free(set->slot);
    *set = (member_set){ 0 };
}

static uint64_t function_hash(const int *function, int factors)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (int d = 0; d < factors; d++)
        h = (h ^ (uint32_t)function[d]) * 1099511628211u;
    return h ^ h >> 29;
}

int member_set_add(member_set *set, const int *rows, int row)
{
    const size_t size = (size_t)set->factors;
    const int *wanted = rows + (size_t)row * size;
    size_t at = function_hash(wanted, set->factors) & (set->slots - 1);
    while (set->slot[at] != 0 && memcmp(rows + (size_t)(set->slot[at] - 1) * size, wanted, size * sizeof *wanted) != 0)
        at = (at + 1) & (set->slots - 1);
    if (set->slot[at] == 0)
        set->slot[at] = row + 1;
    return set->slot[at] - 1;
}

/* function (want, factors): the first distinct draws. */
static npmd_status draw_distinct(drawing *d, int want, int *function, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int factors = d->spectrum->factors;
    member_set drawn = { 0 };
    TRY(member_set_open(factors, (size_t)want, &drawn, err));
    for (int have = 0; have < want;) {
        if (!drawing_next(d, function + (size_t)have * (size_t)factors)) {
            st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                           "only %d of %d features could be drawn: lower `features` or `spectrum-decay`", have, want);
            goto done;
        }
        have += member_set_add(&drawn, function, have) == have;
    }
done:
    member_set_close(&drawn);
    return st;
}

double encoding_available(const npmd_domain *dom, const settings *opt)
{
    const bool waves = encoding_waves(dom, opt);
    double members = 1.0;
    for (int d = 0; d < dom->factors; d++)
        members *= !waves                ? dom->factor[d]->functions(dom->factor[d], opt->encoding.max_frequency[d])
                   : opt->encoding.signs ? 2.0 * opt->encoding.max_frequency[d] + 1.0
                                         : opt->encoding.max_frequency[d];
    if (!waves)
        return members - (opt->encoding.constant ? 0.0 : 1.0);
    return opt->encoding.signs ? members - 1.0 : 2.0 * members; /* a cosine and a sine each */
}

npmd_status encoding_choose_ridge(const npmd_domain *dom, const settings *opt, double *eps, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    spectrum s = { 0 };
    TRY(spectrum_open(dom, opt, &s, err));
    TRY(ridge_choose(&s, spectrum_listed(&s), opt->encoding.decay, 0.5 * opt->encoding.features,
                     rng_key_make(opt->seed, RNG_ENCODING, KEY_RIDGE), eps, err));
done:
    spectrum_free(&s);
    return st;
}

/* vectors independent draws by the ridge law, and their scales. */
static npmd_status draw_ridge(const npmd_domain *dom, const settings *opt, const spectrum *s, int vectors,
                              int *function, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    ridge_law law = { 0 };
    encoding enc = { 0 };
    TRY(ridge_open(s, spectrum_listed(s), opt->encoding.decay, opt->encoding.ridge,
                   rng_key_make(opt->seed, RNG_ENCODING, KEY_RIDGE), &law, err));
    TRY(ridge_draw(&law, rng_key_make(opt->seed, RNG_ENCODING, KEY_DRAW), vectors, function, err));
    TRY(encoding_make(dom, !s->waves, opt->encoding.features, vectors, function, (feature_scale)opt->encoding.scale,
                      &enc, err));
    const encoding_ridge ridge = { opt->encoding.ridge, law.r_max, law.r_max_se };
    TRY(encoding_scale_ridge(&enc, opt, &ridge, err));
    *out = enc;
    enc = (encoding){ 0 };
done:
    ridge_close(&law);
    encoding_free(&enc);
    return st;
}

/* The first eigenfunctions of every factor, one after the other; false: so many are not what was asked for. */
static bool coordinates_list(const npmd_domain *dom, bool waves, int vectors, int *function)
{
    const size_t factors = (size_t)dom->factors;
    int row = 0;
    for (int pass = 0; pass < 2; pass++) {
        row = 0;
        for (int d = 0; d < dom->factors; d++) {
            const int count = waves ? 1 : dom->factor[d]->functions(dom->factor[d], 1) - 1;
            for (int f = 1; f <= count; f++, row++)
                if (pass == 1)
                    function[(size_t)row * factors + (size_t)d] = f;
        }
        if (row != vectors)
            return false;
    }
    return true;
}

npmd_status encoding_draw(const npmd_domain *dom, const settings *opt, encoding *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    spectrum s = { 0 };
    drawing d = { 0 };
    int *function = NULL;
    const bool waves = encoding_waves(dom, opt);
    const int vectors = waves ? (opt->encoding.features + 1) / 2 : opt->encoding.features;
    TRY(spectrum_open(dom, opt, &s, err));
    if (spectrum_members(&s) < vectors) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "%d features were asked for, but %s has only %.0f up to this frequency",
                       opt->encoding.features, dom->text, encoding_available(dom, opt));
        goto done;
    }
    TRY(memory_new(&function, (size_t)vectors * (size_t)dom->factors, err));
    if (encoding_by_ridge(opt)) {
        assert(!encoding_rotated(dom, opt));
        TRY(draw_ridge(dom, opt, &s, vectors, function, out, err));
        goto done;
    }
    const bool listed = opt->encoding.from == FEATURES_COORDINATES && !encoding_rotated(dom, opt)
                        && coordinates_list(dom, waves, vectors, function);
    if (!listed) {
        TRY(drawing_open(&s, opt, &d, err));
        TRY(draw_distinct(&d, vectors, function, err));
    }
    if (encoding_rotated(dom, opt))
        TRY(encoding_rotate(dom, opt, function, &d, out, err));
    else
        TRY(encoding_make(dom, !waves, opt->encoding.features, vectors, function, (feature_scale)opt->encoding.scale,
                          out, err));
done:
    drawing_close(&d);
    spectrum_free(&s);
    memory_free(function);
    return st;
}
