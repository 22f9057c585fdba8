/* spectrum.h - what the files of the encoding share; no other file includes it.
 *
 * spectrum.c knows the alternatives on each factor and lists small products; power_law.c draws from large ones; draw.c
 * draws without replacement, ridge.c with; rotate.c combines the drawn products. */
#ifndef NPMD_SPECTRUM_H
#define NPMD_SPECTRUM_H

#include "encoding.h"

#define MOST_ATTEMPTS 20000000

typedef enum encoding_key { KEY_DRAW, KEY_ROTATION, KEY_RIDGE } encoding_key; /* used as the step of a random key */

typedef struct spectrum { /* the alternatives on each factor */
    int factors;
    int choices[NPMD_MAX_FACTORS];
    int *number[NPMD_MAX_FACTORS];    /* eigenfunction number, or signed frequency */
    double *lambda[NPMD_MAX_FACTORS]; /* in increasing order */
    bool waves;                       /* frequency vectors modulo sign */
    bool signs, constant;
} spectrum;

npmd_status spectrum_open(const npmd_domain *dom, const settings *opt, spectrum *s, npmd_error *err);
void spectrum_free(spectrum *s);
/* Number of members of the product, before the zero vector or the constant is left out and signs are identified. */
double spectrum_raw(const spectrum *s);
double spectrum_members(const spectrum *s); /* the same number afterwards */
bool spectrum_listed(const spectrum *s);    /* few enough to be listed */
/* May this member be drawn? Makes the first non-zero entry of a wave vector positive. */
bool spectrum_accept(const spectrum *s, int *function);
/* Raw member i; false if it must not be drawn, or is in the list with the other sign. */
bool spectrum_member(const spectrum *s, size_t i, int *function, double *lambda);

/* ---- power_law.c: a power of the eigenvalue as a mixture of laws that factorise ---------------------------------- */

#define POWER_LAW_NODES 768

typedef struct power_law {
    int nodes;
    bool no_zero; /* the member with number 0 on every factor is not drawn */
    double t[POWER_LAW_NODES], cumulative[POWER_LAW_NODES];
    double log_total[POWER_LAW_NODES];                       /* log of the sum over all members of e^(-t lambda) */
    double total[POWER_LAW_NODES][NPMD_MAX_FACTORS];         /* sum_i e^(-t lambda_i) on each factor */
    double tail[POWER_LAW_NODES][NPMD_MAX_FACTORS];          /* the same without i = 0 */
    double some_left[POWER_LAW_NODES][NPMD_MAX_FACTORS + 1]; /* probability that factors d, d + 1, ... are not all 0 */
} power_law;

void power_law_open(const spectrum *s, bool power, power_law *mix); /* power false: the uniform law */
/* Sets the law (shift + lambda)^-decay; returns the log of its sum over all raw members except the one left out. */
double power_law_aim(power_law *mix, double decay, double shift);
/* Draws function (factors); returns its eigenvalue. */
double power_law_draw(const power_law *mix, const spectrum *s, rng_key key, uint64_t attempt, int *function);

/* ---- draw.c: members by the law of the options, one after another ------------------------------------------------ */

typedef struct drawing {
    const spectrum *spectrum;
    rng_key key;
    size_t *order; /* listed product: its members in the order in which they are drawn; else NULL */
    size_t members, next;
    power_law *mix; /* product that is not listed */
    uint64_t attempt, most_attempts;
} drawing;

npmd_status drawing_open(const spectrum *s, const settings *opt, drawing *out, npmd_error *err);
void drawing_close(drawing *d);
/* The next draw; of a product that is not listed, possibly one drawn before. False: all are drawn, or most_attempts are
 * used up. */
bool drawing_next(drawing *d, int *function);

/* A set of rows (factors) of an array that the caller owns. */
typedef struct member_set {
    int factors;
    size_t slots;
    int *slot; /* open addressing: 1 + row, or 0 */
} member_set;
npmd_status member_set_open(int factors, size_t most, member_set *out, npmd_error *err);
void member_set_close(member_set *set);
/* adds a row; returns the equal row already in the set, or row itself */
int member_set_add(member_set *set, const int *rows, int row);

/* ---- rotate.c ---------------------------------------------------------------------------------------------------- */

/* The encoding whose features are random combinations of the drawn products (features, factors) and of companions found
 * by further draws. */
npmd_status encoding_rotate(const npmd_domain *dom, const settings *opt, const int *drawn, drawing *more, encoding *out,
                            npmd_error *err);

/* ---- ridge.c: the law of the shallow-network theorem, with replacement ------------------------------------------- */

typedef struct ridge_law {
    const spectrum *spectrum;
    double decay, log_eps;  /* s; log eps */
    double r_max, r_max_se; /* sum over all features of the product of S / (S + eps), and its standard error */
    size_t *member;         /* listed product: (members) */
    double *cumulative;     /* (members): running sums of S / (S + eps) */
    size_t members;
    power_law *envelope; /* other products: e^log_height (shift + lambda)^-s >= S / (S + eps) */
    double shift, log_height;
} ridge_law;

/* listed: from the list of all members; else by rejection, with r_max estimated from draws with this key. */
npmd_status ridge_open(const spectrum *s, bool listed, double decay, double eps, rng_key key, ridge_law *out,
                       npmd_error *err);
void ridge_close(ridge_law *law);
npmd_status ridge_draw(const ridge_law *law, rng_key key, int want, int *function, npmd_error *err);
/* The eps for which r_max = target, which must be less than the number of features of the product. */
npmd_status ridge_choose(const spectrum *s, bool listed, double decay, double target, rng_key key, double *eps,
                         npmd_error *err);

#endif
