/* numbers.h - random and quasi-random numbers as pure functions, for the processor and for a device alike.
 *
 * core.h offers them to the library; random.c and sobol.c describe them. Code compiled for a device includes this
 * header alone. The same key gives the same bits on both, since no operation here may be rounded differently. */
#ifndef NPMD_NUMBERS_H
#define NPMD_NUMBERS_H

#include <stdint.h>

#ifdef __CUDACC__
#define SHARED_INLINE static __host__ __device__ __forceinline__
#else
#define SHARED_INLINE static inline
#endif

#define NPMD_PI 3.14159265358979323846
#define TWO_PI 6.28318530717958647693

typedef struct rng_key {
    uint32_t seed[2];
    uint32_t step, purpose;
} rng_key;

/* ---- Philox4x32-10 ----------------------------------------------------------------------------------------------- */

SHARED_INLINE void philox_round(uint32_t c[4], const uint32_t key[2])
{
    const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t hi0 = (uint32_t)(p0 >> 32), lo0 = (uint32_t)p0, hi1 = (uint32_t)(p1 >> 32), lo1 = (uint32_t)p1;
    c[0] = hi1 ^ c[1] ^ key[0];
    c[1] = lo1;
    c[2] = hi0 ^ c[3] ^ key[1];
    c[3] = lo0;
}

SHARED_INLINE void philox_ten(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t k[2] = { key[0], key[1] };
    for (int i = 0; i < 4; i++)
        out[i] = counter[i];
    for (int round = 0; round < 10; round++) {
        philox_round(out, k);
        k[0] += 0x9E3779B9u; /* the golden ratio and sqrt(3) - 1: Weyl sequences of the key */
        k[1] += 0xBB67AE85u;
    }
}

SHARED_INLINE void philox_block(rng_key key, uint64_t index, uint32_t block, uint32_t out[4])
{
    const uint32_t counter[4] = { (uint32_t)index, (uint32_t)(index >> 32), key.step, key.purpose | block << 16 };
    philox_ten(counter, key.seed, out);
}

SHARED_INLINE uint32_t philox_word(rng_key key, uint64_t index, uint32_t slot)
{
    uint32_t w[4];
    philox_block(key, index, slot / 4, w);
    return slot % 4 == 0 ? w[0] : slot % 4 == 1 ? w[1] : slot % 4 == 2 ? w[2] : w[3];
}

/* In (0, 1), from two words. 52 bits, so that the sum with 1/2 stays below 1. */
SHARED_INLINE double philox_unit(uint32_t high, uint32_t low)
{
    const uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

SHARED_INLINE double philox_uniform(rng_key key, uint64_t index, uint32_t slot)
{
    uint32_t w[4];
    philox_block(key, index, slot / 2, w);
    return slot % 2 == 0 ? philox_unit(w[0], w[1]) : philox_unit(w[2], w[3]);
}

/* A Feistel network on the smallest even number of bits that covers n, iterated until the value is below n: a bijection
 * of {0 .. n-1} that needs no memory. */
SHARED_INLINE uint64_t philox_permute(rng_key key, uint64_t i, uint64_t n)
{
    int half = 1;
    while (half < 32 && (uint64_t)1 << (2 * half) < n)
        half++;
    const uint32_t mask = half == 32 ? UINT32_MAX : (uint32_t)(((uint64_t)1 << half) - 1);
    do {
        uint32_t left = (uint32_t)(i >> half) & mask, right = (uint32_t)i & mask;
        for (uint32_t round = 0; round < 6; round++) {
            const uint32_t turned = left ^ (philox_word(key, right, 4 * round) & mask);
            left = right;
            right = turned;
        }
        i = (uint64_t)left << half | right;
    } while (i >= n);
    return i;
}

/* ---- digits of Sobol points -------------------------------------------------------------------------------------- */

SHARED_INLINE uint32_t reverse_bits(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    x = (x >> 8 & 0x00FF00FFu) | (x & 0x00FF00FFu) << 8;
    return x >> 16 | x << 16;
}

SHARED_INLINE uint32_t owen_scramble(uint32_t x, uint32_t seed)
{
    x = reverse_bits(x);
    x ^= x * 0x3D20ADEAu;
    x += seed;
    x *= seed >> 16 | 1;
    x ^= x * 0x05526C56u;
    x ^= x * 0x53A22864u;
    return reverse_bits(x);
}

/* The coordinate in (0, 1) with binary digits x, scrambled by the word of its dimension. */
SHARED_INLINE double sobol_unit(uint32_t x, uint32_t scramble)
{
    return ((double)owen_scramble(x, scramble) + 0.5) * 0x1p-32;
}

#endif
