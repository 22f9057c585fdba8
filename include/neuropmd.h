/* neuropmd.h - fit, evaluate and score densities on products of manifolds.
 *
 *   log f(x) = v(x) - log Z,   v kept smooth by   tau * mean over the domain of (Laplacian v)^2
 *
 * A domain is a product of circles (S1), spheres (S2) and closed triangulated surfaces (mesh:FILE). A point is a row
 * of doubles: one angle in radians for each S1, one unit vector (three columns) for each S2, a position x y z for each
 * surface, of which the closest point is meant, in the order of the domain. Densities are with respect to Riemannian
 * volume; a relative density is with respect to the uniform probability measure (= volume x density). A surface is in
 * the user's units; inside it is scaled to the area of the unit sphere, so that tau means the same there.
 *
 * A function that can fail returns NPMD_OK (zero) or an error, and writes its outputs only on NPMD_OK; of a long
 * array that it was to fill, some rows may have been written. The library prints nothing, keeps no global state and
 * installs no signal handler. Domains, points, truths, models and plans do not change once they are made and may be
 * shared between threads.
 *
 * Who owns what: an object that a function writes to a pointer named `out` is the caller's, and is freed by the _free
 * of its kind, which accepts NULL. Arguments are borrowed for the time of the call, unless said otherwise. A returned
 * `const char *` belongs to the object that was asked, and lives as long as it does.
 *
 * Structs begin with their size, so that later versions can add fields behind the ones that are here: begin each with
 * NPMD_SIZED, as in  npmd_score score = NPMD_SIZED(npmd_score);  and set what applies. Everything in the first part of
 * this header keeps its meaning through all versions with this first number; what stands behind the line EXPERIMENTAL
 * may change with any version. */
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

#ifdef __cplusplus
#define NPMD_SIZED(type)                                                                                               \
    {                                                                                                                  \
        sizeof(type)                                                                                                   \
    }
#else
#define NPMD_SIZED(type)                                                                                               \
    {                                                                                                                  \
        .size = sizeof(type)                                                                                           \
    }
#endif

/* ---- Errors: a value and a sentence --------------------------------------------------------------------------- */

typedef enum npmd_status {
    NPMD_OK = 0,
    NPMD_ERR_ARGUMENT, /* a value lies outside its documented range */
    NPMD_ERR_SHAPE,    /* sizes disagree with each other or with the domain */
    NPMD_ERR_FORMAT,   /* a file was read but makes no sense; the text gives row or byte */
    NPMD_ERR_NUMERIC,  /* the fit collapsed, or a number is not finite */
    NPMD_ERR_FILE,     /* a file cannot be opened, read or written */
    NPMD_ERR_DEVICE,   /* the device is absent or failing */
    NPMD_ERR_MEMORY,   /* not enough memory */
    NPMD_STOPPED       /* the caller asked to stop; of a fit its checkpoint holds all, there is no model */
} npmd_status;

/* What was found, where, what was expected, how to go on. Names of options stand between back quotes, `max-frequency`,
 * so that a program or a binding can spell them its own way. This struct never grows; begin it with { 0 }, or pass NULL
 * for one to ignore it. */
typedef struct npmd_error {
    npmd_status status;
    char text[512];
} npmd_error;

NPMD_API const char *npmd_status_text(npmd_status st);
NPMD_API const char *npmd_version(void);
/* What this build holds, as one JSON object: version, compiler, kernels chosen on this machine, devices. */
NPMD_API npmd_status npmd_build_describe(char **out, npmd_error *err);
NPMD_API void npmd_text_free(char *text); /* for every text or array of bytes that the library made */

/* ---- Where to compute, and who is told ------------------------------------------------------------------------- */

/* What a long computation tells while it runs; NaN: not computed at this step, or not by this computation. */
typedef struct npmd_report {
    size_t size;
    const char *doing; /* "fit", "eigenfunctions", "values", "draws", "marginal", "conditional", "probability", "score",
                           * "comparison", "map", ... */
    double done;       /* the share that is done, 0 to 1 */
    int64_t step, steps; /* of a fit; of eigenfunctions the systems of equations that were solved, and will be */
    int attempt;         /* 1, or more after a restart; 0: a short fit that helps to choose */
    int member, members; /* of an ensemble, from 1; 0: there is none */
    const char *part;    /* of a stack: its name; NULL: there is none */
    int logged;          /* 1 at every log-every-th step and the last; 0 between, called for a sign of life */
    double epoch, seconds, rate;
    double data, integral, penalty; /* -mean v; mean exp v; mean (Lap v)^2 */
    double objective;               /* their sum, tau times the last */
    double log_integral, nise, ae;
    double ise, ise_se;         /* the ISE criterion on held-out points, relative to the uniform measure; its error */
    double snr_a, snr_b, snr_c; /* signal-to-noise ratios of the gradients of data, integral and penalty */
} npmd_report;

