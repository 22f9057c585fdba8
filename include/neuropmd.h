/* neuropmd.h - fit, evaluate and score densities on products of manifolds.
 *
 *   log f(x) = v(x) - log Z,   v kept smooth by   tau * mean over the domain of (Laplacian v)^2
 *
 * A domain is a product of circles (S1), spheres (S2) and closed triangulated surfaces (mesh:FILE). A point is a row
 * of doubles: one angle in radians for each S1, one unit vector (three columns) for each S2, a position x y z for each
 * surface, whose closest point is meant, in the order of the domain. Densities are with respect to Riemannian volume; a
 * relative density is with respect to the uniform probability measure (= volume x density). A surface is in the user's
 * units; inside it is scaled to the area of the unit sphere, so that tau means the same there.
 *
 * A fallible function returns NPMD_OK (zero) or an error, and writes its outputs only on NPMD_OK; of a long
 * array that it was to fill, some rows may have been. The library prints nothing, keeps no global state and
 * installs no signal handler. Domains, points, truths and models are immutable once made and may be shared
 * between threads. Every free accepts NULL. */
#ifndef NEUROPMD_H
#define NEUROPMD_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define NPMD_API __declspec(dllexport)
#else
#define NPMD_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors: a value and a sentence -------------------------------------------------------------------- */

typedef enum npmd_status {
    NPMD_OK = 0,
    NPMD_ERR_ARGUMENT, /* a value lies outside its documented range                                      */
    NPMD_ERR_SHAPE,    /* sizes disagree with each other or with the domain                               */
    NPMD_ERR_FORMAT,   /* a file was read but makes no sense; the text gives row or byte                  */
    NPMD_ERR_NUMERIC,  /* the fit collapsed or stopped being finite                                       */
    NPMD_ERR_FILE,     /* a file cannot be opened, read or written                                        */
    NPMD_ERR_DEVICE,   /* the device is absent or failing                                                 */
    NPMD_ERR_MEMORY,   /* not enough memory                                                               */
    NPMD_STOPPED       /* the caller asked to stop: of a fit its checkpoint holds all, there is no model  */
} npmd_status;

typedef struct npmd_error {
    npmd_status status;
    char text[512]; /* what was found, where, what was expected, how to go on */
} npmd_error;       /* pass NULL to ignore */

NPMD_API const char *npmd_status_text(npmd_status st);
NPMD_API const char *npmd_version(void);

/* What this build holds, as one JSON object: version, compiler, kernels chosen on this machine, backends. */
NPMD_API npmd_status npmd_build_describe(char **json, npmd_error *err);

/* ---- Domains ------------------------------------------------------------------------------------------- */

#define NPMD_MAX_FACTORS 16

typedef struct npmd_domain npmd_domain;

NPMD_API npmd_status npmd_domain_parse(const char *text, npmd_domain **out,
                                       npmd_error *err); /* "S1^4", "S2 x S2" */
/* Told now and then how many systems of equations were solved for eigenfunctions of a surface, and about how many it will
 * take. Nonzero: stop, NPMD_STOPPED. */
typedef int (*npmd_eigen_progress)(int64_t solved, int64_t expected, void *user);
/* How eigenfunctions of surfaces are made; {0} is the default. */
typedef struct npmd_surface_options {
    int elements;      /* 1 linear (also 0), 2 quadratic */
    int max_frequency; /* (f + 1)^2 eigenpairs are computed; 0: 15, less on meshes of few vertices */
    const int
        *frequency; /* (frequencies), instead: one a factor, of which those of surfaces count; NULL: none */
    int frequencies;
    const char *cache;            /* a folder that keeps eigenpairs; NULL: none */
    npmd_eigen_progress progress; /* may be NULL */
    void *user;
} npmd_surface_options;
NPMD_API npmd_status npmd_domain_parse_with(const char *text, const npmd_surface_options *opt,
                                            npmd_domain **out, npmd_error *err);
/* The same domain for points that lie up to this far (INFINITY: any distance) from their surface; of itself a domain takes
 * those within a thousandth of the square root of the area. */
NPMD_API npmd_status npmd_domain_within(const npmd_domain *dom, double max_distance, npmd_domain **out,
                                        npmd_error *err);
NPMD_API void npmd_domain_free(npmd_domain *dom);
NPMD_API const char *npmd_domain_text(
    const npmd_domain *dom); /* the canonical spelling, "S1^4"; of a surface mesh: and its hash */
NPMD_API int npmd_domain_factors(const npmd_domain *dom);
NPMD_API int npmd_domain_columns(const npmd_domain *dom);   /* numbers in a point */
NPMD_API int npmd_domain_dimension(const npmd_domain *dom); /* tangent directions */
NPMD_API double npmd_domain_volume(const npmd_domain *dom);

/* Map u in [0,1)^dimension to a uniformly distributed point: n rows of u to n rows of x. */
NPMD_API npmd_status npmd_domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x,
                                         npmd_error *err);

/* Some factors of a domain, as bits: factor 1 is bit 0. "1,3" is 5. */
NPMD_API npmd_status npmd_factors_parse(const char *text, const npmd_domain *dom, unsigned *factors,
                                        npmd_error *err);
NPMD_API npmd_status npmd_domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out,
                                      npmd_error *err); /* their product, in the order of the domain */

/* ---- Points -------------------------------------------------------------------------------------------- */

typedef struct npmd_points npmd_points; /* checked rows of a domain, with optional weights */

/* How a file writes its points. */
typedef enum npmd_coords {
    NPMD_COORDS_DEFAULT = 0, /* radians; unit vectors                               */
    NPMD_COORDS_LATLON = 1,  /* S2 factors as latitude, longitude in degrees        */
    NPMD_COORDS_DEGREES = 2  /* S1 factors in degrees (a bit, may be or-ed with 1)  */
} npmd_coords;

NPMD_API npmd_status npmd_coords_parse(const char *text, unsigned *out, npmd_error *err);
NPMD_API npmd_status npmd_points_read(const char *path, const npmd_domain *dom, unsigned coords,
                                      npmd_points **out, npmd_error *err);
