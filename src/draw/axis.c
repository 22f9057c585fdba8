/* axis.c - the ticks of an axis and their labels. */
#include "draw.h"

#include <stdio.h>

#define MINUS "\xE2\x88\x92"
#define TIMES "\xC3\x97"
#define PI_SIGN "\xCF\x80"
#define DEGREE "\xC2\xB0"

/* printf follows the host program's locale; pictures, like files, have points. */
static void point_put(char *text)
{
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
}

/* A hyphen in front becomes a minus, which is as wide as a plus. */
static void minus_put(const char *plain, char text[AXIS_LABEL])
{
    snprintf(text, AXIS_LABEL, "%s%.20s", plain[0] == '-' ? MINUS : "", plain + (plain[0] == '-' ? 1 : 0));
}

/* "10" and a raised exponent. */
static void power_words(int exponent, char text[AXIS_LABEL])
{
    static const char *const RAISED[] = { "\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",
                                          "\xE2\x81\xB4", "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7",
                                          "\xE2\x81\xB8", "\xE2\x81\xB9" };
    const int size = abs(exponent);
    snprintf(text, AXIS_LABEL, "10%s%s%s%s", exponent < 0 ? "\xE2\x81\xBB" : "",
             size >= 100 ? RAISED[size / 100 % 10] : "", size >= 10 ? RAISED[size / 10 % 10] : "", RAISED[size % 10]);
}

void number_words(double value, char text[AXIS_LABEL])
{
    char plain[AXIS_LABEL], power[AXIS_LABEL];
    const double size = fabs(value);
    if (!isfinite(value)) { /* printf's words differ: "-nan" */
        snprintf(text, AXIS_LABEL, "%s", isnan(value) ? "NaN" : value > 0.0 ? "inf" : MINUS "inf");
        return;
    }
    if (size == 0.0 || (size >= 1e-3 && size < 1e5)) {
        snprintf(plain, sizeof plain, size >= 1000.0 ? "%.0f" : "%.3g", value);
        point_put(plain);
        minus_put(plain, text);
        return;
    }
    const int exponent = (int)floor(log10(size) + 1e-12);
    const int far = exponent < -300 ? 300 : 0; /* below the least double a power of ten is 0 */
    snprintf(plain, sizeof plain, "%.3g", value * pow(10.0, far) / pow(10.0, exponent + far));
    point_put(plain);
    power_words(exponent, power);
    if (strcmp(plain, "1") == 0)
        snprintf(text, AXIS_LABEL, "%s", power);
    else
        snprintf(text, AXIS_LABEL, "%s%.6s" TIMES "%.12s", plain[0] == '-' ? MINUS : "",
                 plain + (plain[0] == '-' ? 1 : 0), power);
}

static axis_tick *tick_add(axis_ticks *out, double value)
{
    if (out->count == AXIS_TICKS)
        return NULL;
    axis_tick *t = &out->tick[out->count++];
    *t = (axis_tick){ .value = value };
    return t;
}

/* The least of 1, 2, 5 times a power of ten that needs no more than `most` steps. */
static double step_choose(double range, int most)
{
    const double least = range / most, power = pow(10.0, floor(log10(least)));
    const double digit = least / power * (1.0 - 1e-9);
    return power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
}

static void linear_ticks(const axis *a, int most, axis_ticks *out)
{
    const double step = step_choose(a->to - a->from, most), slack = 1e-6;
    const double largest = fmax(fabs(a->from), fabs(a->to));
    /* 10^-k may come out a little below itself */
    const int decimals = (int)fmax(-floor(log10(step) + 1e-9), 0.0);
    for (double k = ceil(a->from / step - slack); k <= a->to / step + slack; k += 1.0) {
        char plain[AXIS_LABEL];
        const double value = k == 0.0 ? 0.0 : k * step; /* ceil may give -0 */
        axis_tick *t = tick_add(out, value);
        if (t == NULL)
            return;
        if (largest >= 1e5 || largest < 1e-3) {
            number_words(value, t->label);
        } else {
            snprintf(plain, sizeof plain, "%.*f", k == 0.0 ? 0 : decimals, value);
            point_put(plain);
            minus_put(plain, t->label);
        }
    }
}

/* Powers of ten, as many as there is room for; within one or two decades also 2 and 5 times, with labels. */
static void log_ticks(const axis *a, int most, axis_ticks *out)
{
    const double slack = 1e-6;
    const int first = (int)floor(log10(a->from) + slack), last = (int)floor(log10(a->to) + slack);
    const double decades = log10(a->to / a->from);
    const int every = (int)fmax(ceil(decades / most), 1.0);
    for (int k = first; k <= last; k++)
        for (int digit = 1; digit < 10; digit++) {
            const double value = digit * pow(10.0, k);
            const bool few = (decades < 1.5 && (digit == 2 || digit == 5)) || (decades < 0.75 && digit < 9);
            if (value < a->from * (1.0 - slack) || value > a->to * (1.0 + slack) || (digit > 1 && every > 1))
                continue;
            axis_tick *t = tick_add(out, value);
            if (t == NULL)
                return;
            if ((digit == 1 && k % every == 0) || few) {
                if (digit == 1 && (k < -2 || k > 3))
                    power_words(k, t->label);
                else
                    number_words(value, t->label);
            }
        }
}

