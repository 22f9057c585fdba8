/* neuropmd.h - fit, evaluate and score densities on products of manifolds.
 *
 *   log f(x) = v(x) - log Z,   v kept smooth by   tau * mean over the domain of (Laplacian v)^2
 *
 * A domain is a product of circles (S1), spheres (S2) and closed triangulated surfaces (mesh:FILE). A point is a row
 * of doubles, in the order of the domain: an angle in radians for each S1, a unit vector (three columns) for each S2, a
 * position x y z for each surface, which stands for the closest point of that surface. Densities are with respect to
 * Riemannian volume; a relative density is with respect to the uniform probability measure (= volume x density). A
 * surface is in the user's units; inside it is scaled to the area of the unit sphere, so that tau means the same there.
 *
 * A function that can fail returns NPMD_OK (zero) or an error, and writes its outputs only on NPMD_OK; rows of a long
 * array may have been written when it fails. The library prints nothing, keeps no global state and installs no signal
 * handler. Domains, points, truths, models and plans never change once they are made, and threads may share them.
 *
 * Threads are those of OpenMP, which are not in a child made by fork: where the parent used several, the child may use
 * one, and does unless it asks for more, which is refused.
 *
 * Who owns what: an object that a function writes to a pointer named `out` is the caller's, and is freed by the _free
 * of its kind, which accepts NULL. Arguments are borrowed for the time of the call, unless said otherwise. A returned
 * `const char *` belongs to the object that was asked, and lives as long as it does.
 *
 * Structs begin with their size, so that later versions can add fields at the end: begin each with NPMD_SIZED, as in
 * `npmd_score score = NPMD_SIZED(npmd_score);`, and set what applies. Everything above the line EXPERIMENTAL keeps its
 * meaning in all versions with the same first number; what is below it may change with any version. Surfaces, regions
 * and streamlines are in neuropmd-surfaces.h, figures and pages in neuropmd-draw.h. */
#ifndef NEUROPMD_H
#define NEUROPMD_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define NPMD_API __declspec(dllexport)
#else
#define NPMD_API __attribute__((visibility("default")))
#endif

/* clang-format off */
#ifdef __cplusplus
#define NPMD_SIZED(type) { sizeof(type) }
#else
#define NPMD_SIZED(type) { .size = sizeof(type) }
#endif
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors: a value and a sentence ------------------------------------------------------------------------------ */

typedef enum npmd_status {
    NPMD_OK = 0,
    NPMD_ERR_ARGUMENT, /* a value lies outside its documented range */
    NPMD_ERR_SHAPE,    /* sizes disagree with each other or with the domain */
    NPMD_ERR_FORMAT,   /* a file was read but makes no sense; the text gives row or byte */
    NPMD_ERR_NUMERIC,  /* the fit collapsed, or a number is not finite */
    NPMD_ERR_FILE,     /* a file cannot be opened, read or written */
    NPMD_ERR_DEVICE,   /* the device is absent or failing */
    NPMD_ERR_MEMORY,   /* not enough memory */
    NPMD_STOPPED       /* the caller asked to stop; a fit leaves its checkpoint, if it keeps one, and no model */
} npmd_status;

/* The text says what was found, where, what was expected and how to go on. Names of options stand between back quotes,
 * `max-frequency`, so that a program or a binding can spell them its own way. This struct never grows. Begin it with
 * { 0 }; NULL in its place ignores the sentence. */
typedef struct npmd_error {
    npmd_status status;
    char text[512];
} npmd_error;

NPMD_API const char *npmd_status_text(npmd_status st);
NPMD_API const char *npmd_version(void);
/* What this build holds, as one JSON object: version, compiler, kernels chosen on this machine, devices. */
NPMD_API npmd_status npmd_build_describe(char **out, npmd_error *err);
NPMD_API void npmd_text_free(char *text); /* of every char * that the library wrote to an `out` */

/* ---- Where to compute, and who is told --------------------------------------------------------------------------- */

