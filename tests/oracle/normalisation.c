/* normalisation.c - does what is fitted integrate to one? Every estimator, on data that integrals find hard.
 *
 *     normalisation [FIRST [COUNT [STRIDE]]]      COUNT cases: FIRST, FIRST + STRIDE, ...; all of them without arguments
 *     normalisation quick                         a dozen that take little time
 *
 * A case is (data, domain, estimator). The fit must end in one of two ways: with a model whose integral is one, within
 * FOUR standard errors (the stated one and that of the sum here) and, as far as the sum here can tell, within one in a
 * hundred; or with NPMD_ERR_NUMERIC, since the integral is not known. Anything else is wrong, and the exit status is 1.
 *
 * The sum is importance sampling of its own kind: it sees the model through npmd_log_density alone and shares no text
 * with the library. Its points come from a mixture of the uniform density and of kernels about data points, of many
 * widths, one for each factor; the weights of a round say which widths and which places the next round should have.
 * Every round is unbiased by itself; the last one counts. */
#include "neuropmd.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FOUR 4.0
#define WITHIN 0.01
#define PI 3.14159265358979323846
#define MOST_COLUMNS 16
#define MOST_FACTORS 8

static uint64_t state;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return ((double)((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
}

static double normal(void)
{
    const double u = uniform(), v = uniform();
    return sqrt(-2.0 * log(u)) * cos(2.0 * PI * v);
}

static void *take(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (p == NULL) {
        fprintf(stderr, "normalisation: not enough memory\n");
        exit(2);
    }
    return p;
}

/* ---- domains: factors c (circle) and s (sphere) ------------------------------------------------------------------ */

typedef struct space {
    const char *text, *factor;
} space;
static const space SPACES[] = {
    { "S1", "c" },       { "T2", "cc" },      { "S2", "s" },       { "T3", "ccc" },
    { "S2 x S1", "sc" }, { "S2 x S2", "ss" }, { "T7", "ccccccc" },
};
#define SPACES_COUNT ((int)(sizeof SPACES / sizeof *SPACES))

static int space_factors(const space *s)
{
    return (int)strlen(s->factor);
}

static int space_columns(const space *s)
{
    int columns = 0;
    for (const char *f = s->factor; *f != '\0'; f++)
        columns += *f == 'c' ? 1 : 3;
    return columns;
}

static void unit(double x[3])
{
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3; i++)
        x[i] /= length;
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static const char *const KINDS[] = { "wide",        "spread 0.03", "spread 0.003", "spread 0.0003", "antipodal",
                                     "one far off", "clusters",    "on a line",    "rounded" };
#define KINDS_COUNT ((int)(sizeof KINDS / sizeof *KINDS))

/* About a centre c, in one factor. */
static void near(char factor, const double *c, double spread, double *x)
{
    if (factor == 'c') {
        x[0] = fmod(c[0] + spread * normal() + 8.0 * PI, 2.0 * PI);
        return;
    }
    for (int i = 0; i < 3; i++)
        x[i] = c[i] + spread * normal();
    unit(x);
}

static void anywhere(char factor, double *x)
{
    if (factor == 'c') {
        x[0] = 2.0 * PI * uniform();
        return;
    }
    for (int i = 0; i < 3; i++)
        x[i] = normal();
    unit(x);
}

static void opposite(char factor, const double *c, double *x)
{
    if (factor == 'c')
        x[0] = fmod(c[0] + PI, 2.0 * PI);
    else
        for (int i = 0; i < 3; i++)
            x[i] = -c[i];
}

/* Three centres; a row of kind k. */
static void data_row(const space *s, int k, const double centre[3][MOST_COLUMNS], int row, int n, double *x)
{
    static const double SPREAD[] = { 0.5, 0.03, 0.003, 0.0003, 0.003, 0.01, 0, 0.02, 0.2 };
    static const double OF_CLUSTER[] = { 0.3, 0.03, 0.001 };
    const int which = k == 6 ? row % 3 : 0;
    const bool far = (k == 4 && row % 2 == 1) || (k == 5 && row == n - 1);
    for (int d = 0, at = 0; s->factor[d] != '\0'; d++) {
        const char f = s->factor[d];
        double c[3];
        memcpy(c, centre[which] + at, (f == 'c' ? 1 : 3) * sizeof *c);
        if (far)
            opposite(f, centre[which] + at, c);
        if (k == 7 && d == 0) { /* a great circle, or an arc; the other factors stay where they are */
            const double turn = PI * (2.0 * uniform() - 1.0);
            x[at] = f == 'c' ? c[0] + turn / 4.0 : cos(turn);
            if (f == 'c')
                x[at] = fmod(x[at] + 4.0 * PI, 2.0 * PI);
            else
                x[at + 1] = sin(turn), x[at + 2] = 0.0;
        } else {
            near(f, c, k == 6 ? OF_CLUSTER[which] : SPREAD[k], x + at);
        }
        if (k == 8) {
            for (int i = 0; i < (f == 'c' ? 1 : 3); i++)
                x[at + i] = round(x[at + i] * 20.0) / 20.0;
            if (f == 's')
                unit(x + at);
        }
        at += f == 'c' ? 1 : 3;
    }
}

static double *data_make(const space *s, int k, int n)
{
    double centre[3][MOST_COLUMNS], *x = take((size_t)(n * space_columns(s)), sizeof *x);
    for (int c = 0; c < 3; c++)
        for (int d = 0, at = 0; s->factor[d] != '\0'; at += s->factor[d] == 'c' ? 1 : 3, d++)
            anywhere(s->factor[d], centre[c] + at);
    for (int i = 0; i < n; i++)
        data_row(s, k, (const double(*)[MOST_COLUMNS])centre, i, n, x + i * space_columns(s));
    return x;
}

/* ---- estimators -------------------------------------------------------------------------------------------------- */

typedef struct way {
    const char *name, *option[8][2];
    int least_dimension, most_dimension; /* where it is affordable */
} way;
#define SMALL                                                                                                          \
    { "width", "12" }, { "threads", "1" },                                                                             \
    {                                                                                                                  \
        "convex-gap", "off"                                                                                            \
    }
static const way WAYS[] = {
    { "kde fixed", { { "estimator", "kde" }, { "bandwidth", "fixed" }, { "threads", "1" } }, 1, 99 },
    { "series", { { "estimator", "series" }, { "threads", "1" } }, 1, 3 },
    { "field", { { "estimator", "field" }, { "tau", "1e-6" }, { "steps", "60" }, { "base", "none" }, SMALL }, 1, 99 },
    { "kde mixture", { { "estimator", "kde" }, { "bandwidth", "mixture" }, { "threads", "1" } }, 1, 99 },
    { "psnf", { { "estimator", "psnf" }, { "steps", "60" }, { "width", "8" }, { "threads", "1" } }, 1, 99 },
    { "series rough",
      { { "estimator", "series" }, { "tau", "1e-9" }, { "max-frequency", "6" }, { "threads", "1" } },
      1,
      4 },
    { "kde adaptive", { { "estimator", "kde" }, { "bandwidth", "adaptive" }, { "threads", "1" } }, 1, 99 },
    { "over kernels", { { "tau", "1e-4" }, { "steps", "40" }, { "base", "kde" }, SMALL }, 1, 4 },
    { "members", { { "tau", "1e-5" }, { "steps", "30" }, { "members", "2" }, { "base", "none" }, SMALL }, 1, 4 },
    { "stack", { { "estimator", "stack" }, { "tau", "1e-4" }, { "steps", "30" }, { "members", "1" }, SMALL }, 1, 3 },
    { "bootstrap", { { "estimator", "kde" }, { "members", "3" }, { "bootstrap", "on" }, { "threads", "1" } }, 1, 4 },
    { "auto", { { "estimator", "auto" }, { "tau", "1e-4" }, { "steps", "30" }, { "members", "1" }, SMALL }, 1, 3 },
};
#define WAYS_COUNT ((int)(sizeof WAYS / sizeof *WAYS))

static npmd_status way_fit(const way *w, const space *s, const double *x, int n, npmd_model **out, npmd_error *err)
{
    npmd_domain *dom = NULL;
    npmd_points *pts = NULL;
    npmd_options *opt = npmd_options_new();
    npmd_status st = opt == NULL ? NPMD_ERR_MEMORY : npmd_domain_parse(s->text, &dom, err);
    for (int i = 0; st == NPMD_OK && i < 8 && w->option[i][0] != NULL; i++)
        st = npmd_options_set(opt, w->option[i][0], w->option[i][1], err);
    if (st == NPMD_OK)
        st = npmd_points_from(x, (size_t)n, (size_t)space_columns(s), dom, NPMD_COORDS_DEFAULT, &pts, err);
    if (st == NPMD_OK)
        st = npmd_fit(dom, pts, opt, out, err);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    npmd_options_free(opt);
    return st;
}

/* ---- the sum ----------------------------------------------------------------------------------------------------- */

/* A kernel about c in one factor, of width w: the conformal image of the uniform density, by t the half chord.
 * With a = (1 - w)^2: circle ((1 - a^2) / (1 + a^2 - 2 a cos)), sphere its square; relative to uniform. */
#define WIDTHS 11
#define CENTRES 64
#define ROUNDS 4
#define POINTS 8000 /* of a round; of the last one twice as many, and again until it is sure */
#define LAST (2 * POINTS)
#define MOST_POINTS (64 * POINTS)
#define WIDE_SHARE 0.1

typedef struct rule {
    const space *of;
    int factors, columns, centres;
    double *centre;                     /* (centres, columns) */
    double width[WIDTHS];               /* falling by thirds */
    double share[MOST_FACTORS][WIDTHS]; /* each factor's width is drawn by itself */
} rule;

/* ((1 - r^2) / (1 + r^2 - 2 r cos))^p with r = 1 - w; 1 - cos from differences, which keeps its digits. */
static double kernel(char f, const double *c, const double *x, double w)
{
    const double r = 1.0 - w;
    double versine;
    if (f == 'c') {
        const double half = sin(0.5 * (x[0] - c[0]));
        versine = 2.0 * half * half;
    } else {
        versine = 0.0;
        for (int i = 0; i < 3; i++)
            versine += 0.5 * (x[i] - c[i]) * (x[i] - c[i]);
    }
    const double g = w * (1.0 + r) / (w * w + 2.0 * r * versine);
    return f == 'c' ? g : g * g;
}

/* A draw from it: a uniform point u at angle a from c goes to tan(b / 2) = (1 - r) / (1 + r) tan(a / 2). */
static void kernel_draw(char f, const double *c, double w, double *x)
{
    const double squeeze = w / (2.0 - w);
    if (f == 'c') {
        const double b = 2.0 * atan(squeeze * tan(PI * (uniform() - 0.5)));
        x[0] = fmod(c[0] + b + 4.0 * PI, 2.0 * PI);
        return;
    }
    double u[3] = { normal(), normal(), normal() }, dot = 0.0, size = 0.0;
    unit(u);
    for (int i = 0; i < 3; i++)
        dot += u[i] * c[i];
    for (int i = 0; i < 3; i++) {
        u[i] -= dot * c[i];
        size += u[i] * u[i];
    }
    const double b = 2.0 * atan(squeeze * sqrt((1.0 - dot) / (1.0 + dot)));
    for (int i = 0; i < 3; i++)
        x[i] = cos(b) * c[i] + sin(b) * u[i] / sqrt(size);
    unit(x);
}

/* Density at x; of (factor, width) terms, what each contributes to it goes to the logs of the shares' update. */
static double rule_density(const rule *r, const double *x, double taken[MOST_FACTORS][WIDTHS])
{
    double sum = 0.0;
    memset(taken, 0, MOST_FACTORS * WIDTHS * sizeof(double));
    for (int k = 0; k < r->centres; k++) {
        double of[MOST_FACTORS][WIDTHS], factor[MOST_FACTORS], all = 1.0;
        for (int d = 0, at = 0; d < r->factors; at += r->of->factor[d] == 'c' ? 1 : 3, d++) {
            factor[d] = 0.0;
            for (int j = 0; j < WIDTHS; j++)
                factor[d] += of[d][j] = r->share[d][j] > 0.0
                                            ? r->share[d][j]
                                                  * kernel(r->of->factor[d], r->centre + k * r->columns + at, x + at,
                                                           r->width[j])
                                            : 0.0;
            all *= factor[d];
        }
        sum += all / r->centres;
        for (int d = 0; d < r->factors; d++)
            for (int j = 0; j < WIDTHS; j++)
                taken[d][j] += all / r->centres * of[d][j] / factor[d];
    }
    for (int d = 0; d < r->factors; d++)
        for (int j = 0; j < WIDTHS; j++)
            taken[d][j] /= sum;
    return WIDE_SHARE + (1.0 - WIDE_SHARE) * sum;
}

static void rule_draw(const rule *r, double *x)
{
    const bool wide = uniform() < WIDE_SHARE;
    const double *c = r->centre + (int)(uniform() * r->centres) * r->columns;
    for (int d = 0, at = 0; d < r->factors; at += r->of->factor[d] == 'c' ? 1 : 3, d++) {
        double left = uniform();
        int j = 0;
        if (wide) {
            anywhere(r->of->factor[d], x + at);
            continue;
        }
        while (j + 1 < WIDTHS && left >= r->share[d][j])
            left -= r->share[d][j++];
        kernel_draw(r->of->factor[d], c + at, r->width[j], x + at);
    }
}

typedef struct sum {
    double log_mean, se;
} sum;

/* log of the mean of exp logs, and its relative error. */
static sum sum_of(const double *logs, int n)
{
    double top = -INFINITY, mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++)
        top = fmax(top, logs[i]);
    for (int i = 0; i < n; i++)
        mean += exp(logs[i] - top) / n;
    for (int i = 0; i < n; i++)
        square += pow(exp(logs[i] - top) - mean, 2.0) / n;
    return (sum){ top + log(mean), sqrt(square / n) / mean };
}

/* The widths by what they contributed, and half of the centres to where the weights are. */
static void rule_learn(rule *r, const double *x, const double *logs, const double *taken, int n)
{
    double top = -INFINITY, all = 0.0, *weight = take((size_t)n, sizeof *weight);
    for (int i = 0; i < n; i++)
        top = fmax(top, logs[i]);
    for (int i = 0; i < n; i++)
        all += weight[i] = exp(logs[i] - top);
    for (int d = 0; d < r->factors; d++)
        for (int j = 0; j < WIDTHS; j++) {
            double share = 0.0;
            for (int i = 0; i < n; i++)
                share += weight[i] / all * taken[(i * MOST_FACTORS + d) * WIDTHS + j];
            r->share[d][j] = 0.8 * share + 0.2 / WIDTHS; /* no width is ever given up */
        }
    for (int k = 0; k < r->centres / 2; k++) {
        double left = uniform() * all;
        int i = 0;
        while (i + 1 < n && left >= weight[i])
            left -= weight[i++];
        memcpy(r->centre + k * r->columns, x + i * r->columns, (size_t)r->columns * sizeof *x);
    }
    free(weight);
}

/* Fills points from .. n - 1. */
static npmd_status rule_values(const rule *r, const npmd_model *m, double volume, int from, int n, double *x,
                               double *logs, double *taken, npmd_error *err)
{
    for (int i = from; i < n; i++)
        rule_draw(r, x + i * r->columns);
    const npmd_status st = npmd_log_density(m, x + from * r->columns, (size_t)(n - from), logs + from, err);
    for (int i = from; st == NPMD_OK && i < n; i++) {
        double parts[MOST_FACTORS][WIDTHS];
        logs[i] += log(volume) - log(rule_density(r, x + i * r->columns, parts));
        if (taken != NULL)
            memcpy(taken + i * MOST_FACTORS * WIDTHS, parts, sizeof parts);
    }
    return st;
}

static npmd_status integral_of(const npmd_model *m, const space *s, const double *data, int n, sum *out,
                               npmd_error *err)
{
    rule r = { .of = s, .factors = space_factors(s), .columns = space_columns(s), .centres = CENTRES };
    const double volume = npmd_domain_volume(npmd_model_domain(m));
    double *x = take((size_t)MOST_POINTS * (size_t)r.columns, sizeof *x), *logs = take(MOST_POINTS, sizeof *logs),
           *taken = take((size_t)POINTS * MOST_FACTORS * WIDTHS, sizeof *taken);
    npmd_status st = NPMD_OK;
    r.centre = take((size_t)CENTRES * (size_t)r.columns, sizeof *r.centre);
    for (int k = 0; k < r.centres; k++) { /* the last row, which may lie far off, and others at random */
        const int row = k == 0 ? n - 1 : (int)(uniform() * n);
        memcpy(r.centre + k * r.columns, data + row * r.columns, (size_t)r.columns * sizeof *x);
    }
    for (int j = 0; j < WIDTHS; j++) {
        r.width[j] = 0.7 * pow(0.3, j);
        for (int d = 0; d < r.factors; d++)
            r.share[d][j] = 1.0 / WIDTHS;
    }
    for (int round = 0; st == NPMD_OK && round < ROUNDS; round++) {
        st = rule_values(&r, m, volume, 0, POINTS, x, logs, taken, err);
        if (st == NPMD_OK)
            rule_learn(&r, x, logs, taken, POINTS);
    }
    for (int from = 0, to = LAST; st == NPMD_OK && to <= MOST_POINTS; from = to, to *= 2) {
        st = rule_values(&r, m, volume, from, to, x, logs, NULL, err);
        *out = sum_of(logs, to);
        if (out->se < WITHIN / FOUR)
            break;
    }
    free(x);
    free(logs);
    free(taken);
    free(r.centre);
    return st;
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

enum verdict { RIGHT, UNKNOWN, UNCLEAR, WRONG, VERDICTS };
static const char *const VERDICT[] = { "one", "exit 4", "unclear", "WRONG" };

/* unclear: the sum here does not know it, and can accuse nobody */
static enum verdict judge(double stated, const sum *s)
{
    const double error = fabs(s->log_mean), slack = FOUR * hypot(stated, s->se);
    if (!(s->se <= 0.02))
        return UNCLEAR;
    if (!(error <= slack) || !(error <= WITHIN + slack))
        return WRONG;
    return RIGHT;
}

static enum verdict run_case(int index)
{
    const way *w = &WAYS[index % WAYS_COUNT];
    const int k = index / WAYS_COUNT % KINDS_COUNT;
    const space *s = &SPACES[index / WAYS_COUNT / KINDS_COUNT % SPACES_COUNT];
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    npmd_fit_facts facts = { .size = sizeof facts };
    sum found = { 0 };
    enum verdict v = WRONG;
    state = 1000003u * (uint64_t)(index + 1);
    const int n = 80 + (int)(uniform() * 120);
    double *x = data_make(s, k, n);
    const clock_t started = clock();
    npmd_status st = way_fit(w, s, x, n, &m, &err);
    if (st == NPMD_ERR_NUMERIC)
        v = UNKNOWN;
    if (st == NPMD_OK)
        st = npmd_model_facts(m, &facts, &err);
    if (st == NPMD_OK)
        st = integral_of(m, s, x, n, &found, &err);
    if (st == NPMD_OK)
        v = judge(facts.log_integral_se, &found);
    printf("%4d %5.1f s  %-8s %-13s %-13s %4d points  %-8s", index, (double)(clock() - started) / CLOCKS_PER_SEC,
           s->text, KINDS[k], w->name, n, VERDICT[v]);
    if (st == NPMD_OK)
        printf(" log integral %9.6f +- %.1e, stated error %.1e\n", found.log_mean, found.se, facts.log_integral_se);
    else
        printf(" %.100s\n", err.text);
    fflush(stdout);
    npmd_model_free(m);
    free(x);
    return v;
}

static bool affordable(int index)
{
    const way *w = &WAYS[index % WAYS_COUNT];
    int dimension = 0;
    for (const char *f = SPACES[index / WAYS_COUNT / KINDS_COUNT % SPACES_COUNT].factor; *f != '\0'; f++)
        dimension += *f == 'c' ? 1 : 2;
    return w->least_dimension <= dimension && dimension <= w->most_dimension;
}

/* One of every kind of data, every estimator and most domains, of those that take little time. */
static const int QUICK[] = { 37, 44, 51, 66, 100, 149, 156, 163, 233, 236, 242, 268 };

int main(int argc, char **argv)
{
    const bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    const int all = quick ? (int)(sizeof QUICK / sizeof *QUICK) : WAYS_COUNT * KINDS_COUNT * SPACES_COUNT,
              first = !quick && argc > 1 ? atoi(argv[1]) : 0, count = !quick && argc > 2 ? atoi(argv[2]) : all,
              stride = !quick && argc > 3 ? atoi(argv[3]) : 1;
    int of[VERDICTS] = { 0 }, done = 0;
    for (int i = first; i < all && done < count && stride > 0; i += stride)
        if (quick || affordable(i)) {
            of[run_case(quick ? QUICK[i] : i)]++;
            done++;
        }
    printf("%d cases: %d integrate to one, %d ended with exit 4, %d unclear, %d wrong\n", done, of[RIGHT], of[UNKNOWN],
           of[UNCLEAR], of[WRONG]);
    return of[WRONG] > 0 || done == 0 ? 1 : 0;
}