/* Called some times a second, or between the pieces of what takes long, in whatever thread computes. Nonzero: stop; a
 * fit keeps its model so far, everything else ends with NPMD_STOPPED. */
typedef int (*npmd_progress)(const npmd_report *now, void *user);

/* NULL in the place of one: all cores of this machine, and nobody is told. */
typedef struct npmd_compute {
    size_t size;
    int threads;        /* 0: all cores; never changes the answer */
    const char *device; /* "cpu" (also NULL), "cuda", "cuda:1", "reference" */
    npmd_progress progress;
    void *user;
} npmd_compute;

/* ---- Domains --------------------------------------------------------------------------------------------------- */

#define NPMD_MAX_FACTORS 16

typedef struct npmd_domain npmd_domain;

NPMD_API npmd_status npmd_domain_parse(const char *text, npmd_domain **out, npmd_error *err); /* "S1^4", "S2 x S2" */

/* How eigenfunctions of surfaces are made. */
typedef struct npmd_surface_options {
    size_t size;
    int elements;              /* 1 linear (also 0), 2 quadratic */
    const char *max_frequency; /* f, or one for each factor between commas, of which those of surfaces count: (f + 1)^2
                                * eigenpairs are computed; NULL or "0": 15, less on meshes of few vertices */
    const char *cache;         /* a folder that keeps eigenpairs; NULL: none */
    npmd_progress progress;
    void *user;
} npmd_surface_options;
NPMD_API npmd_status npmd_domain_parse_with(const char *text, const npmd_surface_options *how, npmd_domain **out,
                                            npmd_error *err);
/* The same domain for points that lie up to this far (INFINITY: any distance) from their surface; without it a domain
 * takes those within a thousandth of the square root of the area. */
NPMD_API npmd_status npmd_domain_within(const npmd_domain *dom, double max_distance, npmd_domain **out,
                                        npmd_error *err);
/* Some factors of a domain, as bits: factor 1 is bit 0. "1,3" is 5. And their product, in the order of the domain. */
NPMD_API npmd_status npmd_factors_parse(const char *text, const npmd_domain *dom, unsigned *factors, npmd_error *err);
NPMD_API npmd_status npmd_domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out, npmd_error *err);
NPMD_API void npmd_domain_free(npmd_domain *dom);
NPMD_API const char *npmd_domain_text(const npmd_domain *dom); /* canonical, "S1^4"; of a surface mesh: and its hash */
NPMD_API int npmd_domain_factors(const npmd_domain *dom);
NPMD_API int npmd_domain_columns(const npmd_domain *dom);   /* numbers in a point */
NPMD_API int npmd_domain_dimension(const npmd_domain *dom); /* tangent directions */
NPMD_API double npmd_domain_volume(const npmd_domain *dom);
/* n rows of u in [0,1)^dimension to n uniformly distributed points, rows of x. */
NPMD_API npmd_status npmd_domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x, npmd_error *err);

/* ---- Points ---------------------------------------------------------------------------------------------------- */

typedef struct npmd_points npmd_points; /* checked rows of a domain, with optional weights */

enum {                          /* how a file, or an array, writes its points: bits */
       NPMD_COORDS_DEFAULT = 0, /* radians; unit vectors */
       NPMD_COORDS_LATLON = 1,  /* S2 factors as latitude, longitude in degrees */
       NPMD_COORDS_DEGREES = 2  /* S1 factors in degrees */
};
NPMD_API npmd_status npmd_coords_parse(const char *text, unsigned *coords, npmd_error *err); /* "latlon,degrees" */
NPMD_API int npmd_points_columns(const npmd_domain *dom, unsigned coords); /* of a row in these coordinates */

NPMD_API npmd_status npmd_points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out,
                                      npmd_error *err);
/* From n rows of so many columns, which are copied. */
NPMD_API npmd_status npmd_points_from(const double *rows, size_t n, size_t columns, const npmd_domain *dom,
                                      unsigned coords, npmd_points **out, npmd_error *err);
/* The same, left where they are (double, or float if float32 is 1; of a surface they are copied) until
 * npmd_points_free, and not to be changed till then. */