NPMD_API npmd_status npmd_points_from(const double *x, size_t n, const npmd_domain *dom, npmd_points **out,
                                      npmd_error *err); /* copies */
/* One point, from the columns that a file would have in these coordinates. */
NPMD_API npmd_status npmd_points_from_row(const double *row, size_t columns, const npmd_domain *dom,
                                          unsigned coords, npmd_points **out, npmd_error *err);
/* n points, rows of so many columns, as a file would have them in these coordinates: copied, or left where they are
 * (double, or float if float32 is 1; of a surface they are copied) until npmd_points_free, and not to be changed till then. */
NPMD_API npmd_status npmd_points_from_rows(const double *rows, size_t n, size_t columns,
                                           const npmd_domain *dom, unsigned coords, npmd_points **out,
                                           npmd_error *err);
NPMD_API npmd_status npmd_points_borrow(const void *rows, int float32, size_t n, size_t columns,
                                        const npmd_domain *dom, unsigned coords, npmd_points **out,
                                        npmd_error *err);
/* Weights from a file, or from n numbers, which are copied. */
NPMD_API npmd_status npmd_points_weigh(npmd_points *pts, const char *weights_path, npmd_error *err);
NPMD_API npmd_status npmd_points_weigh_by(npmd_points *pts, const double *weight, size_t n, npmd_error *err);
NPMD_API size_t npmd_points_count(const npmd_points *pts);
NPMD_API size_t
npmd_points_bytes(const npmd_points *pts); /* of memory; what stays in a mapped file takes none */
NPMD_API void npmd_points_row(const npmd_points *pts, size_t i,
                              double *x); /* one row, in canonical form (of a surface: on it) */
/* All rows in these coordinates: npmd_points_columns of them each. */
NPMD_API npmd_status npmd_points_rows(const npmd_points *pts, unsigned coords, double *rows, npmd_error *err);
NPMD_API int npmd_points_columns(const npmd_domain *dom, unsigned coords);
NPMD_API void npmd_points_free(npmd_points *pts);

/* ---- Options ------------------------------------------------------------------------------------------- */

typedef enum npmd_estimator {
    NPMD_FIELD,
    NPMD_SERIES,
    NPMD_KDE,
    NPMD_PSNF,
    NPMD_RELU,
    NPMD_STACK,
    NPMD_UNIFORM
} npmd_estimator;
typedef enum npmd_combine { NPMD_COMBINE_LOG, NPMD_COMBINE_MIXTURE } npmd_combine;
typedef enum npmd_solver { NPMD_NEWTON, NPMD_STOCHASTIC } npmd_solver;
typedef enum npmd_rule { NPMD_RULE_LEAST_SQUARES, NPMD_RULE_LIKELIHOOD, NPMD_RULE_ISE } npmd_rule;
typedef enum npmd_bandwidth {
    NPMD_BANDWIDTH_FIXED,
    NPMD_BANDWIDTH_ADAPTIVE,
    NPMD_BANDWIDTH_MIXTURE
} npmd_bandwidth;
typedef enum npmd_criterion { NPMD_CRITERION_ISE, NPMD_CRITERION_LIKELIHOOD } npmd_criterion;
typedef enum npmd_law { NPMD_LAW_POWER, NPMD_LAW_UNIFORM, NPMD_LAW_RIDGE } npmd_law;
typedef enum npmd_scale { NPMD_SCALE_UNIT, NPMD_SCALE_ORTHONORMAL, NPMD_SCALE_NONE } npmd_scale;
typedef enum npmd_skip_start { NPMD_SKIP_STEP, NPMD_SKIP_CONVEX, NPMD_SKIP_ZERO } npmd_skip_start;
typedef enum npmd_penalty { NPMD_PENALTY_LAPLACIAN, NPMD_PENALTY_GRADIENT, NPMD_PENALTY_NONE } npmd_penalty;
typedef enum npmd_integral {
    NPMD_INTEGRAL_AUTO,
    NPMD_INTEGRAL_IMPORTANCE,
    NPMD_INTEGRAL_UNIFORM
} npmd_integral;
typedef enum npmd_sequence { NPMD_SEQUENCE_SOBOL, NPMD_SEQUENCE_INDEPENDENT } npmd_sequence;
typedef enum npmd_optimiser { NPMD_ADAM, NPMD_SGD } npmd_optimiser;
typedef enum npmd_schedule {
    NPMD_SCHEDULE_COSINE,
    NPMD_SCHEDULE_FIXED,
    NPMD_SCHEDULE_TRIANGULAR,
    NPMD_SCHEDULE_TRIANGULAR2
} npmd_schedule;

typedef enum npmd_stop { NPMD_STOP_NONE, NPMD_STOP_ISE, NPMD_STOP_SNR } npmd_stop;

typedef struct npmd_report { /* what a fit tells while it runs; NaN: not computed at this step */
    int64_t step, steps;
    int attempt;         /* 1, or more after a restart; 0: a short fit that helps to choose tau */
    int member, members; /* of an ensemble, from 1; 0: there is none */
    const char *part;    /* of a stack: its name; NULL: there is none */
    int logged;          /* 1 at every log_every-th step and the last; 0 between, called for a sign of life */
    double epoch, seconds, rate;
    double data, integral, penalty,
        objective; /* -mean v; mean exp v; mean (Lap v)^2; their sum, tau times the last */
    double log_integral, nise, ae;
    double ise, ise_se; /* the ISE criterion on held-out points, relative to the uniform measure; its error */
    double snr_a, snr_b, snr_c; /* of the gradients of the data, the integral and the penalty */
} npmd_report;
/* Called at every logged step, and some times a second between. Nonzero: stop here, keep the model. */
typedef int (*npmd_progress)(const npmd_report *now, void *user);

typedef struct npmd_truth npmd_truth;

#define NPMD_MAX_PATH 1024
#define NPMD_OPTION_WORDS 2