/* What a long computation tells while it runs; NaN: not computed at this step, or not by this computation. */
typedef struct npmd_report {
    size_t size;
    const char *doing;   /* "fit", "eigenfunctions", "values", "draws", "marginal", "score", "map", ... */
    double done;         /* the share that is done, 0 to 1 */
    int64_t step, steps; /* of a fit; of eigenfunctions: systems of equations solved, and all of them */
    int attempt;         /* 1, or more after a restart; 0: a short fit that helps to choose */
    int member, members; /* of an ensemble, from 1; 0: it is none */
    const char *part;    /* the name of a stack's part; NULL: it is no stack */
    int logged;          /* 1 at every log-every-th step and the last; 0 in between, as a sign of life */
    double epoch, seconds, rate;
    double data, integral, penalty; /* -mean v; mean exp v; mean (Lap v)^2 */
    double objective;               /* their sum, tau times the last */
    double log_integral, nise, ae;
    double ise, ise_se;         /* the ISE criterion on held-out points, relative to the uniform measure; its error */
    double snr_a, snr_b, snr_c; /* signal-to-noise ratios of the gradients of data, integral and penalty */
    int64_t line; /* logged reports before this one, of all runs of a fit with a checkpoint; -1: not known */
} npmd_report;

/* Called a few times a second, or between the pieces of a long computation, in the thread that computes. Return nonzero
 * to stop: a fit ends with the model it has so far, everything else with NPMD_STOPPED. */
typedef int (*npmd_progress)(const npmd_report *now, void *user);

/* NULL in its place: all cores of this machine, and nobody is told. */
typedef struct npmd_compute {
    size_t size;
    int threads;        /* 0: all cores; never changes the answer */
    const char *device; /* "cpu" (also NULL), "cuda", "cuda:1", "reference" */
    npmd_progress progress;
    void *user;
} npmd_compute;

/* ---- Domains ----------------------------------------------------------------------------------------------------- */

#define NPMD_MAX_FACTORS 16

typedef struct npmd_domain npmd_domain;

NPMD_API npmd_status npmd_domain_parse(const char *text, npmd_domain **out, npmd_error *err); /* "S1^4", "S2 x S2" */

/* How the eigenfunctions of surfaces are computed. */
typedef struct npmd_surface_options {
    size_t size;
    int elements; /* 1 linear (also 0), 2 quadratic */
    /* f, or one for each factor between commas, of which those of surfaces count: (f + 1)^2 eigenpairs are computed.
     * NULL or "0": 15, less on meshes of few vertices. */
    const char *max_frequency;
    const char *cache; /* a folder that keeps eigenpairs; NULL: none */
    npmd_progress progress;
    void *user;
} npmd_surface_options;
NPMD_API npmd_status npmd_domain_parse_with(const char *text, const npmd_surface_options *how, npmd_domain **out,
                                            npmd_error *err);
/* The same domain, but for points up to this far (INFINITY: any distance) from their surface. A domain takes those
 * within a thousandth of the square root of the area otherwise. */
NPMD_API npmd_status npmd_domain_within(const npmd_domain *dom, double max_distance, npmd_domain **out,
                                        npmd_error *err);
/* Some factors of a domain, as bits: factor 1 is bit 0, so "1,3" is 5; and the product of these factors alone. */
NPMD_API npmd_status npmd_factors_parse(const char *text, const npmd_domain *dom, unsigned *factors, npmd_error *err);
NPMD_API npmd_status npmd_domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out, npmd_error *err);
NPMD_API void npmd_domain_free(npmd_domain *dom);
NPMD_API const char *npmd_domain_text(const npmd_domain *dom); /* canonical, "S1^4"; a surface is "mesh:" and a hash */
NPMD_API int npmd_domain_factors(const npmd_domain *dom);
NPMD_API int npmd_domain_columns(const npmd_domain *dom);   /* numbers in a point */
NPMD_API int npmd_domain_dimension(const npmd_domain *dom); /* tangent directions */
NPMD_API double npmd_domain_volume(const npmd_domain *dom);
/* n rows of u in [0,1)^dimension to n uniformly distributed points, rows of x. */
NPMD_API npmd_status npmd_domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x, npmd_error *err);

/* ---- Points ------------------------------------------------------------------------------------------------------ */

