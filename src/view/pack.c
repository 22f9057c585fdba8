/* pack.c - numbers in few bytes: log f in equal steps, stored as differences from a prediction by neighbours.
 *
 * A level is at most half a step from log f, so that the relative error of a density is at most exp(step / 2) - 1. A
 * level is predicted from those before it in its row, its column and both (Ibarria et al. 2003),
 *
 *     p_ij = q_i,j-1 + q_i-1,j - q_i-1,j-1,
 *
 * and q - p, small and of either sign, becomes a small unsigned number: 0, -1, 1, -2, ... to 0, 1, 2, 3, ... All
 * arithmetic is modulo 2^16, so nothing is lost. */
#include "view.h"

void pack_levels(const double *log_f, size_t n, double top, double step, uint16_t *level)
{
    for (size_t i = 0; i < n; i++) {
        const double steps = (top - log_f[i]) / step;
        level[i] = !(steps < VIEW_LEVELS) ? VIEW_LEVELS : steps > 0.0 ? (uint16_t)lrint(steps) : 0;
    }
}

static uint16_t without_sign(unsigned difference) /* modulo 2^16 */
{
    const int d = (int)(difference & 0xffffu), s = d < 0x8000 ? d : d - 0x10000;
    return (uint16_t)(s < 0 ? -2 * s - 1 : 2 * s);
}

void pack_predict(uint16_t *level, size_t rows, size_t columns)
{
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;) {
            uint16_t *at = level + i * columns + j;
            const unsigned left = j > 0 ? at[-1] : 0u, above = i > 0 ? *(at - columns) : 0u;
            const unsigned both = i > 0 && j > 0 ? *(at - columns - 1) : 0u;
            *at = without_sign(*at - (left + above - both));
        }
}

void pack_planes(const uint16_t *level, size_t n, unsigned char *bytes)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)(level[i] & 0xff);
        bytes[n + i] = (unsigned char)(level[i] >> 8);
    }
}

uint16_t pack_share(double x, double low, double high)
{
    const double share = high > low ? (x - low) / (high - low) : 0.0;
    return (uint16_t)lrint(65535.0 * fmin(fmax(share, 0.0), 1.0));
}