NPMD_API npmd_status npmd_points_borrow(const void *rows, int float32, size_t n, size_t columns, const npmd_domain *dom,
                                        unsigned coords, npmd_points **out, npmd_error *err);
/* Weights from a file, or from n numbers, which are copied: before the points are used. */
NPMD_API npmd_status npmd_points_weigh(npmd_points *pts, const char *path, npmd_error *err);
NPMD_API npmd_status npmd_points_weigh_by(npmd_points *pts, const double *weight, size_t n, npmd_error *err);
NPMD_API void npmd_points_free(npmd_points *pts);
NPMD_API size_t npmd_points_count(const npmd_points *pts);
NPMD_API size_t npmd_points_bytes(const npmd_points *pts); /* of memory; what stays in a mapped file takes none */
/* One row in canonical form (of a surface: on it), or all of them in these coordinates. */
NPMD_API void npmd_points_row(const npmd_points *pts, size_t i, double *x);
NPMD_API npmd_status npmd_points_rows(const npmd_points *pts, unsigned coords, double *rows, npmd_error *err);

/* ---- Options: set and read by name ------------------------------------------------------------------------------- */

typedef struct npmd_options npmd_options;
typedef struct npmd_truth npmd_truth;

NPMD_API npmd_options *npmd_options_new(void); /* all at their defaults; NULL: not enough memory */
NPMD_API void npmd_options_free(npmd_options *opt);
/* "max-frequency", "10": values as the program takes them; "preset" sets many at once and is best set first. */
NPMD_API npmd_status npmd_options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err);
NPMD_API npmd_status npmd_options_read(npmd_options *opt, const char *json_path, npmd_error *err);
/* A value as text, cut to size: its whole length, 0 if there is no such option; or as a number, of a choice 0, 1, ...;
 * NaN: it is none. */
NPMD_API size_t npmd_options_get(const npmd_options *opt, const char *name, char *text, size_t size);
NPMD_API double npmd_options_number(const npmd_options *opt, const char *name);
/* Who is told while a fit runs. A truth to which reports hold nise and ae; points that are not fitted to, on which they
 * hold the ISE criterion. Both are the caller's and must outlive the fit; NULL: none. */
NPMD_API void npmd_options_watch(npmd_options *opt, npmd_progress progress, void *user);
NPMD_API void npmd_options_truth(npmd_options *opt, const npmd_truth *t);
NPMD_API void npmd_options_hold_out(npmd_options *opt, const npmd_points *pts);

/* The table of options: the text in a column of row i, NULL after the last row. */
typedef enum npmd_option_column {
    NPMD_OPTION_NAME,
    NPMD_OPTION_VALUES,   /* "N", "X|auto", "on|off" */
    NPMD_OPTION_FALLBACK, /* its default, or what leaves it open */
    NPMD_OPTION_HELP,
    NPMD_OPTION_GROUP
} npmd_option_column;
NPMD_API const char *npmd_option_text(int i, npmd_option_column column);
NPMD_API int npmd_option_is_read(int i, const char *estimator); /* 1: it may mean something to this one */
/* What an option that is left open becomes for n points on this domain, all others being at their defaults or as opt
 * (may be NULL) has them: as text, "" where it is not chosen beforehand. */
NPMD_API npmd_status npmd_option_usual(const char *name, const npmd_options *opt, const npmd_domain *dom, size_t n,
                                       char *text, size_t size, npmd_error *err);

/* ---- Fitting, and what a model tells
 * ------------------------------------------------------------------------------ */

typedef struct npmd_model npmd_model;

NPMD_API npmd_status npmd_fit(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt, npmd_model **out,
                              npmd_error *err);
/* A fit whose settings are chosen first: over holds lists "option=v1:v2:v3", and every combination of them is compared
 * on held-out points, each with its own tau where the options leave it open. The better half goes on to longer fits;
 * the best is fitted to all points. */
NPMD_API npmd_status npmd_select(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt,
                                 const char *const *over, int lists, npmd_model **out, npmd_error *err);
NPMD_API npmd_status npmd_save(const npmd_model *m, const char *path, npmd_error *err);
NPMD_API npmd_status npmd_load(const char *path, npmd_model **out, npmd_error *err);
/* The bytes of its file, without a file; npmd_text_free frees them. */
NPMD_API npmd_status npmd_model_pack(const npmd_model *m, char **out, size_t *size, npmd_error *err);
NPMD_API npmd_status npmd_model_unpack(const char *bytes, size_t size, npmd_model **out, npmd_error *err);
NPMD_API void npmd_model_free(npmd_model *m);