typedef struct npmd_points npmd_points; /* checked rows of a domain, with optional weights */

/* How a file, or an array, writes its points: bits. */
typedef enum npmd_coords {
    NPMD_COORDS_DEFAULT = 0, /* radians; unit vectors */
    NPMD_COORDS_LATLON = 1,  /* S2 factors as latitude, longitude in degrees */
    NPMD_COORDS_DEGREES = 2  /* S1 factors in degrees */
} npmd_coords;
NPMD_API npmd_status npmd_coords_parse(const char *text, unsigned *coords, npmd_error *err); /* "latlon,degrees" */
NPMD_API int npmd_points_columns(const npmd_domain *dom, unsigned coords); /* of a row in these coordinates */

NPMD_API npmd_status npmd_points_read(const char *path, const npmd_domain *dom, unsigned coords, npmd_points **out,
                                      npmd_error *err);
/* From n rows of this many columns, which are copied. */
NPMD_API npmd_status npmd_points_from(const double *rows, size_t n, size_t columns, const npmd_domain *dom,
                                      unsigned coords, npmd_points **out, npmd_error *err);
/* The same without a copy: the rows (double, or float if float32 is 1) must stay and not change until npmd_points_free.
 * Points of surfaces are copied all the same. */
NPMD_API npmd_status npmd_points_borrow(const void *rows, int float32, size_t n, size_t columns, const npmd_domain *dom,
                                        unsigned coords, npmd_points **out, npmd_error *err);
/* Weights from a file, or from n numbers, which are copied. To be called before the points are used. */
NPMD_API npmd_status npmd_points_weigh(npmd_points *pts, const char *path, npmd_error *err);
NPMD_API npmd_status npmd_points_weigh_by(npmd_points *pts, const double *weight, size_t n, npmd_error *err);
NPMD_API void npmd_points_free(npmd_points *pts);
NPMD_API size_t npmd_points_count(const npmd_points *pts);
NPMD_API size_t npmd_points_bytes(const npmd_points *pts); /* of memory; what stays in a mapped file takes none */
/* One row in canonical form (on its surface), or all of them in these coordinates. */
NPMD_API void npmd_points_row(const npmd_points *pts, size_t i, double *x);
NPMD_API npmd_status npmd_points_rows(const npmd_points *pts, unsigned coords, double *rows, npmd_error *err);

/* ---- Options: set and read by name ------------------------------------------------------------------------------- */

typedef struct npmd_options npmd_options;
typedef struct npmd_truth npmd_truth;

NPMD_API npmd_options *npmd_options_new(void); /* all at their defaults; NULL: not enough memory */
NPMD_API void npmd_options_free(npmd_options *opt);
/* As in npmd_options_set(opt, "max-frequency", "10", &err). "preset" sets many at once and is best set first. */
NPMD_API npmd_status npmd_options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err);
NPMD_API npmd_status npmd_options_read(npmd_options *opt, const char *json_path, npmd_error *err);
/* A value as text, cut to size; returns its whole length, or 0 if there is no such option. And as a number: a choice is
 * 0, 1, ... in the order of its names; NaN: it is no number. */
NPMD_API size_t npmd_options_get(const npmd_options *opt, const char *name, char *text, size_t size);
NPMD_API double npmd_options_number(const npmd_options *opt, const char *name);
/* Who is told while a fit runs; a known density, so that reports hold nise and ae; and points that are not fitted to,
 * so that they hold the ISE criterion on those. The last two stay the caller's and must outlive the fit; NULL: none. */
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
NPMD_API int npmd_option_is_read(int i, const char *estimator); /* 1: this estimator may read it */
/* What an option becomes for n points on this domain if it is left open, the others being as opt has them (NULL: at
 * their defaults); as text, "" if it is chosen from the data. */
NPMD_API npmd_status npmd_option_usual(const char *name, const npmd_options *opt, const npmd_domain *dom, size_t n,
                                       char *text, size_t size, npmd_error *err);

/* ---- Fits and models --------------------------------------------------------------------------------------------- */

typedef struct npmd_model npmd_model;