typedef struct npmd_options { /* start from npmd_options_init; a size of 0 is chosen from n and the domain */
    int estimator;            /* npmd_estimator */
    double tau;               /* weight of the penalty's mean over the domain; negative: chosen */
    int64_t steps, epochs;    /* epochs (of n / batch steps) rules when positive */
    int64_t batch, q1, q2;
    int optimiser, schedule;
    double rate, rate_min;
    int64_t warmup, cycle; /* steps; half-cycle of the triangular schedules */
    int layer_rates;       /* 1: layers of many inputs move at a smaller rate */
    double clip;           /* a gradient longer than clip x its running length is shortened; 0: never */
    double omega;
    int width, depth; /* depth counts affine layers, the linear output among them */
    int features;
    int max_frequency[NPMD_MAX_FACTORS]; /* frequency on S1, degree on S2; one for all, or one a factor */
    int max_frequencies;                 /* how many are given */
    int spectrum_law;
    double spectrum_decay; /* s of (1 + lambda)^-s; 0: dimension / 2 + 1 */
    double spectrum_ridge; /* eps of the ridge law; 0: such that r_max = features / 2 */
    int separable;         /* 1 products, 0 plane waves (tori) or rotated products, 2 by the domain */
    int signs;             /* plane waves: 1 frequency vectors of Z^D modulo sign, 0 positive ones only */
    int constant;          /* 1: the constant function may be drawn */
    int scale;             /* npmd_scale */
    int skip_start;        /* npmd_skip_start */
    int start;             /* 0: first layer sqrt(3/K)/omega; 1: the authors' 1/K */
    int penalty;
    int skip;
    int integral, sequence;
    double uniform_share; /* importance: share of uniform points */
    int centres;          /* importance: kernels in a step's proposal */
    double accuracy;      /* standard error wanted of the log integral after training */
    double proposal_rho;  /* importance: width of its Cauchy kernels, 0 wide .. 1 narrow; 0: by likelihood */
    int solver;           /* series: npmd_solver */
    double holdout;       /* share of the points that is held out to choose by; 0: by the estimator */
    int64_t patience;     /* early stopping: looks without improvement; 0: by the estimator */
    int stop;             /* field: npmd_stop, what ends the fit before its steps are done */
    int snr;              /* field: 1: reports hold the signal-to-noise ratios of the gradients */
    int criterion;        /* npmd_criterion: what held-out points choose tau by */
    double kappa[NPMD_MAX_FACTORS]; /* kde: concentration, one for all or one a factor; 0: chosen */
    int kappas;                     /* how many are given */
    int concentration;              /* kde: 0 one for all factors, 1 one a factor */
    int concentration_rule;         /* kde: npmd_rule */
    int bandwidth;                  /* kde: npmd_bandwidth */
    int neighbours;                 /* kde, adaptive: the k-th nearest point sets the width; 0: chosen */
    int members;   /* fits that differ in their seed; 0: one, 16 with bootstrap, 4 in a stack */
    int combine;   /* npmd_combine, of members */
    int bootstrap; /* 1: members from the second on see resampled points */
    int folds;     /* stack: shares held out in turn */
    int unordered; /* 1: a point is a pair without an order, f(x, y) = f(y, x); the domain has two equal factors */
    uint64_t seed;
    int threads;                    /* 0: all cores; never changes the answer */
    char device[32];                /* "cpu", "cuda", "cuda:1", "reference" */
    int precision;                  /* cuda: 0 fast products (TF32), 1 exact ones */
    char preset[32];                /* what was asked for */
    char checkpoint[NPMD_MAX_PATH]; /* where the state of a fit is kept while it runs; "": nowhere */
    char
        resume[NPMD_MAX_PATH]; /* a checkpoint to go on from; also kept there, unless checkpoint says where */
    int convex_gap;            /* 1 after the fit, 0 not, 2 where it takes little time */
    char start_from[NPMD_MAX_PATH];    /* a model whose weights the fit starts from; "": from random ones */
    char encoding_from[NPMD_MAX_PATH]; /* a field whose encoding is used; "": it is drawn */
    uint64_t
        given[NPMD_OPTION_WORDS]; /* which were set by name, one bit a row of the table; not by a preset */
    double checkpoint_every;      /* seconds; the first comes after one at the latest */
    int64_t log_every;            /* steps between reports */
    npmd_progress progress;
    void *user;
    const npmd_truth *truth;     /* reports hold nise and ae against it */
    const npmd_points *held_out; /* not fitted to: reports hold the ISE criterion on them */
} npmd_options;

NPMD_API void npmd_options_init(npmd_options *opt);
/* By its name in the program: "max-frequency", "10"; "preset" sets many at once and is best set first. */
NPMD_API npmd_status npmd_options_set(npmd_options *opt, const char *name, const char *value,
                                      npmd_error *err);
NPMD_API npmd_status npmd_options_read(npmd_options *opt, const char *json_path, npmd_error *err);
/* For bindings that are blind to the struct. */
NPMD_API npmd_options *npmd_options_new(void);
NPMD_API void npmd_options_watch(npmd_options *opt, npmd_progress progress, void *user);
NPMD_API void npmd_options_free(npmd_options *opt);

typedef struct npmd_option_text { /* one row of the option table, for --help, man page and bindings */
    const char *name, *values, *fallback, *help, *group;
    unsigned estimators; /* bits 1 << npmd_estimator: those that it may mean something to */
} npmd_option_text;
NPMD_API int npmd_option_count(void);
NPMD_API npmd_option_text npmd_option_describe(int i);

/* ---- Fitting and what a model tells -------------------------------------------------------------------- */

typedef struct npmd_model npmd_model;

typedef struct npmd_fit_facts {
    size_t n;
    double tau;
    uint64_t seed;
    int64_t steps;
    double seconds, objective, log_integral, log_integral_se;
    double convex_optimum, convex_gap, convex_gap_accuracy; /* of a field, nats; NaN: not known */
    int restarts, members, interrupted;
    int stopped; /* npmd_stop: the rule that ended a field's fit before its steps were done; 0: none did */
    int64_t kept_step;            /* whose weights the field has, where a rule chose; 0: the last step's */
    int64_t resumed;              /* steps that a checkpoint had done already, in its attempt; 0: none */
    char checkpoint_failure[256]; /* why the last checkpoint could not be written; "": it was */
    size_t working_bytes;         /* what the fit takes, stated before it starts */
} npmd_fit_facts;