typedef struct npmd_fit_facts {
    size_t size;
    size_t n;
    double tau;
    uint64_t seed;
    int64_t steps;
    double seconds, objective, log_integral, log_integral_se;
    double convex_optimum, convex_gap, convex_gap_accuracy; /* of a field, nats; NaN: not known */
    int restarts, members, interrupted;
    const char *stopped_by;         /* the rule that ended a field's fit before its steps were done; "": none did */
    int64_t kept_step;              /* whose weights the field has, where a rule chose; 0: the last step's */
    int64_t resumed;                /* steps that a checkpoint had done already, in its attempt; 0: none */
    const char *checkpoint_failure; /* why the last checkpoint could not be written; "": it was */
    size_t working_bytes;           /* what the fit takes, stated before it starts */
} npmd_fit_facts;
NPMD_API npmd_status npmd_model_facts(const npmd_model *m, npmd_fit_facts *facts, npmd_error *err);
NPMD_API const npmd_domain *npmd_model_domain(const npmd_model *m);                         /* the model's */
NPMD_API npmd_status npmd_model_describe(const npmd_model *m, char **out, npmd_error *err); /* all of it, as JSON */
NPMD_API const char *npmd_model_warning(const npmd_model *m, int i);                        /* NULL after the last */

typedef struct npmd_part { /* of a stack or an ensemble */
    size_t size;
    const char *name; /* "field", "series", "kde adaptive" */
    int members;
    double weight;
    double held_out_nll, held_out_nll_se; /* of a stack's part; NaN: not known */
} npmd_part;
NPMD_API int npmd_model_parts(const npmd_model *m); /* 0: it is made of one piece */
NPMD_API npmd_status npmd_model_part(const npmd_model *m, int i, npmd_part *part, npmd_error *err);

/* What a choice was made by: fits to a part of the points, compared on the points that were held out. */
typedef struct npmd_choice {
    size_t size;
    const char *criterion;     /* "ise", "likelihood" */
    size_t training, held_out; /* points */
    int rows;                  /* 0: nothing was chosen */
} npmd_choice;
typedef struct npmd_choice_row {
    size_t size;
    int stage; /* 1, 2, ...: what was kept of one went on to the next; the last is the one that decided */
    int64_t steps;
    double tau;                       /* NaN: the estimator has none, or chose by itself */
    double criterion, criterion_se;   /* the smaller, the better */
    double difference, difference_se; /* to the best of its stage and settings, compared point by point */
    int kept;
    const char *settings; /* other options that were varied, "max-frequency=5 separable=on" */
} npmd_choice_row;
NPMD_API npmd_status npmd_model_choice(const npmd_model *m, npmd_choice *choice, npmd_error *err);
NPMD_API npmd_status npmd_model_choice_row(const npmd_model *m, int i, npmd_choice_row *row, npmd_error *err);

/* ---- Values, draws, integrals ---------------------------------------------------------------------------------- */

typedef enum npmd_what {
    NPMD_LOG_DENSITY, /* log f, per volume */
    NPMD_DENSITY,     /* f, per volume */
    NPMD_RELATIVE,    /* f x volume */
    NPMD_INTENSITY,   /* n f, or the sum of the weights times f */
    NPMD_GRADIENT,    /* of log f, a tangent vector in the point's own columns: columns for each point */
    NPMD_LAPLACIAN,   /* of log f; on a product of surfaces and others, of surfaces scaled to area 4 pi */
    NPMD_SPREAD       /* standard deviation of log f over the members */
} npmd_what;
NPMD_API const char *npmd_what_name(int i); /* "log-density", ... in the order of their numbers; NULL after the last */
NPMD_API npmd_status npmd_what_parse(const char *text, npmd_what *what, npmd_error *err);

NPMD_API npmd_status npmd_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what,
                                      const npmd_compute *how, double *values, npmd_error *err);
/* The same into a file, piece by piece: memory does not grow with the number of points. */
NPMD_API npmd_status npmd_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what,
                                      const npmd_compute *how, const char *path, npmd_error *err);
/* The log density at n points, rows of the domain's columns. */
NPMD_API npmd_status npmd_log_density(const npmd_model *m, const double *x, size_t n, double *values, npmd_error *err);