NPMD_API npmd_status npmd_fit(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt, npmd_model **out,
                              npmd_error *err);
/* A fit whose settings are chosen first. over holds lists, "option=v1:v2:v3"; every combination of them is compared on
 * held-out points, each with its own tau where the options leave it open. The better half goes on to longer fits, and
 * the best is fitted to all points. */
NPMD_API npmd_status npmd_select(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt,
                                 const char *const *over, int lists, npmd_model **out, npmd_error *err);
NPMD_API npmd_status npmd_save(const npmd_model *m, const char *path, npmd_error *err);
NPMD_API npmd_status npmd_load(const char *path, npmd_model **out, npmd_error *err);
/* The bytes that npmd_save would write; npmd_text_free frees them. */
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
    const char *stopped_by;         /* the rule that ended the fit of a field early; "": none did */
    int64_t kept_step;              /* the step whose weights a rule kept; 0: those of the last step */
    int64_t resumed;                /* steps that were done already in the checkpoint it went on from; 0: none */
    const char *checkpoint_failure; /* why the last checkpoint could not be written; "": it was */
    size_t working_bytes;           /* memory that the fit takes beside its points, known before it starts */
    int64_t twins;                  /* points that equal another one, see `ties`; -1: not known */
    const char *estimator;          /* of the model: what auto chose, too */
    int knows_bias;                 /* 1: intervals of 95 % hold the smoothing's bias, 0: the scatter alone */
} npmd_fit_facts;
NPMD_API npmd_status npmd_model_facts(const npmd_model *m, npmd_fit_facts *facts, npmd_error *err);
NPMD_API const npmd_domain *npmd_model_domain(const npmd_model *m);                         /* the model's */
NPMD_API npmd_status npmd_model_describe(const npmd_model *m, char **out, npmd_error *err); /* all of it, as JSON */
NPMD_API const char *npmd_model_warning(const npmd_model *m, int i);                        /* NULL after the last */

/* A part of a stack, or the members of an ensemble. */
typedef struct npmd_part {
    size_t size;
    const char *name; /* "field", "series", "kde adaptive" */
    int members;
    double weight;
    double held_out_nll, held_out_nll_se; /* of a stack's part; NaN: not known */
} npmd_part;
NPMD_API int npmd_model_parts(const npmd_model *m); /* 0: it has none */
NPMD_API npmd_status npmd_model_part(const npmd_model *m, int i, npmd_part *part, npmd_error *err);

/* How a choice was made: fits to some of the points, compared on the others. */
typedef struct npmd_choice {
    size_t size;
    const char *criterion;     /* "ise", "likelihood" */
    size_t training, held_out; /* points */
    int rows;                  /* 0: nothing was chosen */
    int rivals;                /* other estimators that were judged on the same points */
    double nll, nll_se;        /* -log likelihood a held-out point, per volume, of the model's own; NaN: not known */
} npmd_choice;
typedef struct npmd_choice_row {
    size_t size;
    int stage; /* 1, 2, ...: those kept go on to the next stage; the last one decides */
    int64_t steps;
    double tau;                       /* NaN: the estimator has none, or chose by itself */
    double criterion, criterion_se;   /* smaller is better */
    double difference, difference_se; /* to the best of its stage and settings, compared point by point */
    int kept;
    const char *settings; /* the other options that vary, "max-frequency=5 separable=on" */
} npmd_choice_row;
NPMD_API npmd_status npmd_model_choice(const npmd_model *m, npmd_choice *choice, npmd_error *err);
NPMD_API npmd_status npmd_model_choice_row(const npmd_model *m, int i, npmd_choice_row *row, npmd_error *err);

typedef struct npmd_rival {
    size_t size;
    const char *estimator;            /* "series", "kde mixture" */
    double nll, nll_se;               /* -log likelihood a held-out point, per volume */
    double difference, difference_se; /* that less the model's own, point by point: negative, the rival is better */
} npmd_rival;
NPMD_API npmd_status npmd_model_rival(const npmd_model *m, int i, npmd_rival *rival, npmd_error *err);

/* ---- Values, draws, integrals ------------------------------------------------------------------------------------ */