/* The sizes a fit would use: options with every 0 replaced; and the memory it will take. */
NPMD_API npmd_status npmd_options_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n,
                                          npmd_options *out, size_t *working_bytes, npmd_error *err);
NPMD_API npmd_status npmd_fit(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt,
                              npmd_model **out, npmd_error *err);
NPMD_API npmd_status npmd_save(const npmd_model *m, const char *path, npmd_error *err);
NPMD_API npmd_status npmd_load(const char *path, npmd_model **out, npmd_error *err);
/* The bytes of its file, without a file; npmd_text_free frees them. */
NPMD_API npmd_status npmd_model_pack(const npmd_model *m, char **bytes, size_t *size, npmd_error *err);
NPMD_API npmd_status npmd_model_unpack(const char *bytes, size_t size, npmd_model **out, npmd_error *err);
NPMD_API void npmd_model_free(npmd_model *m);

NPMD_API const npmd_domain *npmd_model_domain(const npmd_model *m);
NPMD_API npmd_fit_facts npmd_model_facts(const npmd_model *m);
NPMD_API int npmd_model_warnings(const npmd_model *m);
NPMD_API const char *npmd_model_warning(const npmd_model *m, int i);
NPMD_API npmd_status npmd_model_describe(const npmd_model *m, char **json,
                                         npmd_error *err); /* all options and choices */

typedef struct npmd_part { /* of a stack or an ensemble */
    const char *name;      /* "field", "series", "kde adaptive" */
    int members;
    double weight;
    double held_out_nll, held_out_nll_se; /* of a stack's part; NaN: not known */
} npmd_part;
NPMD_API int npmd_model_parts(const npmd_model *m); /* 0: it is made of one piece */
NPMD_API npmd_part npmd_model_part(const npmd_model *m, int i);

/* What a choice was made by: fits to a part of the points, compared on the points that were held out. */
typedef struct npmd_choice_row {
    int stage; /* 1, 2, ...: what was kept of one went on to the next; the last is the one that decided */
    int64_t steps;
    double tau;                       /* NaN: the estimator has none, or chose by itself */
    double criterion, criterion_se;   /* the smaller, the better */
    double difference, difference_se; /* to the best of its stage and settings, compared point by point */
    int kept;
    char settings[128]; /* other options that were varied, "max-frequency=5 separable=on" */
} npmd_choice_row;
typedef struct npmd_choice {
    int criterion;              /* npmd_criterion */
    size_t training, held_out;  /* points */
    int rows;                   /* 0: nothing was chosen */
    const npmd_choice_row *row; /* the model's */
} npmd_choice;
NPMD_API npmd_choice npmd_model_choice(const npmd_model *m);
/* A fit whose settings are chosen first: over holds lists "option=v1:v2:v3", and every combination of them is compared on
 * held-out points, each with its own tau where the options leave it open. The better half goes on to longer fits; the
 * best is fitted to all points. */
NPMD_API npmd_status npmd_select(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt,
                                 const char *const *over, int lists, npmd_model **out, npmd_error *err);

typedef enum npmd_what {
    NPMD_LOG_DENSITY, /* log f, per volume                                                        */
    NPMD_DENSITY,     /* f, per volume                                                            */
    NPMD_RELATIVE,    /* f x volume                                                               */
    NPMD_INTENSITY,   /* n f, or the sum of the weights times f                                   */
    NPMD_GRADIENT,    /* of log f, a tangent vector in the point's own columns: columns a point   */
    NPMD_LAPLACIAN,   /* of log f; on a product of surfaces and others, of surfaces scaled to area 4 pi */
    NPMD_SPREAD       /* standard deviation of log f over the members                             */
} npmd_what;
typedef struct npmd_compute { /* where to compute; {0} is this machine's cores */
    int threads;
    char device[32];
} npmd_compute;

NPMD_API npmd_status npmd_what_parse(const char *text, npmd_what *out, npmd_error *err);
NPMD_API npmd_status npmd_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what,
                                      const npmd_compute *how, double *out, npmd_error *err);
/* The same into a file, piece by piece: memory does not grow with the number of points. */
NPMD_API npmd_status npmd_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what,
                                      const npmd_compute *how, const char *path, npmd_error *err);
NPMD_API npmd_status npmd_log_density(const npmd_model *m, const double *x, size_t n, double *out,
                                      npmd_error *err);

typedef struct npmd_sample_facts {
    uint64_t proposed; /* points, of which acceptance were kept under the last envelope */
    double acceptance;
    int raised; /* times the envelope was raised, and all was drawn again */
} npmd_sample_facts;
/* n independent draws, rows of x, by rejection or, from kernels, directly; facts may be NULL. */
NPMD_API npmd_status npmd_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how,
                                 double *x, npmd_sample_facts *facts, npmd_error *err);

/* n independent draws for each row of at, points of the product of the given factors: n x rows whole points. */
NPMD_API npmd_status npmd_sample_given(const npmd_model *m, unsigned given, const npmd_points *at,
                                       uint64_t seed, size_t n, const npmd_compute *how, double *x,
                                       npmd_sample_facts *facts, npmd_error *err);

/* The marginal density of some factors at points of their product: the integral of f over the others, by
 * quadrature where they have one or two dimensions, else by randomised quasi-Monte Carlo. Densities are per volume
 * of the product of these factors. log_se (n, or NULL): standard error of the log, which is brought below accuracy
 * (0: 1e-3) where that is possible. Not for gradients and Laplacians. */
NPMD_API npmd_status npmd_marginal_at(const npmd_model *m, unsigned factors, const npmd_points *pts,
                                      npmd_what what, double accuracy, uint64_t seed, const npmd_compute *how,
                                      double *out, double *log_se, npmd_error *err);
/* The conditional density of the other factors given these, at whole points. */
NPMD_API npmd_status npmd_conditional_at(const npmd_model *m, unsigned given, const npmd_points *pts,
                                         npmd_what what, double accuracy, uint64_t seed,
                                         const npmd_compute *how, double *out, double *log_se,
                                         npmd_error *err);