typedef struct npmd_sample_facts {
    size_t size;
    uint64_t proposed; /* points, of which acceptance were kept under the last envelope */
    double acceptance;
    int raised; /* times the envelope was raised, and all was drawn again */
} npmd_sample_facts;
/* n independent draws, rows of x, by rejection or, from kernels, directly; facts may be NULL. */
NPMD_API npmd_status npmd_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                                 npmd_sample_facts *facts, npmd_error *err);
/* n independent draws for each row of at, points of the product of the given factors: n x rows whole points. */
NPMD_API npmd_status npmd_sample_given(const npmd_model *m, unsigned given, const npmd_points *at, uint64_t seed,
                                       size_t n, const npmd_compute *how, double *x, npmd_sample_facts *facts,
                                       npmd_error *err);

/* The marginal density of some factors at points of their product: the integral of f over the others, by quadrature
 * where they have one or two dimensions, else by randomised quasi-Monte Carlo. Densities are per volume of the product
 * of these factors. log_se (n, or NULL): standard error of the log, which is brought below accuracy (0: 1e-3) where
 * that is possible. Not for gradients and Laplacians. */
NPMD_API npmd_status npmd_marginal_at(const npmd_model *m, unsigned factors, const npmd_points *pts, npmd_what what,
                                      double accuracy, uint64_t seed, const npmd_compute *how, double *values,
                                      double *log_se, npmd_error *err);
/* The conditional density of the other factors given these, at whole points. */
NPMD_API npmd_status npmd_conditional_at(const npmd_model *m, unsigned given, const npmd_points *pts, npmd_what what,
                                         double accuracy, uint64_t seed, const npmd_compute *how, double *values,
                                         double *log_se, npmd_error *err);

typedef struct npmd_probability {
    size_t size;
    double share;           /* of the volume: what the uniform density gives */
    double probability, se; /* and the error of the integral */
    double low, high;       /* within 1.96 spreads of the members, in the log of the odds; NaN: there are none */
    int members;            /* that the spread is of */
} npmd_probability;
/* Of all points whose every factor lies within its radius (for each factor, radians; pi: anywhere) of centre's. */
NPMD_API npmd_status npmd_probability_near(const npmd_model *m, const npmd_points *centre, const double *radius,
                                           double accuracy, uint64_t seed, const npmd_compute *how,
                                           npmd_probability *found, npmd_error *err);

typedef struct npmd_score {
    size_t size;
    size_t n;
    /* of the stored normalised density, computed afresh: 0 is right; of kernels in closed form, hence 0 without
     * error */
    double log_integral, log_integral_se;
    double nll, nll_se; /* mean of -log f, nats, per volume */
    double ise_criterion, ise_criterion_se, ise_criterion_relative;
    double training_rows; /* about how many of the rows the model was fitted to or chosen by; NaN: unknown */
} npmd_score;
NPMD_API npmd_status npmd_score_points(const npmd_model *m, const npmd_points *pts, uint64_t seed,
                                       const npmd_compute *how, npmd_score *score, npmd_error *err);

/* ---- Known densities -------------------------------------------------------------------------------------------- */

/* A mixture file of kind "wrapped normal mixture" (tori) or "von Mises-Fisher mixture" (any product of S1 and S2), or
 * an .npy grid on a torus. */
NPMD_API npmd_status npmd_truth_read(const char *path, npmd_truth **out, npmd_error *err);
/* The paper's recipe (section S5.1), "t2" or "t4", with random orthogonal matrices from the seed; "t2-authors" is the
 * mixture behind the paper's T2 table. */
NPMD_API npmd_status npmd_truth_make(const char *recipe, uint64_t seed, npmd_truth **out, npmd_error *err);
NPMD_API npmd_status npmd_truth_write(const npmd_truth *t, const char *path, npmd_error *err);
NPMD_API void npmd_truth_free(npmd_truth *t);
NPMD_API const npmd_domain *npmd_truth_domain(const npmd_truth *t); /* the truth's */
NPMD_API npmd_status npmd_truth_sample(const npmd_truth *t, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                                       npmd_error *err);
NPMD_API npmd_status npmd_truth_log_density(const npmd_truth *t, const double *x, size_t n, const npmd_compute *how,
                                            double *values, npmd_error *err);
NPMD_API npmd_status npmd_truth_entropy(const npmd_truth *t, uint64_t seed, const npmd_compute *how, double *entropy,
                                        double *se, npmd_error *err);

typedef enum npmd_grid {
    NPMD_GRID_FINE,   /* exact normalisation: a half-open grid on T1 and T2, else quasi-random points */
    NPMD_GRID_AUTHORS /* T2: linspace(0, 2 pi, 100)^2, both densities divided by their node means */
} npmd_grid;
typedef struct npmd_comparison { /* the *_se are NaN where a grid was used */
    size_t size;
    double nise, ae, fr, fr2, kl, nise_undivided;
    double nise_se, ae_se, fr_se, fr2_se, kl_se;
    size_t points;
} npmd_comparison;
NPMD_API npmd_status npmd_compare(const npmd_model *m, const npmd_truth *t, npmd_grid grid, size_t points,
                                  uint64_t seed, const npmd_compute *how, npmd_comparison *found, npmd_error *err);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Written under a temporary name that is renamed when all is there, as every output; the suffix says the format. */
