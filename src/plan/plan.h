/* plan.h - what a fit is asked for: the settings, the table that describes each of them, and what they usually are.
 *
 * Settings are the values of all options that shape an answer, and where it is computed. They are asked for with some
 * of them open; a plan (model.h) has them complete. What only watches a fit (fit_watch) stands apart. Each option is
 * one row of one table (option_rows.c), with its default there as a function of the domain and the number of points. */
#ifndef NPMD_PLAN_H
#define NPMD_PLAN_H

#include "points.h"

/* ---- Choices, in the order of their names in option_rows.c ----------------------------------------------- */

typedef enum fit_kind {
    FIT_FIELD,
    FIT_SERIES,
    FIT_KDE,
    FIT_PSNF,
    FIT_RELU,
    FIT_STACK,
    FIT_UNIFORM,
    FIT_KINDS
} fit_kind;
typedef enum combine_rule { COMBINE_LOG, COMBINE_MIXTURE } combine_rule;
typedef enum series_solver { SOLVER_NEWTON, SOLVER_STOCHASTIC } series_solver;
typedef enum kernel_rule { RULE_LEAST_SQUARES, RULE_LIKELIHOOD, RULE_ISE } kernel_rule;
typedef enum kernel_width { BANDWIDTH_FIXED, BANDWIDTH_ADAPTIVE, BANDWIDTH_MIXTURE } kernel_width;
typedef enum choice_criterion { CRITERION_ISE, CRITERION_LIKELIHOOD } choice_criterion;
typedef enum encoding_features { FEATURES_DRAWN, FEATURES_COORDINATES, FEATURES_AUTO } encoding_features;
typedef enum spectrum_law { LAW_POWER, LAW_UNIFORM, LAW_RIDGE } spectrum_law;
typedef enum feature_scale { SCALE_UNIT, SCALE_ORTHONORMAL, SCALE_NONE } feature_scale;
typedef enum skip_start { SKIP_STEP, SKIP_CONVEX, SKIP_ZERO } skip_start;
typedef enum penalty_kind { PENALTY_LAPLACIAN, PENALTY_GRADIENT, PENALTY_NONE } penalty_kind;
typedef enum integral_points { INTEGRAL_AUTO, INTEGRAL_IMPORTANCE, INTEGRAL_UNIFORM } integral_points;
typedef enum point_sequence { SEQUENCE_SOBOL, SEQUENCE_INDEPENDENT } point_sequence;
typedef enum optimiser_kind { OPTIMISER_ADAM, OPTIMISER_SGD } optimiser_kind;
typedef enum rate_schedule { SCHEDULE_COSINE, SCHEDULE_FIXED, SCHEDULE_TRIANGULAR, SCHEDULE_TRIANGULAR2 } rate_schedule;
typedef enum stop_rule { STOP_NONE, STOP_ISE, STOP_SNR } stop_rule;

/* ---- Settings ------------------------------------------------------------------------------------------- */

#define PLAN_MAX_PATH 1024
#define PLAN_MAX_NAME 32
#define PLAN_GIVEN_WORDS 2

typedef struct encoding_settings {
    int from;                            /* encoding_features: the coordinates alone, or drawn eigenfunctions */
    int features;                        /* K */
    int max_frequency[NPMD_MAX_FACTORS]; /* frequency on S1, degree on S2; for each factor, or the first for all */
    int max_frequencies;                 /* how many are given */
    int law;                             /* spectrum_law */
    double decay;                        /* s of (1 + lambda)^-s */
    double ridge;                        /* eps of the ridge law */
    int separable;                       /* 1 products, 0 plane waves (tori) or rotated products, 2 by the domain */
    int signs;                           /* plane waves: 1 frequency vectors of Z^D modulo sign, 0 positive ones only */
    int constant;                        /* 1: the constant function may be drawn */
    int scale;                           /* feature_scale */
} encoding_settings;

typedef struct network_settings {
    int width, depth; /* depth counts affine layers, the linear output among them */
    double omega;
    int skip;
    int skip_start; /* skip_start */
    int start;      /* 0: first layer sqrt(3/K)/omega; 1: the authors' 1/K */
} network_settings;