typedef struct npmd_probability {
    double share;           /* of the volume: what the uniform density gives */
    double probability, se; /* and the error of the integral */
    double low, high; /* within 1.96 spreads of the members, in the log of the odds; NaN: there are none */
    int members;      /* that the spread is of */
} npmd_probability;
/* Of all points whose every factor lies within radius (one a factor, radians; pi: anywhere) of centre's. */
NPMD_API npmd_status npmd_probability_near(const npmd_model *m, const npmd_points *centre,
                                           const double *radius, double accuracy, uint64_t seed,
                                           const npmd_compute *how, npmd_probability *out, npmd_error *err);

typedef struct npmd_score {
    size_t n;
    /* of the stored normalised density, computed afresh: 0 is right; of kernels in closed form, hence 0 without error */
    double log_integral, log_integral_se;
    double nll, nll_se; /* mean of -log f, nats, per volume */
    double ise_criterion, ise_criterion_se, ise_criterion_relative;
    double training_rows; /* about how many of the rows the model was fitted to or chosen by; NaN: unknown */
} npmd_score;
NPMD_API npmd_status npmd_score_points(const npmd_model *m, const npmd_points *pts, uint64_t seed,
                                       const npmd_compute *how, npmd_score *out, npmd_error *err);

/* ---- Known densities ----------------------------------------------------------------------------------- */

/* kind "wrapped normal mixture" (tori) or "von Mises-Fisher mixture" (any product of S1 and S2), or an .npy
 * grid on a torus. */
NPMD_API npmd_status npmd_truth_read(const char *path, npmd_truth **out, npmd_error *err);
/* The paper's recipe (section S5.1), "t2" or "t4", with random orthogonal matrices from the seed;
 * "t2-authors" is the mixture behind the paper's T2 table. */
NPMD_API npmd_status npmd_truth_make(const char *recipe, uint64_t seed, npmd_truth **out, npmd_error *err);
NPMD_API npmd_status npmd_truth_write(const npmd_truth *t, const char *path, npmd_error *err);
NPMD_API const npmd_domain *npmd_truth_domain(const npmd_truth *t);
/* How many threads draws, entropy and comparison take; 0: all cores, as at first. Never changes the answer. */
NPMD_API void npmd_truth_threads(npmd_truth *t, int threads);
NPMD_API npmd_status npmd_truth_sample(const npmd_truth *t, uint64_t seed, size_t n, double *x,
                                       npmd_error *err);
NPMD_API npmd_status npmd_truth_log_density(const npmd_truth *t, const double *x, size_t n, double *out,
                                            npmd_error *err);
NPMD_API npmd_status npmd_truth_entropy(const npmd_truth *t, uint64_t seed, double *entropy, double *se,
                                        npmd_error *err);
NPMD_API void npmd_truth_free(npmd_truth *t);

typedef enum npmd_grid {
    NPMD_GRID_FINE,   /* exact normalisation: half-open grid in one and two dimensions on tori, else
                         quasi-random points */
    NPMD_GRID_AUTHORS /* T2: linspace(0, 2 pi, 100)^2, both densities divided by their node means  */
} npmd_grid;
typedef struct npmd_comparison { /* the *_se are NaN where a grid was used */
    double nise, ae, fr, fr2, kl, nise_undivided;
    double nise_se, ae_se, fr_se, fr2_se, kl_se;
    size_t points;
} npmd_comparison;
NPMD_API npmd_status npmd_compare(const npmd_model *m, const npmd_truth *t, npmd_grid grid, size_t points,
                                  uint64_t seed, const npmd_compute *how, npmd_comparison *out,
                                  npmd_error *err);

/* ---- Surfaces: closed triangle meshes, and regions of their vertices -------------------------------------- */

typedef struct npmd_surface npmd_surface; /* immutable */

/* Reads .obj .off .ply .vtk .gii (each also with .gz) or FreeSurfer's binary surfaces, and checks that it is one closed,
 * connected, consistently oriented surface of triangles: else NPMD_ERR_FORMAT says what is wrong and where. */
NPMD_API npmd_status npmd_surface_read(const char *path, npmd_surface **out, npmd_error *err);
NPMD_API void npmd_surface_free(npmd_surface *s);
NPMD_API size_t npmd_surface_vertices(const npmd_surface *s);
NPMD_API size_t npmd_surface_faces(const npmd_surface *s);
NPMD_API double npmd_surface_area(const npmd_surface *s); /* in the file's units, squared */
/* Of vertex i (face i) below their number; corners count from 0. */
NPMD_API void npmd_surface_vertex(const npmd_surface *s, size_t i, double x[3]);
NPMD_API void npmd_surface_face(const npmd_surface *s, size_t i, int32_t corner[3]);
/* A third of the area of the faces about each vertex: area (vertices). */
NPMD_API void npmd_surface_vertex_areas(const npmd_surface *s, double *area);
/* With columns of numbers on the vertices: values[c] (vertices) under names[c]. .vtk (with all digits), .gii or .gii.gz
 * (float32); .shape.gii and .func.gii hold the values alone, .surf.gii the surface alone. */
NPMD_API npmd_status npmd_surface_write(const npmd_surface *s, const char *path, const char *const *names,
                                        const double *const *values, int count, npmd_error *err);

/* Of n unit vectors x (n, 3), points of the sphere that the surface is registered to (the same faces, about the origin): the
 * log of area on the unit sphere per area of the surface there. Added to a log density on S2 it makes the log density of the
 * same points on the surface, per area of the surface. NaN where the sphere's faces leave a hole, as folded ones may. */
NPMD_API npmd_status npmd_surface_log_area(const npmd_surface *s, const npmd_surface *sphere, const double *x,
                                           size_t n, double *out, npmd_error *err);

/* Is it a surface, by its suffix or by FreeSurfer's first bytes? 1 or 0. */
NPMD_API int npmd_surface_is_file(const char *path);
/* What a file holds, as one JSON object: vertices, faces, area, hash, whether it is the closed surface that
 * npmd_surface_read wants, its genus, and else what is wrong. */
NPMD_API npmd_status npmd_surface_describe(const char *path, char **json, npmd_error *err);

