/* plan.h - the options of a fit: settings, the table that describes them, and their usual values.
 *
 * Settings are the values of all options that shape an answer, and where it is computed. A request may leave some open; a
 * plan (model.h) has them complete. What only watches a fit is in fit_watch. Each option is a row of option_rows.c. */
#ifndef NPMD_PLAN_H
#define NPMD_PLAN_H

#include "points.h"

/* ---- Choices, in the order of their names in option_rows.c ------------------------------------------------------- */

typedef enum fit_kind {
    FIT_FIELD,
    FIT_SERIES,
    FIT_KDE,
    FIT_PSNF,
    FIT_RELU,
    FIT_STACK,
    FIT_UNIFORM,
    FIT_AUTO,
    FIT_KINDS
} fit_kind;
typedef enum combine_rule { COMBINE_LOG, COMBINE_MIXTURE } combine_rule;
typedef enum series_solver { SOLVER_NEWTON, SOLVER_STOCHASTIC } series_solver;
typedef enum kernel_rule { RULE_LEAST_SQUARES, RULE_LIKELIHOOD, RULE_ISE } kernel_rule;
typedef enum kernel_width { BANDWIDTH_FIXED, BANDWIDTH_ADAPTIVE, BANDWIDTH_MIXTURE } kernel_width;
typedef enum tie_rule { TIES_APART, TIES_TOGETHER } tie_rule;
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
typedef enum base_kind { BASE_NONE, BASE_AUTO, BASE_UNIFORM, BASE_KDE, BASE_SERIES, BASE_MODEL } base_kind;
typedef enum stop_rule { STOP_NONE, STOP_ISE, STOP_SNR } stop_rule;

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

#define PLAN_MAX_PATH 1024
#define PLAN_MAX_NAME 32
#define PLAN_GIVEN_WORDS 2

typedef struct encoding_settings {
    int from;     /* encoding_features: the coordinates alone, or drawn eigenfunctions */
    int features; /* K */
    /* frequency on S1, degree on S2; one for each factor, or a single one for all */
    int max_frequency[NPMD_MAX_FACTORS];
    int max_frequencies; /* number of values given */
    int law;             /* spectrum_law */
    double decay;        /* s of (1 + lambda)^-s */
    double ridge;        /* eps of the ridge law */
    int separable;       /* 1: products, 0: plane waves (tori) or rotated products, 2: chosen by the domain */
    int signs;           /* plane waves: 1: frequency vectors of Z^D modulo sign, 0: positive entries only */
    int constant;        /* 1: the constant function may be drawn */
    int scale;           /* feature_scale */
} encoding_settings;

typedef struct network_settings {
    int width, depth; /* depth counts affine layers, including the output */
    double omega;
    int skip;
    int skip_start; /* the enum skip_start */
    int start;      /* 0: first layer sqrt(3/K)/omega; 1: the authors' 1/K */
} network_settings;

typedef struct descent_settings {
    int64_t steps, epochs; /* a positive number of epochs (of n / batch steps) overrides steps */
    int64_t batch, q1, q2;
    int batch_share; /* positive: a batch is n / batch_share points; 0: batch is used */
    int optimiser;   /* optimiser_kind */
    int schedule;    /* rate_schedule */
    double rate, rate_min;
    int64_t warmup, cycle; /* in steps; cycle is half a cycle of the triangular schedules */
    int layer_rates;       /* 1: layers with many inputs have a smaller rate */
    double clip;           /* a gradient longer than clip x its running length is shortened; 0: never */
    int integral;          /* integral_points */
    int sequence;          /* point_sequence */
    double uniform_share;  /* importance: share of uniform points */
    int centres;           /* importance: kernels in a step's proposal */
    double proposal_rho;   /* importance: width of its Cauchy kernels, 0 wide .. 1 narrow; 0: by likelihood */
    double accuracy;       /* target for the standard error of the log integral */
    int convex_gap;        /* 1: computed after the fit, 0: not, 2: where it is fast */
    int stop;              /* stop_rule: ends the fit before its steps are done */
    int judged;            /* early stopping: 1: by points that the caller holds out, 0: by a share of the points */
    int64_t patience;      /* early stopping: looks without improvement */
    int snr;               /* 1: reports have the signal-to-noise ratios of the gradients; does not change the answer */
} descent_settings;

