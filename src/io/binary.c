/* binary.c - numbers as bytes, and bytes as letters: what the formats of several folders share. */
#include "io.h"

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "F32 and F64 are float and double");

size_t number_size(number_type type)
{
    static const unsigned char SIZE[NUMBER_NONE] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };
    assert(type < NUMBER_NONE);
    return SIZE[type];
}

double number_decode(const unsigned char *bytes, number_type type, bool big_endian)
{
    const size_t size = number_size(type);
    uint64_t bits = 0;
    float single;
    double value;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)bytes[big_endian ? size - 1 - i : i] << 8 * i;
    const uint32_t low = (uint32_t)bits;
    switch (type) {
    case NUMBER_I8:
        return (double)(int8_t)bits;
    case NUMBER_I16:
        return (double)(int16_t)bits;
    case NUMBER_I32:
        return (double)(int32_t)low;
    case NUMBER_I64:
        return (double)(int64_t)bits;
    case NUMBER_F32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case NUMBER_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    default:
        return (double)bits;
    }
}

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(const unsigned char *bytes, size_t size, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        const size_t have = size - i < 3 ? size - i : 3;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | (have > 1 ? (uint32_t)bytes[i + 1] << 8 : 0)
                              | (have > 2 ? (uint32_t)bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            out[used++] = k <= have ? DIGITS[bits >> (18 - 6 * k) & 63] : '=';
    }
    return used;
}

int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}