/* Laplace-Beltrami eigenpairs by finite elements, linear (elements 1) or quadratic (2) on the flat faces, with consistent
 * mass: lambda (pairs) rises from 0, per area of the surface's units; phi (vertices, pairs) are the functions on the
 * vertices, orthonormal as functions, of which the first is constant and the largest entry of each positive. residual
 * (pairs, or NULL): |K phi - lambda M phi| / max(lambda, lambda_1), with |r|^2 = sum_i r_i^2 / M_ii. progress may be
 * NULL. NPMD_ERR_DEVICE in a build without ARPACK, SuperLU and METIS. One solve at a time; where BLAS is OpenBLAS it is
 * held to one thread meanwhile, in the whole process, and has as many as before afterwards. METIS seeds rand() and handles
 * SIGABRT and SIGTERM for a moment; all are then as before. Until then other threads should block SIGTERM, and leave rand()
 * alone, or the last digits move. */
NPMD_API npmd_status npmd_surface_eigen(const npmd_surface *s, int elements, int pairs,
                                        npmd_eigen_progress progress, void *user, double *lambda, double *phi,
                                        double *residual, npmd_error *err);

typedef struct npmd_labels npmd_labels; /* immutable */

/* .annot .label .gii .csv .tsv .txt (each also with .gz) or .npy, for the vertices of this surface. */
NPMD_API npmd_status npmd_labels_read(const char *path, const npmd_surface *s, npmd_labels **out,
                                      npmd_error *err);
NPMD_API void npmd_labels_free(npmd_labels *l);
NPMD_API int npmd_labels_regions(const npmd_labels *l);
NPMD_API const char *npmd_labels_name(const npmd_labels *l, int region);
NPMD_API int npmd_labels_find(const npmd_labels *l, const char *name);   /* -1: there is none */
NPMD_API int npmd_labels_region_of(const npmd_labels *l, size_t vertex); /* -1: it lies in none */

/* ---- Regions: a density on two surfaces, integrated over parts of them ------------------------------------- */

/* The factors of the model are two surfaces, S2 or mesh:FILE each. Nodes are the vertices of a triangle mesh: on S2 those
 * of a sphere about the origin, of any radius; on a surface those of the very mesh that the model has. A vertex stands for
 * a third of each face about it (on S2 of the spherical triangle), and a region for its vertices. */
typedef struct npmd_atlas { /* of one factor */
    const npmd_surface *surface;
    const npmd_labels *labels; /* of its vertices; NULL: none */
} npmd_atlas;
typedef struct npmd_region_request {
    npmd_atlas factor[2];
    npmd_compute how;
    /* Some times a second, with the share that is done; nonzero: stop, NPMD_STOPPED. May be NULL. */
    int (*progress)(double done, void *user);
    void *user;
} npmd_region_request;

/* Regions are those of the labels; vertices without one are a region of their own, "unknown", which comes last unless the
 * labels have one of that name. */
NPMD_API int npmd_region_count(const npmd_labels *l);
NPMD_API const char *npmd_region_name(const npmd_labels *l, int region);
NPMD_API int npmd_region_find(const npmd_labels *l, const char *name); /* -1: there is none */
NPMD_API size_t npmd_region_vertices(const npmd_labels *l, int region);

typedef enum npmd_region_what { /* areas are the user's: on S2 those of the unit sphere */
                                NPMD_REGION_LOG_DENSITY,
                                NPMD_REGION_DENSITY, /* per area                                                               */
                                NPMD_REGION_RELATIVE, /* density x area of the surface                                          */
                                NPMD_REGION_INTENSITY, /* expected counts per area: n, or the sum of the weights, x density      */
                                NPMD_REGION_PROBABILITY, /* density x area of the vertex                                           */
                                NPMD_REGION_COUNTS /* expected counts of the vertex                                          */
} npmd_region_what;
NPMD_API npmd_status npmd_region_what_parse(const char *text, npmd_region_what *out, npmd_error *err);

typedef struct npmd_region_facts {
    double share;        /* of a map's region in the area of its surface */
    double probability;  /* that x lies in the region; of a matrix: the sum of all entries, 1 is right */
    double within;       /* of a matrix: both ends in regions of one name */
    double sum_error;    /* of a matrix: how far the sum may be from that of the density, and that from 1 */
    size_t compared;     /* vertices at which the integral was taken by another rule as well: */
    double error_median; /* relative differences of a map there, or of a matrix's rows and columns */
    double error_largest;
} npmd_region_facts;

/* f_E(y) = integral over x in E of f(x, y) dx at every vertex y of the other factor; E is the union of these regions of
 * factor (1 or 2). out (vertices of the other surface); facts may be NULL. The other rule takes the centroid of every
 * third of a face in place of its corner. */
NPMD_API npmd_status npmd_region_map(const npmd_model *m, const npmd_region_request *at, int factor,
                                     const int *region, int regions, npmd_region_what what, double *out,
                                     npmd_region_facts *facts, npmd_error *err);
/* out (regions of factor 1, regions of factor 2): the integral of f over both, as a probability or as expected counts.
 * Not normalised: the sum shows the error of the nodes. */
NPMD_API npmd_status npmd_region_matrix(const npmd_model *m, const npmd_region_request *at,
                                        npmd_region_what what, double *out, npmd_region_facts *facts,
                                        npmd_error *err);
/* .csv: with the names of the regions in the first row and column; .npy: the numbers alone. */
NPMD_API npmd_status npmd_region_matrix_write(const npmd_region_request *at, const double *matrix,
                                              const char *path, npmd_error *err);
/* One row a vertex of factor 1, one column a vertex of factor 2, into a file piece by piece. */
NPMD_API npmd_status npmd_region_dense(const npmd_model *m, const npmd_region_request *at,
                                       npmd_region_what what, const char *path, npmd_error *err);
NPMD_API size_t npmd_region_bytes(const npmd_region_request *at); /* of memory that either takes */

/* ---- Files and pictures -------------------------------------------------------------------------------- */

NPMD_API npmd_status npmd_array_write(const char *path, const double *a, size_t rows, size_t cols,
                                      npmd_error *err);