typedef struct kernel_settings {
    double kappa[NPMD_MAX_FACTORS]; /* concentration: one for each factor, or a single one for all; 0: chosen */
    int kappas;                     /* number of values given */
    int concentration;              /* 0: one for all factors, 1: one for each */
    int rule;                       /* kernel_rule: the criterion for a fixed concentration */
    int bandwidth;                  /* kernel_width */
    int neighbours;                 /* adaptive: the k-th nearest point sets the width; 0: chosen */
} kernel_settings;

typedef struct machine_settings {
    int threads;                /* 0: all cores; never changes the answer */
    char device[PLAN_MAX_NAME]; /* "cpu", "cuda", "cuda:1", "reference" */
    int precision;              /* cuda: 0: fast products (TF32), 1: exact products */
} machine_settings;

typedef struct settings {
    int estimator; /* fit_kind */
    double tau;    /* weight of the penalty's mean over the domain; negative: chosen */
    int penalty;   /* penalty_kind */
    uint64_t seed;
    double holdout; /* share of the points held out for choices */
    int ties;       /* tie_rule: equal points are held out each for itself, or together */
    int criterion;  /* choice_criterion: for the choice of tau on held-out points */
    int members;    /* fits that differ in their seed */
    int combine;    /* combine_rule for members */
    int bootstrap;  /* 1: members from the second on see resampled points */
    int folds;      /* shares held out in turn; 0: by the number of points */
    int rivals;     /* 1: series and kernels are judged on the same held-out points as a field */
    int stack_by;   /* choice_criterion: for the weights of a stack */
    int unordered;  /* 1: points are unordered pairs, f(x, y) = f(y, x) */
    int solver;     /* series_solver */
    int base;       /* base_kind: the density that a field changes */
    int alone;      /* 1: held-out points like the base alone best, v = 0 */
    int of_blend;   /* 1: a part of a blend, which hears its rivals itself */
    encoding_settings encoding;
    network_settings network;
    descent_settings descent;
    kernel_settings kernels;
    machine_settings machine;
    char preset[PLAN_MAX_NAME];       /* name of the preset that was asked for */
    uint64_t given[PLAN_GIVEN_WORDS]; /* a bit for each row of the table: set by name, not by a preset */
} settings;

/* Observers of a fit, and checkpoints. Only points held out for early stopping shape the answer. All is borrowed. */
typedef struct fit_watch {
    npmd_progress progress; /* may be NULL */
    void *user;
    int64_t log_every;              /* steps between reports; 0: 200 reports */
    const npmd_truth *truth;        /* reports have nise and ae against it */
    const npmd_points *held_out;    /* held out from the fit; reports have the ISE criterion on them */
    char checkpoint[PLAN_MAX_PATH]; /* file for the state of a running fit; "": none */
    char resume[PLAN_MAX_PATH]; /* a checkpoint to resume from; also written there, unless checkpoint names a file */
    double checkpoint_every;    /* seconds between two; the first is written after at most one second */
    struct kept_fits *kept;     /* model/kept.h: of the fit that needs this one; NULL: nothing is kept of it */
    int kept_as; /* its name there, from 1, which has a checkpoint of its own; 0: counted, and kept when it has ended */
} fit_watch;

struct npmd_options {
    settings set; /* comes first, so that rows of the table apply to settings and to options */
    fit_watch watch;
    char start_from[PLAN_MAX_PATH];    /* a model whose weights the fit starts from; "": random weights */
    char encoding_from[PLAN_MAX_PATH]; /* a field whose encoding is used; "": the encoding is drawn */
    char base[PLAN_MAX_PATH];          /* as asked for: a file, or the name of a base_kind */
};

int watch_tell(const fit_watch *w, const npmd_report *report); /* calls progress; nonzero: stop */
/* steps between reports of a fit with these settings */
int64_t watch_log_every(const fit_watch *w, const settings *set);

/* ---- option_rows.c: the table ------------------------------------------------------------------------------------ */

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

