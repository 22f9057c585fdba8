/* random.c - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC 2011).
 *
 * The 128-bit counter is (index low, index high, step, purpose and block): a number is found by what it is
 * for, not by how many were drawn before it. One block gives four words, that is two doubles (slots 2b and 2b
 * + 1). */
#include "core.h"

static void philox_round(uint32_t c[4], const uint32_t key[2])
{
    const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t hi0 = (uint32_t)(p0 >> 32), lo0 = (uint32_t)p0, hi1 = (uint32_t)(p1 >> 32),
                   lo1 = (uint32_t)p1;
    c[0] = hi1 ^ c[1] ^ key[0];
    c[1] = lo1;
    c[2] = hi0 ^ c[3] ^ key[1];
    c[3] = lo0;
}

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4] = { counter[0], counter[1], counter[2], counter[3] }, k[2] = { key[0], key[1] };
    for (int round = 0; round < 10; round++) {
        philox_round(c, k);
        k[0] += 0x9E3779B9u; /* the golden ratio and sqrt(3) - 1: Weyl sequences of the key */
        k[1] += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}

rng_key rng_key_make(uint64_t seed, rng_purpose purpose, uint64_t step)
{
    assert(step <= UINT32_MAX);
    return (rng_key){ .seed = { (uint32_t)seed, (uint32_t)(seed >> 32) },
                      .step = (uint32_t)step,
                      .purpose = (uint32_t)purpose };
}

static void rng_block(rng_key key, uint64_t index, uint32_t block, uint32_t out[4])
{
    assert(block < 1u << 16);
    const uint32_t counter[4] = { (uint32_t)index, (uint32_t)(index >> 32), key.step,
                                  key.purpose | block << 16 };
    philox4x32_10(counter, key.seed, out);
}

uint32_t rng_word(rng_key key, uint64_t index, uint32_t slot)
{
    uint32_t w[4];
    rng_block(key, index, slot / 4, w);
    return w[slot % 4];
}

double rng_uniform(rng_key key, uint64_t index, uint32_t slot)
{
    uint32_t w[4];
    rng_block(key, index, slot / 2, w);
    const uint32_t *pair = w + 2 * (slot % 2);
    const uint64_t bits = ((uint64_t)pair[0] << 32 | pair[1])
                          >> 12; /* 52 bits: adding a half stays below 1 */
    return ((double)bits + 0.5) * 0x1p-52;
}

double rng_normal(rng_key key, uint64_t index, uint32_t slot)
{
    /* Box-Muller; each slot has a pair of uniforms of its own, so that slots are independent */
    const double u = rng_uniform(key, index, 2 * slot), v = rng_uniform(key, index, 2 * slot + 1);
    return sqrt(-2.0 * log(u)) * cos(TWO_PI * v);
}

/* A Feistel network on the smallest even number of bits that covers n, walked until it lands below n: a
 * bijection of {0 .. n-1} that costs no memory, however many points there are. */
uint64_t rng_permute(rng_key key, uint64_t i, uint64_t n)
{
    assert(i < n);
    int half = 1;
    while (half < 32 && (uint64_t)1 << (2 * half) < n)
        half++;
    const uint32_t mask = half == 32 ? UINT32_MAX : (uint32_t)(((uint64_t)1 << half) - 1);
    do {
        uint32_t left = (uint32_t)(i >> half) & mask, right = (uint32_t)i & mask;
        for (uint32_t round = 0; round < 6; round++) {
            const uint32_t turned = left ^ (rng_word(key, right, 4 * round) & mask);
            left = right;
            right = turned;
        }
        i = (uint64_t)left << half | right;
    } while (i >= n);
    return i;
}