NPMD_API npmd_status npmd_points_write(const char *path, const npmd_domain *dom, unsigned coords,
                                       const double *x, size_t n, npmd_error *err);
/* Fails now, with the reason, if path could not be written at the end of a long computation. */
NPMD_API npmd_status npmd_output_check(const char *path, npmd_error *err);
/* The same for arrays and points, whose suffix says the format. */
NPMD_API npmd_status npmd_array_check(const char *path, npmd_error *err);
/* The same for values on a surface, as npmd_surface_write takes them. */
NPMD_API npmd_status npmd_surface_check(const char *path, npmd_error *err);
/* Text, as it is, under a temporary name that is renamed when all is written, as every other output. */
NPMD_API npmd_status npmd_text_write(const char *path, const char *text, npmd_error *err);

/* ---- Figures ------------------------------------------------------------------------------------------- */

typedef enum npmd_plot_what {
    NPMD_PLOT_DENSITY,  /* per volume of what is shown                                  */
    NPMD_PLOT_RELATIVE, /* relative to the uniform density                              */
    NPMD_PLOT_SPREAD    /* standard deviation of log f over the members of an ensemble  */
} npmd_plot_what;

/* Of figures of surfaces: {0}, then what applies. Names of files unless said otherwise. */
typedef struct npmd_plot_surfaces {
    const char *surface; /* the surface that is drawn; of tracts that they end at */
    const char *sphere;  /* the one it is registered to; NULL: none */
    const char *values;  /* on the vertices, .gii .vtk .csv .npy; or a matrix of regions */
    const char
        *column; /* of the values or of the maps: its name, or its number from 1; NULL: the first, all */
    const char *labels, *region; /* a region for every vertex, and the name of the one that is outlined */
    const char *points;          /* x y z, drawn on the values */
    const char *views;           /* "lateral,medial" or axes, "+x,-z"; NULL: chosen */
    const char *hemisphere, *up; /* "left" or "right"; the axis that points up, "x", "y" or "z" (also NULL) */
    const char *const *folder;   /* (folders): results of reproduce connectivity */
    int folders;
    const char *const
        *tracks;     /* (track_files): streamlines, with affine, transform, space and max_distance as in */
    int track_files; /* npmd_endpoints_request */
    const char *affine, *transform, *space;
    double max_distance;
    int most;           /* streamlines drawn; 0: 1,500 */
    const char *domain; /* whose eigenfunctions are drawn: "S1^2", "S2", "mesh:FILE" */
    double eigenvalue;  /* of S1^2 and S2; 0: 20 */
    int function;       /* of a mesh: the first of four; 0: 9 */
    int linear;         /* 1: colours of a matrix on a linear scale */
} npmd_plot_surfaces;

typedef struct npmd_plot_request {  /* {0}, then what applies */
    const npmd_model *const *model; /* (models), on one domain: side by side with one range of colours */
    const char *const *name;        /* (models): their titles; NULL: by their estimators */
    int models;
    const char *const
        *file; /* (files), instead of models: logs of fits or results of reproduce, JSON lines */
    int files;
    const npmd_truth *truth; /* a known density, drawn first; NULL: none */
    const npmd_points *data; /* drawn as points; NULL: none */
    const char *kind;        /* by the name of npmd_plot_kind; NULL: by what is given */
    const char *title;       /* over the whole; NULL: none */
    npmd_plot_what what;
    int log_scale;         /* 1: of colours or heights */
    const double *level;   /* (levels): contours that enclose so many per cent of the probability */
    int levels;            /* 0: 50, 90 and 99, with data none; negative: none */
    unsigned factors;      /* bits: which are shown where a figure shows some; 0: all */
    unsigned given;        /* bits: the conditional density given these */
    const npmd_points *at; /* at the first of these points, of the product of the given factors */
    const double *range;   /* (ranges, 2): ends of the colours, or of heights; one row of maps for each */
    int ranges;            /* 0: chosen */
    unsigned coords;       /* npmd_coords: NPMD_COORDS_DEGREES labels circles in degrees */
    int grid;              /* nodes along a side; 0: chosen */
    double width_mm, dpi;  /* 0: 85 or 180 by the number of panels; 300 */
    npmd_compute how;
    uint64_t seed;                      /* of draws, where a marginal is made of them */
    const npmd_plot_surfaces *surfaces; /* NULL: none of that */
    /* Some times a second, with the share that is done; nonzero: stop, NPMD_STOPPED. May be NULL. */
    int (*progress)(double done, void *user);
    void *user;
} npmd_plot_request;

typedef struct npmd_plot_facts {
    char kind[32];
    int panels;
    double low, high; /* range of the colours, or of the heights (of the first row); NaN: there is none */
    double width_mm, height_mm; /* of the picture */
    double mass_error; /* largest |integral - 1| of the densities drawn, by their own nodes; NaN: none */
    size_t data;       /* points drawn */
} npmd_plot_facts;

/* One figure as .png or .svg, by the suffix of the path; facts may be NULL. */
NPMD_API npmd_status npmd_plot(const npmd_plot_request *what, const char *path, npmd_plot_facts *facts,
                               npmd_error *err);
/* The figures there are: the name of the i-th, NULL after the last; help may be NULL. */
NPMD_API const char *npmd_plot_kind(int i, const char **help);
/* Does the file hold JSON lines, which go to npmd_plot as they are? 1 or 0. */
NPMD_API int npmd_plot_is_lines(const char *path);
NPMD_API npmd_status npmd_plot_what_parse(const char *text, npmd_plot_what *out, npmd_error *err);

/* ---- An interactive page --------------------------------------------------------------------------------- */