typedef struct descent_settings {
    int64_t steps, epochs; /* epochs (of n / batch steps) rules when positive */
    int64_t batch, q1, q2;
    int batch_share; /* a batch is n / batch_share, once n is known; 0: as batch says */
    int optimiser;   /* optimiser_kind */
    int schedule;    /* rate_schedule */
    double rate, rate_min;
    int64_t warmup, cycle; /* steps; half-cycle of the triangular schedules */
    int layer_rates;       /* 1: layers of many inputs move at a smaller rate */
    double clip;           /* a gradient longer than clip x its running length is shortened; 0: never */
    int integral;          /* integral_points */
    int sequence;          /* point_sequence */
    double uniform_share;  /* importance: share of uniform points */
    int centres;           /* importance: kernels in a step's proposal */
    double proposal_rho;   /* importance: width of its Cauchy kernels, 0 wide .. 1 narrow; 0: by likelihood */
    double accuracy;       /* standard error wanted of the log integral after training */
    int convex_gap;        /* 1 after the fit, 0 not, 2 where it takes little time */
    int stop;              /* stop_rule: what ends the fit before its steps are done */
    int judged;            /* 1: by points that the caller holds out; 0: by a share of the points */
    int64_t patience;      /* early stopping: looks without improvement */
    int snr;               /* 1: reports hold the signal-to-noise ratios of the gradients; no part of the answer */
} descent_settings;

typedef struct kernel_settings {
    double kappa[NPMD_MAX_FACTORS]; /* concentration, for each factor or the first for all; 0: chosen */
    int kappas;                     /* how many are given */
    int concentration;              /* 0 one for all factors, 1 one for each */
    int rule;                       /* kernel_rule: what a fixed concentration is chosen by */
    int bandwidth;                  /* kernel_width */
    int neighbours;                 /* adaptive: the k-th nearest point sets the width; 0: chosen */
} kernel_settings;

typedef struct machine_settings {
    int threads;                /* 0: all cores; never changes the answer */
    char device[PLAN_MAX_NAME]; /* "cpu", "cuda", "cuda:1", "reference" */
    int precision;              /* cuda: 0 fast products (TF32), 1 exact ones */
} machine_settings;

typedef struct settings {
    int estimator; /* fit_kind */
    double tau;    /* weight of the penalty's mean over the domain; negative: chosen */
    int penalty;   /* penalty_kind */
    uint64_t seed;
    double holdout; /* share of the points that is held out to choose by */
    int criterion;  /* choice_criterion: what held-out points choose tau by */
    int members;    /* fits that differ in their seed */
    int combine;    /* combine_rule, of members */
    int bootstrap;  /* 1: members from the second on see resampled points */
    int folds;      /* stack: shares held out in turn */
    int unordered;  /* 1: a point is a pair without an order, f(x, y) = f(y, x) */
    int solver;     /* series_solver */
    encoding_settings encoding;
    network_settings network;
    descent_settings descent;
    kernel_settings kernels;
    machine_settings machine;
    char preset[PLAN_MAX_NAME];       /* what was asked for */
    uint64_t given[PLAN_GIVEN_WORDS]; /* which were set by name, one bit for each row of the table; not by a preset */
} settings;

/* What looks on while a fit runs, or keeps it for later. Nothing here shapes the answer, but for points held out by the
 * caller, by which early stopping judges. Whatever is pointed to is the caller's. */
typedef struct fit_watch {
    npmd_progress progress; /* may be NULL */
    void *user;
    int64_t log_every;              /* steps between reports; 0: 200 reports */
    const npmd_truth *truth;        /* reports hold nise and ae against it */
    const npmd_points *held_out;    /* not fitted to: reports hold the ISE criterion on them */
    char checkpoint[PLAN_MAX_PATH]; /* where the state of a fit is kept while it runs; "": nowhere */
    char resume[PLAN_MAX_PATH];     /* a checkpoint to go on from; also kept there, unless checkpoint says where */
    double checkpoint_every;        /* seconds; the first comes after one at the latest */
} fit_watch;

struct npmd_options {
    settings set; /* comes first: rows of the table find it in either struct */
    fit_watch watch;
    char start_from[PLAN_MAX_PATH];    /* a model whose weights the fit starts from; "": from random ones */
    char encoding_from[PLAN_MAX_PATH]; /* a field whose encoding is used; "": it is drawn */
};

/* Tells whoever watches; nonzero: stop. */
int watch_tell(const fit_watch *w, const npmd_report *report);
int64_t watch_log_every(const fit_watch *w, const settings *set); /* of a fit of so many steps */

/* ---- option_rows.c: the table ------------------------------------------------------------------------------ */