/* p pi / q in words; q is 1, 2, 4 or so. */
static void pi_words(long p, long q, char text[AXIS_LABEL])
{
    long a = labs(p), b = q;
    while (b != 0) {
        const long rest = a % b;
        a = b;
        b = rest;
    }
    const long above = labs(p) / a, below = q / a;
    char times[8] = "", over[8] = "";
    if (above > 1)
        snprintf(times, sizeof times, "%ld", above % 1000);
    if (below > 1)
        snprintf(over, sizeof over, "/%ld", below % 1000);
    snprintf(text, AXIS_LABEL, p == 0 ? "0" : "%s%s" PI_SIGN "%s", p < 0 ? MINUS : "", times, over);
}

/* Multiples of pi/4 (up to half a turn), pi/2, pi, 2 pi ..., the finest that gives no more than `most` steps. */
static void pi_ticks(const axis *a, int most, axis_ticks *out)
{
    long quarters = a->to - a->from > NPMD_PI ? 2 : 1; /* over a whole turn quarters of pi are too many to read */
    while ((a->to - a->from) / ((double)quarters * NPMD_PI / 4.0) > most * (1.0 + 1e-9))
        quarters *= 2;
    const double step = (double)quarters * NPMD_PI / 4.0, slack = 1e-6;
    for (long k = (long)ceil(a->from / step - slack); (double)k <= a->to / step + slack; k++) {
        axis_tick *t = tick_add(out, (double)k * step);
        if (t == NULL)
            return;
        pi_words(k * quarters, 4, t->label);
    }
}

static void degree_ticks(const axis *a, int most, axis_ticks *out)
{
    static const double STEPS[] = { 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 360.0 };
    const int last = (int)(sizeof STEPS / sizeof STEPS[0]) - 1;
    int s = 0;
    while (s < last && (a->to - a->from) / STEPS[s] > most * (1.0 + 1e-9))
        s++;
    for (double k = ceil(a->from / STEPS[s] - 1e-6); k <= a->to / STEPS[s] + 1e-6; k += 1.0) {
        const double value = k == 0.0 ? 0.0 : k * STEPS[s];
        axis_tick *t = tick_add(out, value);
        char plain[AXIS_LABEL];
        if (t == NULL)
            return;
        snprintf(plain, sizeof plain, "%.0f" DEGREE, value);
        minus_put(plain, t->label);
    }
}

void axis_mark(const axis *a, int most, axis_ticks *out)
{
    static void (*const MARK[])(const axis *, int, axis_ticks *) = { linear_ticks, log_ticks, pi_ticks, degree_ticks };
    assert(a->from < a->to && most > 0);
    out->count = 0;
    MARK[a->kind](a, most, out);
}

double axis_place(const axis *a, double value)
{
    if (a->kind == AXIS_LOG)
        return log(fmax(value, 1e-300) / a->from) / log(a->to / a->from);
    return (value - a->from) / (a->to - a->from);
}

/* Of a linear axis: the ends go out to the next tick where that takes less than a fifth of the range more; of a log
 * axis to the next power of ten where that is less than a third of a decade away. A range of one value is widened. */
void axis_fit(axis *a, double least, double most)
{
    assert(isfinite(least) && isfinite(most) && least <= most);
    if (a->kind == AXIS_LOG) {
        assert(least > 0.0);
        const double low = log10(least), high = log10(most);
        const double down = low - floor(low) < 0.35 ? floor(low) : low - 0.05,
                     up = ceil(high) - high < 0.35 ? ceil(high) : high + 0.05;
        a->from = pow(10.0, down == up ? down - 1.0 : down);
        a->to = pow(10.0, down == up ? up + 1.0 : up);
        return;
    }
    if (most - least <= 1e-9 * fmax(fabs(least), fabs(most))) {
        const double half = least == 0.0 ? 1.0 : 0.1 * fabs(least);
        least -= half, most += half;
    }
    const double step = step_choose(most - least, 6), range = most - least;
    const double down = step * floor(least / step + 1e-9), up = step * ceil(most / step - 1e-9);
    a->from = least - down < 0.2 * range ? down : least - 0.04 * range;
    a->to = up - most < 0.2 * range ? up : most + 0.04 * range;
}