typedef struct npmd_view_request { /* {0}, then what applies */
    const char *title;             /* NULL: the domain and the number of points */
    const char *name[2];           /* what the factors shown are called; NULL: their kind */
    unsigned factors;              /* one or two, as bits; 0: the first two. The others are integrated out */
    size_t nodes;                  /* on each of them, at most; 0: by the domain; a million is the most */
    unsigned coords;               /* npmd_coords: how places are read out */
    const npmd_points *data;       /* shown as points; NULL: none */
    size_t most_points;            /* of them, chosen at random; 0: 5,000 */
    const npmd_surface *surface[2],
        *sphere[2];  /* of a factor shown that is S2: it is drawn on this surface, by the
                                                   registered sphere of the same faces; NULL: a globe */
    double accuracy; /* of integrals, see npmd_marginal_at */
    uint64_t seed;
    npmd_compute how;
    /* Some times a second, with the share that is done; nonzero: stop, NPMD_STOPPED. May be NULL. */
    int (*progress)(double done, void *user);
    void *user;
} npmd_view_request;
typedef struct npmd_view_facts {
    int factors, factor[2]; /* shown, and which, from 1 */
    size_t nodes[2];
    size_t points, points_shown;
    double level_error; /* relative, of every density on the page: it is kept in steps of its log */
    double mass;        /* the integral by the nodes: 1 is right */
    double
        sum_error; /* of marginal densities by the nodes: the largest relative difference to the integral, */
    size_t compared; /* at so many nodes; 0: none, of a model of one factor or of more than two */
    size_t bytes;    /* of the file, 8 million at most */
} npmd_view_facts;
/* One HTML file that needs no server and no network: the density on one or two factors, to turn, click and compare;
 * see docs/view.md. what and facts may be NULL. NPMD_ERR_DEVICE in a build without three.js. */
NPMD_API npmd_status npmd_view(const npmd_model *m, const npmd_view_request *what, const char *path,
                               npmd_view_facts *facts, npmd_error *err);

/* ---- Streamlines --------------------------------------------------------------------------------------- */

/* Which hemispheres a streamline joins. Of LR the left end comes first, whichever way it runs. */
typedef enum npmd_pair { NPMD_PAIR_LL, NPMD_PAIR_RR, NPMD_PAIR_LR, NPMD_PAIRS } npmd_pair;
typedef enum npmd_drop {                   /* why a streamline is left out; the first that holds */
                         NPMD_DROP_POINTS, /* it has fewer than two points                              */
                         NPMD_DROP_WEIGHT, /* its weight is zero                                        */
                         NPMD_DROP_BOTH,   /* both ends are too far from the surface                    */
                         NPMD_DROP_START,  /* its start alone is                                        */
                         NPMD_DROP_END,    /* its end alone is                                          */
                         NPMD_DROP_PAIR,   /* it joins other hemispheres than were asked for            */
                         NPMD_DROPS
} npmd_drop;

typedef struct npmd_endpoints_request { /* {0}, then what applies */
    const char *const *tracks;          /* (files): .trk, .tck, and .gz of these */
    const char *const *weights; /* (files): one number a streamline, as SIFT2 writes them; NULL: none */
    int files;
    const char *surface[2]; /* left and right, or the only one and NULL */
    const char
        *sphere[2]; /* registered to fsaverage, with the surface's faces; NULL: ends stay on the surface */
    double max_distance; /* of an end from the surface, mm; 0: 5 */
    unsigned pairs;      /* bits 1 << npmd_pair; 0: all that the surfaces allow */
    const char
        *affine; /* 4 x 4, from voxels to RAS mm, in the place of a .trk header's; NULL: the header's */
    const char *transform; /* 4 x 4, from the streamlines' RAS mm to the surface's; NULL: they are the same */
    const char *space;     /* instead of transform: "mni152", to surfaces in MNI305, as fsaverage's; NULL */
    int threads;
} npmd_endpoints_request;

typedef struct npmd_endpoints {
    size_t streamlines, dropped[NPMD_DROPS];
    size_t count[NPMD_PAIRS];   /* kept */
    double *x[NPMD_PAIRS];      /* (count, 6): start and end, unit vectors or mm; NULL where count is 0 */
    double *weight[NPMD_PAIRS]; /* (count); NULL where there are none */
    size_t turned;              /* of LR: ran from right to left */
    double distance_median, distance_max; /* of the ends kept, mm; NaN: there are none */
} npmd_endpoints;
NPMD_API npmd_status npmd_endpoints_find(const npmd_endpoints_request *what, npmd_endpoints *out,
                                         npmd_error *err);
NPMD_API void npmd_endpoints_free(npmd_endpoints *e); /* what it holds, not e itself */

/* ---- Speed of this machine ----------------------------------------------------------------------------- */

typedef struct npmd_bench_request { /* {0}: kernels, steps and evaluation, in about a minute */
    npmd_compute how;               /* threads; the device is cpu */
    int quick;                      /* 1: everything small and seldom repeated: a look in a few seconds */
    int full;                       /* 1: S2 x S2 at its full size, a density of 10^7 points */
    int scaling;                    /* 1: also how a step grows with every size */
    const char *only;               /* one part, kernel, variant or size; NULL: all */
    const char *folder;             /* for temporary files; NULL: no density from file to file */
    /* Before each measurement, and between its repeats (next is then NULL); nonzero: stop. May be NULL. */
    int (*progress)(const char *next, void *user);
    void *user;
} npmd_bench_request;
/* Verifies kernels, steps and evaluation (NPMD_ERR_NUMERIC says what is wrong), then times them: one JSON object,
 * described in docs/performance.md. */
NPMD_API npmd_status npmd_bench(const npmd_bench_request *what, char **json, npmd_error *err);
/* The same as tables of at most 100 columns. */
NPMD_API npmd_status npmd_bench_words(const char *json, char **text, npmd_error *err);

NPMD_API void npmd_text_free(char *text); /* for strings the library allocated */

/* ---- For bindings: how the structs of this header lie in memory -------------------------------------------- */

/* One row a field, struct by struct in the order of its fields; before them one for the struct itself, whose name is ""
 * and whose size is the whole. So a language that has no C compiler reads structs without a copy of this header. */
typedef struct npmd_field_text {
    const char *of, *name; /* "npmd_report", "step" */
    const char *
        type; /* int, unsigned, double, chars (an array), text (const char *), other, struct, or the name of one */
    size_t offset, size; /* bytes */
} npmd_field_text;
NPMD_API int npmd_field_count(void);
NPMD_API npmd_field_text npmd_field_describe(int i);

#ifdef __cplusplus
}
#endif
#endif
