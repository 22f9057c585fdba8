/* sobol.c - Sobol points with Owen's nested uniform scrambling.
 *
 * Direction numbers: S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM
 * J. Sci. Comput. 30 (2008), set new-joe-kuo-6, the first 64 dimensions.
 *
 * Scrambling: a digit of the point is flipped by a random bit that depends on all higher digits. With the bits
 * reversed, that is any bijection of 32-bit words in which low bits influence high ones only; such a map, keyed by one
 * random word for each dimension, is built from multiplications by even numbers and additions (after Laine and Karras
 * 2011, constants of Vegdahl 2021). A fresh word is a fresh scramble: each point is uniform, so averages are unbiased.
 * The map is in numbers.h, which device code includes as well. */
#include "core.h"

/* Primitive polynomial (its coefficients as bits) and initial numbers m_1 .. m_s, for dimensions 2 to 64. */
static const struct {
    uint16_t polynomial;
    uint16_t initial[9];
} JOE_KUO[SOBOL_MAX_DIMENSIONS - 1] = {
    { 3, { 1 } },
    { 7, { 1, 3 } },
    { 11, { 1, 3, 1 } },
    { 13, { 1, 1, 1 } },
    { 19, { 1, 1, 3, 3 } },
    { 25, { 1, 3, 5, 13 } },
    { 37, { 1, 1, 5, 5, 17 } },
    { 41, { 1, 1, 5, 5, 5 } },
    { 47, { 1, 1, 7, 11, 19 } },
    { 55, { 1, 1, 5, 1, 1 } },
    { 59, { 1, 1, 1, 3, 11 } },
    { 61, { 1, 3, 5, 5, 31 } },
    { 67, { 1, 3, 3, 9, 7, 49 } },
    { 91, { 1, 1, 1, 15, 21, 21 } },
    { 97, { 1, 3, 1, 13, 27, 49 } },
    { 103, { 1, 1, 1, 15, 7, 5 } },
    { 109, { 1, 3, 1, 15, 13, 25 } },
    { 115, { 1, 1, 5, 5, 19, 61 } },
    { 131, { 1, 3, 7, 11, 23, 15, 103 } },
    { 137, { 1, 3, 7, 13, 13, 15, 69 } },
    { 143, { 1, 1, 3, 13, 7, 35, 63 } },
    { 145, { 1, 3, 5, 9, 1, 25, 53 } },
    { 157, { 1, 3, 1, 13, 9, 35, 107 } },
    { 167, { 1, 3, 1, 5, 27, 61, 31 } },
    { 171, { 1, 1, 5, 11, 19, 41, 61 } },
    { 185, { 1, 3, 5, 3, 3, 13, 69 } },
    { 191, { 1, 1, 7, 13, 1, 19, 1 } },
    { 193, { 1, 3, 7, 5, 13, 19, 59 } },
    { 203, { 1, 1, 3, 9, 25, 29, 41 } },
    { 211, { 1, 3, 5, 13, 23, 1, 55 } },
    { 213, { 1, 3, 7, 3, 13, 59, 17 } },
    { 229, { 1, 3, 1, 3, 5, 53, 69 } },
    { 239, { 1, 1, 5, 5, 23, 33, 13 } },
    { 241, { 1, 1, 7, 7, 1, 61, 123 } },
    { 247, { 1, 1, 7, 9, 13, 61, 49 } },
    { 253, { 1, 3, 3, 5, 3, 55, 33 } },
    { 285, { 1, 3, 1, 15, 31, 13, 49, 245 } },
    { 299, { 1, 3, 5, 15, 31, 59, 63, 97 } },
    { 301, { 1, 3, 1, 11, 11, 11, 77, 249 } },
    { 333, { 1, 3, 1, 11, 27, 43, 71, 9 } },
    { 351, { 1, 1, 7, 15, 21, 11, 81, 45 } },
    { 355, { 1, 3, 7, 3, 25, 31, 65, 79 } },
    { 357, { 1, 3, 1, 1, 19, 11, 3, 205 } },
    { 361, { 1, 1, 5, 9, 19, 21, 29, 157 } },
    { 369, { 1, 3, 7, 11, 1, 33, 89, 185 } },
    { 391, { 1, 3, 3, 3, 15, 9, 79, 71 } },
    { 397, { 1, 3, 7, 11, 15, 39, 119, 27 } },
    { 425, { 1, 1, 3, 1, 11, 31, 97, 225 } },
    { 451, { 1, 1, 1, 3, 23, 43, 57, 177 } },
    { 463, { 1, 3, 7, 7, 17, 17, 37, 71 } },
    { 487, { 1, 3, 1, 5, 27, 63, 123, 213 } },
    { 501, { 1, 1, 3, 5, 11, 43, 53, 133 } },
    { 529, { 1, 3, 5, 5, 29, 17, 47, 173, 479 } },
    { 539, { 1, 3, 3, 11, 3, 1, 109, 9, 69 } },
    { 545, { 1, 1, 1, 5, 17, 39, 23, 5, 343 } },
    { 557, { 1, 3, 1, 5, 25, 15, 31, 103, 499 } },
    { 563, { 1, 1, 1, 11, 11, 17, 63, 105, 183 } },
    { 601, { 1, 1, 5, 11, 9, 29, 97, 231, 363 } },
    { 607, { 1, 1, 5, 15, 19, 45, 41, 7, 383 } },
    { 617, { 1, 3, 7, 7, 31, 19, 83, 137, 221 } },
    { 623, { 1, 1, 1, 3, 23, 15, 111, 223, 83 } },
    { 631, { 1, 1, 5, 13, 31, 15, 55, 25, 161 } },
    { 637, { 1, 1, 3, 13, 25, 47, 39, 87, 257 } },
};

void sobol_directions(int dimension, uint32_t v[32])
{
    if (dimension == 0) { /* van der Corput */
        for (int k = 0; k < 32; k++)
            v[k] = 1u << (31 - k);
        return;
    }
    const uint32_t polynomial = JOE_KUO[dimension - 1].polynomial;
    int s = 0;
    while (polynomial >> (s + 1) != 0)
        s++;
    for (int k = 0; k < s; k++)
        v[k] = (uint32_t)JOE_KUO[dimension - 1].initial[k] << (31 - k);
    for (int k = s; k < 32; k++) {
        v[k] = v[k - s] ^ v[k - s] >> s;
        for (int j = 1; j < s; j++)
            if (polynomial >> (s - j) & 1)
                v[k] ^= v[k - j];
    }
}

uint32_t sobol_raw(int dimension, uint32_t index)
{
    assert(0 <= dimension && dimension < SOBOL_MAX_DIMENSIONS);
    uint32_t v[32], x = 0;
    sobol_directions(dimension, v);
    for (int k = 0; index != 0; index >>= 1, k++)
        if (index & 1)
            x ^= v[k];
    return x;
}

void sobol_open(sobol *s, int dimensions, rng_key key)
{
    assert(0 < dimensions && dimensions <= SOBOL_MAX_DIMENSIONS);
    s->dimensions = dimensions;
    for (int d = 0; d < dimensions; d++) {
        s->scramble[d] = rng_word(key, (uint64_t)d, 0);
        sobol_directions(d, s->direction[d]);
    }
}

void sobol_point(const sobol *s, uint32_t index, double *u)
{
    for (int d = 0; d < s->dimensions; d++) {
        uint32_t x = 0;
        for (uint32_t rest = index; rest != 0; rest &= rest - 1)
            x ^= s->direction[d][__builtin_ctz(rest)];
        u[d] = sobol_unit(x, s->scramble[d]);
    }
}