NPMD_API npmd_status npmd_array_write(const char *path, const double *a, size_t rows, size_t cols, npmd_error *err);
NPMD_API npmd_status npmd_points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x,
                                       size_t n, npmd_error *err);
NPMD_API npmd_status npmd_text_write(const char *path, const char *text, npmd_error *err);
/* Fail now, with the reason, if path could not be written at the end of a long computation; as a file of any kind, as
 * an array or points. */
NPMD_API npmd_status npmd_output_check(const char *path, npmd_error *err);
NPMD_API npmd_status npmd_array_check(const char *path, npmd_error *err);

/* ==== EXPERIMENTAL: from here on, a later version may differ
 * ======================================================== */

/* ---- Plans: what a fit would use
 * ------------------------------------------------------------------------------------ */

typedef struct npmd_plan npmd_plan; /* borrows nothing but what the options watch with */

/* For n points; models that the options name are read here. */
NPMD_API npmd_status npmd_plan_make(const npmd_domain *dom, size_t n, const npmd_options *opt, npmd_plan **out,
                                    npmd_error *err);
NPMD_API void npmd_plan_free(npmd_plan *plan);
NPMD_API size_t npmd_plan_get(const npmd_plan *plan, const char *name, char *text, size_t size); /* as of options */
NPMD_API double npmd_plan_number(const npmd_plan *plan, const char *name);
NPMD_API size_t npmd_plan_bytes(const npmd_plan *plan); /* of memory that the fit takes, beside its points */
NPMD_API npmd_status npmd_plan_fit(const npmd_plan *plan, const npmd_points *pts, npmd_model **out, npmd_error *err);

/* ---- What domains and points are made of
 * ------------------------------------------------------------------------------ */

NPMD_API const npmd_domain *npmd_points_domain(const npmd_points *pts); /* the points' */
NPMD_API double npmd_points_weight(const npmd_points *pts, size_t i);   /* of row i; their mean is 1 */
typedef struct npmd_surface npmd_surface;
/* The surface that a factor, from 1, is; NULL: it is none. It is the domain's. */
NPMD_API const npmd_surface *npmd_domain_surface(const npmd_domain *dom, int factor);

/* ---- Quadrature: nodes and weights with sum 1 on a domain, finer with the resolution
 * ------------------------------------ */

NPMD_API size_t npmd_domain_rule_nodes(const npmd_domain *dom, size_t resolution);
NPMD_API npmd_status npmd_domain_rule(const npmd_domain *dom, size_t resolution, double *x, double *weight,
                                      npmd_error *err); /* x (nodes, columns), weight (nodes) */
/* Values at all combinations of nodes of the factors: x[d] (n[d], columns of factor d), values (n[0], n[1], ...), the
 * last factor's nodes side by side. As npmd_evaluate_at at n[0] x n[1] x ... points, which are nowhere in memory as a
 * whole and of which those of a surface are looked for once. */
NPMD_API npmd_status npmd_evaluate_grid(const npmd_model *m, const double *const *x, const size_t *n, npmd_what what,
                                        const npmd_compute *how, double *values, npmd_error *err);

/* ---- Surfaces: closed triangle meshes, and regions of their vertices
 * ------------------------------------------------------ */

/* Reads .obj .off .ply .vtk .gii (each also with .gz) or FreeSurfer's binary surfaces, and checks that it is one
 * closed, connected, consistently oriented surface of triangles: else NPMD_ERR_FORMAT says what is wrong and where. */
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
NPMD_API npmd_status npmd_surface_check(const char *path, npmd_error *err); /* as npmd_output_check, for such a file */
/* Of n unit vectors x (n, 3), points of the sphere that the surface is registered to (the same faces, about the
 * origin): the log of area on the unit sphere per area of the surface there. Added to a log density on S2 it makes the
 * log density of the same points on the surface, per area of the surface. NaN where the sphere's faces leave a hole, as
 * folded ones may. */
NPMD_API npmd_status npmd_surface_log_area(const npmd_surface *s, const npmd_surface *sphere, const double *x, size_t n,
                                           double *values, npmd_error *err);