typedef enum npmd_what {
    NPMD_LOG_DENSITY, /* log f, per volume */
    NPMD_DENSITY,     /* f, per volume */
    NPMD_RELATIVE,    /* f x volume */
    NPMD_INTENSITY,   /* n f, or the sum of the weights times f */
    NPMD_GRADIENT,    /* of log f: a tangent vector for each point, in as many columns as the point has */
    NPMD_LAPLACIAN,   /* of log f; on products of a surface and others, of the surface scaled to area 4 pi */
    NPMD_SPREAD,      /* standard deviation of log f over the members */
    NPMD_RATIO,       /* f / f0, of a model with a base f0 (option "base") */
    NPMD_BAND         /* with bootstrap: the true log f lies within so much of the model's with 95 %, over the mass */
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
    uint64_t proposed; /* points */
    double acceptance; /* the share of them that was kept under the last envelope */
    int raised;        /* how often the envelope was raised and all was drawn again */
} npmd_sample_facts;
/* n independent draws, rows of x, by rejection or, from kernels, directly; facts may be NULL. */
NPMD_API npmd_status npmd_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                                 npmd_sample_facts *facts, npmd_error *err);
/* n independent draws given each row of at, a point of the product of the given factors: n x rows whole points. */
NPMD_API npmd_status npmd_sample_given(const npmd_model *m, unsigned given, const npmd_points *at, uint64_t seed,
                                       size_t n, const npmd_compute *how, double *x, npmd_sample_facts *facts,
                                       npmd_error *err);

/* The marginal density of some factors at points of their product: the integral of f over the others, by quadrature
 * where they have one or two dimensions, else by randomised quasi-Monte Carlo. Densities are per volume of the product
 * of these factors. log_se (n, or NULL): the standard error of each log, which is brought below accuracy (0:
 * NPMD_ACCURACY) where that is possible. Gradients and Laplacians are refused. */
#define NPMD_ACCURACY 1e-3
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
    double low, high;       /* the truth lies between them with 95 %; NaN: not known, without bootstrap */
    int members;            /* whose spread it comes from */
} npmd_probability;
/* Of the points whose every factor lies within its radius (for each factor, radians; pi: anywhere) of the centre. */
NPMD_API npmd_status npmd_probability_near(const npmd_model *m, const npmd_points *centre, const double *radius,
                                           double accuracy, uint64_t seed, const npmd_compute *how,
                                           npmd_probability *found, npmd_error *err);

typedef struct npmd_score {
    size_t size;
    size_t n;
    double log_integral, log_integral_se; /* of the density as stored, computed afresh: 0 is right */
    double nll, nll_se;                   /* mean of -log f, nats, per volume */
    double ise_criterion, ise_criterion_se, ise_criterion_relative;
    double training_rows; /* about how many of the rows the model was fitted to or chosen with; NaN: unknown */
} npmd_score;
NPMD_API npmd_status npmd_score_points(const npmd_model *m, const npmd_points *pts, uint64_t seed,
                                       const npmd_compute *how, npmd_score *score, npmd_error *err);

/* ---- Known densities --------------------------------------------------------------------------------------------- */

/* A mixture file of kind "wrapped normal mixture" (tori), "von Mises-Fisher mixture" (any product of S1 and S2) or
 * "shapes" (these and surfaces), or an .npy grid on a torus. */
NPMD_API npmd_status npmd_truth_read(const char *path, npmd_truth **out, npmd_error *err);
/* The paper's recipe (section S5.1), "t2" or "t4", with random orthogonal matrices from the seed; "t2-authors" is the
 * mixture behind the paper's T2 table; "gauntlet:NAME" a truth of npmd_recipe_at, all of it drawn from the seed. */
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
typedef struct npmd_comparison {
    size_t size;
    double nise, ae, fr, fr2, kl, nise_undivided;
    double nise_se, ae_se, fr_se, fr2_se, kl_se; /* NaN where a grid was used */
    size_t points;
} npmd_comparison;
NPMD_API npmd_status npmd_compare(const npmd_model *m, const npmd_truth *t, npmd_grid grid, size_t points,
                                  uint64_t seed, const npmd_compute *how, npmd_comparison *found, npmd_error *err);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* The suffix says the format. Like every output, a file is written under a temporary name and renamed when complete. */