typedef struct usual_case { /* the arguments of a default */
    const settings *set;    /* known so far */
    const npmd_domain *domain;
    size_t n;
    int factor; /* factor of a list */
} usual_case;

typedef struct option_row {
    const char *name, *group;
    option_kind kind;
    size_t field;         /* offset in npmd_options */
    const char *fallback; /* default as a user writes it; with usual: the text that leaves it open */
    double (*usual)(const usual_case *where); /* value of an open option; NULL: it is never open */
    double least, most;
    const char *values;        /* CHOICE: for help, "off|on"; else NULL */
    const char *const *choice; /* CHOICE: names by number, then NULL */
    bool shapes_answer;        /* goes into the model file */
    unsigned readers;          /* who reads it: bits 1 << fit_kind, and the READER bits below */
    const char *help;
} option_row;

/* Readers that are an estimator with some other option. */
#define READER_SGD (1u << 31)    /* a series fitted by stochastic gradients */
#define READER_STOPS (1u << 30)  /* a field that stops early */
#define READER_HEAT (1u << 29)   /* kernels on surfaces */
#define READER_WIDTHS (1u << 28) /* kernels of several widths */

int option_count(void);
const option_row *option_at(int i);
const option_row *option_find(const char *name);      /* NULL: there is none */
const char *option_text(int i, int column);           /* as npmd_option_text */
unsigned option_estimators(const option_row *row);    /* bits 1 << fit_kind */
const char *const *preset_settings(const char *name); /* pairs of name and value, then NULL; NULL: no such preset */
const char *estimator_name(const settings *set);      /* as a user writes it */
int estimator_number(const char *name);               /* -1: there is none */
const char *settings_part_name(const settings *set);  /* name of a part of a stack: "field", "kde adaptive" */

/* ---- option_values.c: values from text and back ------------------------------------------------------------------ */

void options_init(npmd_options *opt);
npmd_status options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err);
/* The value of this option where it is left open; "": not known beforehand. */
npmd_status option_usual_text(const char *name, const settings *set, const npmd_domain *dom, size_t n, char *text,
                              size_t size, npmd_error *err);
/* The value as a user writes it, cut to size; returns its full length, 0: there is no such option. */
size_t options_get(const npmd_options *opt, const char *name, char *text, size_t size);
size_t option_print(const void *of, const option_row *row, char *text, size_t size); /* of: settings or options */
double options_number(const npmd_options *opt, const char *name); /* of a choice: 0, 1, ...; NaN: not a number */
struct json_t;
npmd_status options_from_json(npmd_options *opt, const struct json_t *object, const char *where, npmd_error *err);
/* Every setting that shapes the answer as "name": value pairs. */
npmd_status settings_to_json(const settings *set, struct json_t **out, npmd_error *err);
/* The options that were given but that nothing reads: names "width, depth"; returns their number. */
int settings_unused(const settings *set, const npmd_domain *dom, char *names, size_t size);
/* Takes over the encoding settings of another fit; an error if one that was given differs. */
npmd_status settings_take_encoding(settings *set, const settings *from, const char *path, npmd_error *err);
bool settings_given(const settings *set, const char *name);
const char *base_name(base_kind base);
int base_named(const char *text); /* base_kind; of no name: one that is given */

/* ---- usual.c: what is left open ---------------------------------------------------------------------------------- */

bool settings_blend(const settings *set); /* is it one of several estimators: a stack, auto? */
unsigned settings_readers(const settings *set, const npmd_domain *dom); /* who reads options, as bits */
/* Gives every open setting that one of these readers reads its usual value, in the order of the table. */
void settings_fill(settings *set, unsigned readers, const npmd_domain *dom, size_t n);
double settings_usual(const settings *set, const char *name, const npmd_domain *dom, size_t n); /* NaN: none */
/* Sets one frequency for each factor; open ones get their usual value, none is above the factor's highest. */
npmd_status settings_fill_frequencies(settings *set, const npmd_domain *dom, npmd_error *err);
double settings_accuracy(const npmd_domain *dom);   /* usual accuracy of the log integral of a smooth density */
int settings_wide_features(const npmd_domain *dom); /* features of a drawn encoding that misses little */
double settings_wide_decay(const npmd_domain *dom);

#endif