NPMD_API int npmd_surface_is_file(const char *path); /* by its suffix or by FreeSurfer's first bytes: 1 or 0 */
/* What a file holds, as one JSON object: vertices, faces, area, hash, whether it is the closed surface that
 * npmd_surface_read wants, its genus, and else what is wrong. */
NPMD_API npmd_status npmd_surface_describe(const char *path, char **out, npmd_error *err);
/* Laplace-Beltrami eigenpairs by finite elements, linear (elements 1) or quadratic (2) on the flat faces, with
 * consistent mass: lambda (pairs) rises from 0, per area of the surface's units; phi (vertices, pairs) are the
 * functions on the vertices, orthonormal as functions, of which the first is constant and the largest entry of each
 * positive. residual (pairs, or NULL): |K phi - lambda M phi| / max(lambda, lambda_1), with |r|^2 = sum_i r_i^2 / M_ii.
 * NPMD_ERR_DEVICE in a build without ARPACK, SuperLU and METIS. One solve at a time; where BLAS is OpenBLAS it is held
 * to one thread meanwhile, in the whole process, and has as many as before afterwards. METIS seeds rand() and handles
 * SIGABRT and SIGTERM for a moment; all are then as before. Until then other threads should block SIGTERM, and leave
 * rand() alone, or the last digits move. */
NPMD_API npmd_status npmd_surface_eigen(const npmd_surface *s, int elements, int pairs, const npmd_compute *how,
                                        double *lambda, double *phi, double *residual, npmd_error *err);

typedef struct npmd_labels npmd_labels;

/* .annot .label .gii .csv .tsv .txt (each also with .gz) or .npy, for the vertices of this surface. */
NPMD_API npmd_status npmd_labels_read(const char *path, const npmd_surface *s, npmd_labels **out, npmd_error *err);
NPMD_API void npmd_labels_free(npmd_labels *l);
NPMD_API int npmd_labels_regions(const npmd_labels *l);
NPMD_API const char *npmd_labels_name(const npmd_labels *l, int region);
NPMD_API int npmd_labels_find(const npmd_labels *l, const char *name);   /* -1: there is none */
NPMD_API int npmd_labels_region_of(const npmd_labels *l, size_t vertex); /* -1: it lies in none */

/* ---- Regions: a density on two surfaces, integrated over parts of them
 * ------------------------------------------------------ */

/* The factors of the model are two surfaces, S2 or mesh:FILE each. Nodes are the vertices of a triangle mesh: on S2
 * those of a sphere about the origin, of any radius; on a surface those of the very mesh that the model has. A vertex
 * stands for a third of each face about it (on S2 of the spherical triangle), and a region for its vertices. */
typedef struct npmd_region_request {
    size_t size;
    const npmd_surface *surface[2]; /* of each factor */
    const npmd_labels *labels[2];   /* of its vertices; NULL: none */
    const npmd_compute *how;        /* NULL: as everywhere */
} npmd_region_request;

/* Regions are those of the labels; vertices without one are a region of their own, "unknown", which comes last unless
 * the labels have one of that name. */
NPMD_API int npmd_region_count(const npmd_labels *l);
NPMD_API const char *npmd_region_name(const npmd_labels *l, int region);
NPMD_API int npmd_region_find(const npmd_labels *l, const char *name); /* -1: there is none */
NPMD_API size_t npmd_region_vertices(const npmd_labels *l, int region);

typedef enum npmd_region_what { /* areas are the user's: on S2 those of the unit sphere */
                                NPMD_REGION_LOG_DENSITY,
                                NPMD_REGION_DENSITY,  /* per area */
                                NPMD_REGION_RELATIVE, /* density x area of the surface */
                                NPMD_REGION_INTENSITY, /* expected counts per area: n, or the sum of the weights, x density */
                                NPMD_REGION_PROBABILITY, /* density x area of the vertex */
                                NPMD_REGION_COUNTS       /* expected counts of the vertex */
} npmd_region_what;
NPMD_API const char *npmd_region_what_name(int i); /* as npmd_what_name */
NPMD_API npmd_status npmd_region_what_parse(const char *text, npmd_region_what *what, npmd_error *err);

typedef struct npmd_region_facts {
    size_t size;
    double share;        /* of a map's region in the area of its surface */
    double probability;  /* that x lies in the region; of a matrix: the sum of all entries, 1 is right */
    double within;       /* of a matrix: both ends in regions of one name */
    double sum_error;    /* of a matrix: how far the sum may be from that of the density, and that from 1 */
    size_t compared;     /* vertices at which the integral was taken by another rule as well: */
    double error_median; /* relative differences of a map there, or of a matrix's rows and columns */
    double error_largest;
} npmd_region_facts;

