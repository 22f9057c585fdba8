/* random.c - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC 2011).
 *
 * The 128-bit counter is (index low, index high, step, purpose and block): a number is identified by its use, not by
 * how many were drawn before it. One block gives four words, that is two doubles (slots 2b and 2b + 1). The functions
 * themselves are in numbers.h, which device code includes as well. */
#include "core.h"

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    philox_ten(counter, key, out);
}

rng_key rng_key_make(uint64_t seed, rng_purpose purpose, uint64_t step)
{
    assert(step <= UINT32_MAX);
    return (rng_key){ .seed = { (uint32_t)seed, (uint32_t)(seed >> 32) },
                      .step = (uint32_t)step,
                      .purpose = (uint32_t)purpose };
}

uint32_t rng_word(rng_key key, uint64_t index, uint32_t slot)
{
    assert(slot / 4 < 1u << 16);
    return philox_word(key, index, slot);
}

double rng_uniform(rng_key key, uint64_t index, uint32_t slot)
{
    assert(slot / 2 < 1u << 16);
    return philox_uniform(key, index, slot);
}

double rng_normal(rng_key key, uint64_t index, uint32_t slot)
{
    /* Box-Muller; each slot has a pair of uniforms of its own, so that slots are independent */
    const double u = rng_uniform(key, index, 2 * slot), v = rng_uniform(key, index, 2 * slot + 1);
    return sqrt(-2.0 * log(u)) * cos(TWO_PI * v);
}

uint64_t rng_permute(rng_key key, uint64_t i, uint64_t n)
{
    assert(i < n);
    return philox_permute(key, i, n);
}