NPMD_API npmd_status npmd_array_write(const char *path, const double *a, size_t rows, size_t cols, npmd_error *err);
NPMD_API npmd_status npmd_points_write(const char *path, const npmd_domain *dom, unsigned coords, const double *x,
                                       size_t n, npmd_error *err);
NPMD_API npmd_status npmd_text_write(const char *path, const char *text, npmd_error *err);
/* Fails now, with the reason, if path could not be written at the end of a long computation: a file of any kind; an
 * array or points. */
NPMD_API npmd_status npmd_output_check(const char *path, npmd_error *err);
NPMD_API npmd_status npmd_array_check(const char *path, npmd_error *err);

/* ==== EXPERIMENTAL: from here on, a later version may differ ====================================================== */

/* ---- Plans: what a fit would use --------------------------------------------------------------------------------- */

typedef struct npmd_plan npmd_plan; /* borrows nothing but what the options watch with */

/* For n points. Models that the options name are read here. */
NPMD_API npmd_status npmd_plan_make(const npmd_domain *dom, size_t n, const npmd_options *opt, npmd_plan **out,
                                    npmd_error *err);
NPMD_API void npmd_plan_free(npmd_plan *plan);
NPMD_API size_t npmd_plan_get(const npmd_plan *plan, const char *name, char *text,
                              size_t size); /* as npmd_options_get */
NPMD_API double npmd_plan_number(const npmd_plan *plan, const char *name);
NPMD_API size_t npmd_plan_bytes(const npmd_plan *plan); /* of memory that the fit takes beside its points */
NPMD_API npmd_status npmd_plan_fit(const npmd_plan *plan, const npmd_points *pts, npmd_model **out, npmd_error *err);

/* ---- Recipes: known densities of many families, for npmd_truth_make as "gauntlet:NAME" --------------------------- */

typedef struct npmd_recipe {
    size_t size;
    const char *name, *family, *domain; /* "T2"; "mesh": a torus in space, which npmd_truth_write writes beside it */
    size_t n;                           /* points that go with it */
} npmd_recipe;
NPMD_API npmd_status npmd_recipe_at(int i, npmd_recipe *recipe, npmd_error *err); /* an error after the last */

/* ---- What points are made of ------------------------------------------------------------------------------------- */

NPMD_API const npmd_domain *npmd_points_domain(const npmd_points *pts); /* the points' */
NPMD_API double npmd_points_weight(const npmd_points *pts, size_t i);   /* of row i; their mean is 1 */

/* ---- Quadrature: nodes and weights with sum 1 on a domain, finer with the resolution ----------------------------- */

NPMD_API size_t npmd_domain_rule_nodes(const npmd_domain *dom, size_t resolution);
NPMD_API npmd_status npmd_domain_rule(const npmd_domain *dom, size_t resolution, double *x, double *weight,
                                      npmd_error *err); /* x (nodes, columns), weight (nodes) */
/* Values at all combinations of nodes of the factors: x[d] (n[d], columns of factor d); values (n[0], n[1], ...), those
 * of the last factor's nodes next to each other. As npmd_evaluate_at at these n[0] x n[1] x ... points, which are never
 * in memory as a whole. */
NPMD_API npmd_status npmd_evaluate_grid(const npmd_model *m, const double *const *x, const size_t *n, npmd_what what,
                                        const npmd_compute *how, double *values, npmd_error *err);

/* ---- Claims: two runs that would write to one file --------------------------------------------------------------- */

typedef struct npmd_claim npmd_claim;
/* From here to npmd_claim_free, or to the end of the process, others who claim the same file are refused. No file is
 * made for it. *out NULL: none is needed (a pipe), or this place knows no locks. A fit claims its own checkpoint. */
NPMD_API npmd_status npmd_output_claim(const char *path, npmd_claim **out, npmd_error *err);
NPMD_API void npmd_claim_free(npmd_claim *claim);

#ifdef __cplusplus
}
#endif
#endif