typedef enum option_kind {
    OPTION_INT,
    OPTION_COUNT,
    OPTION_BATCH,
    OPTION_REAL,
    OPTION_SEED,
    OPTION_CHOICE,
    OPTION_LIST,
    OPTION_REALS,
    OPTION_TEXT,
    OPTION_PATH
} option_kind;

typedef struct usual_case { /* what a default depends on */
    const settings *set;    /* as far as they are known */
    const npmd_domain *domain;
    size_t n;
    int factor; /* of a list */
} usual_case;

typedef struct option_row {
    const char *name, *group;
    option_kind kind;
    size_t field;                             /* offset in npmd_options */
    const char *fallback;                     /* as a user would write it; with usual: what leaves it open */
    double (*usual)(const usual_case *where); /* what an open one becomes; NULL: it is never open */
    double least, most;
    const char *values;        /* CHOICE: for people, "off|on"; else NULL */
    const char *const *choice; /* CHOICE: names in the order of their numbers, then NULL */
    bool shapes_answer;        /* goes into the model file */
    unsigned readers;          /* what it means something to: bits 1 << fit_kind, and those below */
    const char *help;
} option_row;

/* Readers that other options make of an estimator. */
#define PLAN_MOST_THREADS 4096
#define READER_SGD (1u << 31)    /* a series by stochastic gradients */
#define READER_STOPS (1u << 30)  /* a field that stops early */
#define READER_HEAT (1u << 29)   /* kernels on surfaces */
#define READER_WIDTHS (1u << 28) /* kernels of several widths */

int option_count(void);
const option_row *option_at(int i);
const option_row *option_find(const char *name);      /* NULL: there is none */
const char *option_text(int i, int column);           /* as npmd_option_text */
unsigned option_estimators(const option_row *row);    /* bits 1 << fit_kind */
const char *const *preset_settings(const char *name); /* pairs of name and value, then NULL; NULL: no such preset */
const char *estimator_name(const settings *set);      /* as a user says it */
int estimator_number(const char *name);               /* -1: there is none */
const char *settings_part_name(const settings *set);  /* of a part of a stack: "field", "kde adaptive" */

/* ---- option_values.c: values from text and back ------------------------------------------------------------ */

void options_init(npmd_options *opt);
npmd_status options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err);
/* What it becomes where it is left open; "": nothing that is known beforehand. */
npmd_status option_usual_text(const char *name, const settings *set, const npmd_domain *dom, size_t n, char *text,
                              size_t size, npmd_error *err);
/* The value as a user would write it, cut to size; its whole length. 0: there is no such option. */
size_t options_get(const npmd_options *opt, const char *name, char *text, size_t size);
size_t option_print(const void *of, const option_row *row, char *text, size_t size); /* of settings, or of options */
double options_number(const npmd_options *opt, const char *name); /* of a choice: 0, 1, ...; NaN: it is no number */
struct json_t;
npmd_status options_from_json(npmd_options *opt, const struct json_t *object, const char *where, npmd_error *err);
/* Every setting that shapes the answer as "name": value pairs. */
npmd_status settings_to_json(const settings *set, struct json_t **out, npmd_error *err);
/* The options that were given although nothing reads them here: "width, depth", and how many. */
int settings_unused(const settings *set, const npmd_domain *dom, char *names, size_t size);
/* The encoding becomes that of another fit; a setting of it that was given and differs is an error. */
npmd_status settings_take_encoding(settings *set, const settings *from, const char *path, npmd_error *err);
bool settings_given(const settings *set, const char *name);

/* ---- usual.c: what is left open ---------------------------------------------------------------------------- */

/* What reads the options of these settings on this domain, as bits. */
unsigned settings_readers(const settings *set, const npmd_domain *dom);
/* Gives every setting that is open and has a reader here its usual value, in the order of the table. */
void settings_fill(settings *set, unsigned readers, const npmd_domain *dom, size_t n);
double settings_usual(const settings *set, const char *name, const npmd_domain *dom, size_t n); /* NaN: it has none */
/* One frequency for each factor, those left open at their usual value, none above what the factor has. */
npmd_status settings_fill_frequencies(settings *set, const npmd_domain *dom, npmd_error *err);
double settings_accuracy(const npmd_domain *dom);   /* of the log integral of a smooth density */
int settings_wide_features(const npmd_domain *dom); /* of a drawn encoding that misses little */
double settings_wide_decay(const npmd_domain *dom);

#endif