/* f_E(y) = integral over x in E of f(x, y) dx at every vertex y of the other factor; E is the union of these regions of
 * factor (1 or 2). values (vertices of the other surface); facts may be NULL. The other rule takes the centroid of
 * every third of a face in place of its corner. */
NPMD_API npmd_status npmd_region_map(const npmd_model *m, const npmd_region_request *at, int factor, const int *region,
                                     int regions, npmd_region_what what, double *values, npmd_region_facts *facts,
                                     npmd_error *err);
/* values (regions of factor 1, regions of factor 2): the integral of f over both, as a probability or as expected
 * counts. Not normalised: the sum shows the error of the nodes. */
NPMD_API npmd_status npmd_region_matrix(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                                        double *values, npmd_region_facts *facts, npmd_error *err);
/* .csv: with the names of the regions in the first row and column; .npy: the numbers alone. */
NPMD_API npmd_status npmd_region_matrix_write(const npmd_region_request *at, const double *matrix, const char *path,
                                              npmd_error *err);
/* One row for each vertex of factor 1, one column for each vertex of factor 2, into a file piece by piece. */
NPMD_API npmd_status npmd_region_dense(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                                       const char *path, npmd_error *err);
NPMD_API size_t npmd_region_bytes(const npmd_region_request *at); /* of memory that either takes */

/* ---- Streamlines
 * ---------------------------------------------------------------------------------------------------------------- */

/* Which hemispheres a streamline joins. Of LR the left end comes first, whichever way it runs. */
typedef enum npmd_pair { NPMD_PAIR_LL, NPMD_PAIR_RR, NPMD_PAIR_LR, NPMD_PAIRS } npmd_pair;
typedef enum npmd_drop {                   /* why a streamline is left out; the first that holds */
                         NPMD_DROP_POINTS, /* it has fewer than two points */
                         NPMD_DROP_WEIGHT, /* its weight is zero */
                         NPMD_DROP_BOTH,   /* both ends are too far from the surface */
                         NPMD_DROP_START,  /* its start alone is */
                         NPMD_DROP_END,    /* its end alone is */
                         NPMD_DROP_PAIR,   /* it joins other hemispheres than were asked for */
                         NPMD_DROPS
} npmd_drop;

typedef struct npmd_endpoints_request {
    size_t size;
    const char *const *tracks;  /* (files): .trk, .tck, and .gz of these */
    const char *const *weights; /* (files): a number for each streamline, as SIFT2 writes them; NULL: none */
    int files;
    const char *surface[2]; /* left and right, or the only one and NULL */
    const char *sphere[2];  /* registered to fsaverage, with the surface's faces; NULL: ends stay on the surface */
    double max_distance;    /* of an end from the surface, mm; 0: 5 */
    unsigned pairs;         /* bits 1 << npmd_pair; 0: all that the surfaces allow */
    const char *affine;     /* 4 x 4, from voxels to RAS mm, in the place of a .trk header's; NULL: the header's */
    const char *transform;  /* 4 x 4, from the streamlines' RAS mm to the surface's; NULL: they are the same */
    const char *space;      /* instead of transform: "mni152", to surfaces in MNI305, as fsaverage's; NULL: none */
    const npmd_compute *how;
} npmd_endpoints_request;
typedef struct npmd_endpoints_facts {
    size_t size;
    size_t streamlines;
    size_t dropped[16];                   /* by npmd_drop; there is room for other reasons */
    size_t count[8];                      /* kept, by npmd_pair */
    size_t turned;                        /* of LR: ran from right to left */
    double distance_median, distance_max; /* of the ends kept, mm; NaN: there are none */
} npmd_endpoints_facts;

typedef struct npmd_endpoints npmd_endpoints;
NPMD_API npmd_status npmd_endpoints_find(const npmd_endpoints_request *what, npmd_endpoints **out, npmd_error *err);
NPMD_API void npmd_endpoints_free(npmd_endpoints *e);
NPMD_API npmd_status npmd_endpoints_facts_of(const npmd_endpoints *e, npmd_endpoints_facts *facts, npmd_error *err);
/* (count, 6): start and end, unit vectors or mm, and (count) weights; NULL where there are none. They are e's. */
NPMD_API const double *npmd_endpoints_rows(const npmd_endpoints *e, npmd_pair pair);
NPMD_API const double *npmd_endpoints_weights(const npmd_endpoints *e, npmd_pair pair);

#ifdef __cplusplus
}
#endif
#endif
