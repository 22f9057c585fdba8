/* reproduce.h - the command `reproduce`: experiments as tables, the processes of their tasks, the file of their
 * results.
 *
 * An experiment is a row of REPRODUCE_EXPERIMENTS (reproduce_table.c): rows of methods with settings, figures that are
 * measured of each, columns of the table for people. Tasks run in processes of their own (reproduce_run.c), in which
 * one of the functions measure_* measures; what came out is kept line by line (reproduce_file.c). */
#ifndef NEUROPMD_REPRODUCE_H
#define NEUROPMD_REPRODUCE_H

#include "console.h"

/* What can be measured of one task: a number each, its key in REPRODUCE_KEYS. */
typedef enum reproduce_figure {
    FIGURE_N, /* points */
    FIGURE_NISE,
    FIGURE_AE,
    FIGURE_FR,
    FIGURE_KL,
    FIGURE_TAU,
    FIGURE_SECONDS,
    FIGURE_PARAMETERS, /* NaN: the model does not say */
    FIGURE_MEMORY,     /* peak, bytes */
    FIGURE_ISE,        /* criterion on fresh points, per volume */
    FIGURE_ISE_RELATIVE,
    FIGURE_ISE_SE, /* of the relative one */
    FIGURE_MISSED, /* spectra: share of the power that is wrong; low: up to frequency 4 */
    FIGURE_MISSED_LOW,
    FIGURE_FUNCTIONS, /* frequencies: functions in the encoding */
    FIGURE_FOUND,
    FIGURE_DEGREE,
    FIGURE_TRUNCATION,
    FIGURE_PERMITTED,
    FIGURE_OUTSIDE,
    FIGURE_OUTSIDE_PAPER,
    FIGURE_LARGEST_OUTSIDE_PAPER,
    FIGURE_EDGE,
    FIGURE_SNR_A, /* diagnostics: at the end; and epochs of the last running minima */
    FIGURE_SNR_B,
    FIGURE_SNR_C,
    FIGURE_MINIMUM_ISE,
    FIGURE_MINIMUM_A,
    FIGURE_MINIMUM_B,
    FIGURE_MINIMUM_C,
    FIGURE_HELD_OUT,       /* connectivity: pairs that were not fitted */
    FIGURE_LOG_LIKELIHOOD, /* of one, mean, per volume; and relative to the uniform density */
    FIGURE_LOG_LIKELIHOOD_SE,
    FIGURE_LOG_LIKELIHOOD_RELATIVE,
    FIGURE_LOG_LIKELIHOOD_SURFACE, /* per squared area of the surface, on either domain */
    FIGURE_SEEN,                   /* of these, equal to one that was fitted */
    FIGURE_KL_SE,                  /* gauntlet: of FIGURE_KL; negative log-likelihood of points that were not fitted */
    FIGURE_NLL,
    FIGURE_NLL_SE,
    FIGURE_KL_COMPARED, /* by npmd_compare */
    FIGURE_KL_COMPARED_SE,
    FIGURE_LOG_INTEGRAL_SE,
    FIGURES,
    FIGURES_END = -1
} reproduce_figure;
extern const char *const REPRODUCE_KEYS[FIGURES];

/* An experiment is one table of rows: a method with settings, measured on every replicate of one truth. */
typedef struct reproduce_row {
    const char *domain; /* "T2"; NULL ends a table */
    const char *method, *settings;
    const char *options; /* as for fit */
    bool usual;          /* runs unless --methods says otherwise */
} reproduce_row;

typedef struct reproduce_published {
    const char *domain, *method; /* NULL ends a table */
    int figure;
    double mean, se; /* NaN: not given */
} reproduce_published;

typedef struct reproduce_column { /* of the table for people */
    const char *heading;          /* NULL ends it */
    int width;                    /* negative: to the left */
    enum { COLUMN_ERROR, COLUMN_NUMBER, COLUMN_COUNT, COLUMN_TIME, COLUMN_BYTES, COLUMN_PAPER } form;
    int figure;
} reproduce_column;

typedef struct reproduce_data { /* rows of numbers that a task adds to its line, and all of them to a file */
    const char *key;            /* NULL ends a table */
    const char *suffix;         /* FILE.jsonl has them in FILE_suffix.csv */
    const char *columns;        /* their names, separated by commas */
} reproduce_data;
enum { REPRODUCE_DATA_MOST = 2, REPRODUCE_CRITERIA = 4 };

typedef struct reproduce_child reproduce_child;
typedef npmd_status reproduce_measure(reproduce_child *c, npmd_error *err);
typedef struct reproduce_experiment {
    const char *name; /* NULL ends the list */
    const char *title;
    const reproduce_row *rows;
    const reproduce_published *published;
    reproduce_measure *measure;
    const int *figures; /* of a line, in its order; FIGURES_END ends them */
    const reproduce_column *columns;
    const reproduce_data *data;
    const char *note;                 /* under the table */
    size_t n;                         /* points; 0: 10,000 on T2, 100,000 on T4 */
    bool every_dimension;             /* all domains of the table, unless --domain says which; a truth made for each */
    int (*run)(const cli_args *args); /* instead of the usual way; NULL: it is the usual one */
} reproduce_experiment;
extern const reproduce_experiment REPRODUCE_EXPERIMENTS[];

const reproduce_experiment *reproduce_find(const char *name);

typedef struct reproduce_result { /* of one task; the pipe from its process carries it as it stands */
    int kind;                     /* REPRODUCE_*, below */
    npmd_status status;
    char text[512];                    /* why it failed */
    double figure[FIGURES];            /* NaN: not known */
    double share;                      /* of its steps, while it runs */
    size_t bytes[REPRODUCE_DATA_MOST]; /* of its data, which follow in the pipe */
} reproduce_result;
enum { REPRODUCE_PROGRESS, REPRODUCE_DONE, REPRODUCE_FAILED };

typedef struct reproduce_task { /* one row on one replicate */
    const reproduce_row *row;
    int replicate;
    char *options; /* the row's, the seed among them */
    char *data;    /* in words */
    char *line;    /* of the file: its beginning, up to the numbers; once done, all of it */
    bool done, failed;
    reproduce_result result;
    char *rows[REPRODUCE_DATA_MOST]; /* its data as text, "[1,2],[3,4]", until the line has them */
} reproduce_task;

typedef struct reproduce_pairs reproduce_pairs;       /* connectivity.h */
typedef struct reproduce_gauntlet reproduce_gauntlet; /* gauntlet.h */

typedef struct reproduce_plan {
    const cli_args *args;
    const reproduce_experiment *experiment;
    const char *domain_name; /* "T2", or NULL: all of the table */
    const char *folder;      /* of data files, or NULL */
    const char *truth_path;  /* or NULL: by a recipe */
    const char *out;         /* or NULL */
    bool truth_seeded;
    uint64_t truth_seed, seed;
    size_t n; /* points of a replicate; 0: all of its file */
    int replicates, jobs;
    npmd_compute how;
    reproduce_task *tasks;
    int count;
    const reproduce_pairs *pairs;       /* NULL: points of a known density */
    const reproduce_gauntlet *gauntlet; /* NULL: it is another experiment */
} reproduce_plan;

/* cmd_reproduce.c: the fits of a plan, made, run and kept in a file; those of --methods, of each row's domain. */
int reproduce_tasks(reproduce_plan *plan);
void reproduce_tasks_free(reproduce_plan *plan);
int reproduce_compute(reproduce_plan *plan, const char *results);
int reproduce_count(const cli_args *args, const char *name, int most, int *out); /* 1 to most */
int reproduce_check_steps(const cli_args *args);
/* Refuses options of other experiments' groups. */
int reproduce_check_groups(const cli_args *args);
CLI_FORMAT(1, 2) char *reproduce_words(const char *format, ...); /* free it; NULL: no memory */

void reproduce_hash_text(uint64_t *hash, const char *text); /* FNV-1a, which starts with REPRODUCE_HASH */
bool reproduce_hash_file(uint64_t *hash, const char *path); /* false: it cannot be read */
#define REPRODUCE_HASH UINT64_C(0xcbf29ce484222325)

char *reproduce_file_of(const reproduce_plan *plan, int replicate); /* a replicate's points; free it */
char *reproduce_beside(const char *out, const char *suffix);        /* FILE.jsonl gives FILE_suffix; free it */

/* All in processes of their own. The library's threads do not survive a fork, so this one computes nothing. */
int reproduce_check(const reproduce_plan *plan); /* truth and data can be read */
/* Runs what is not done; `keep` is called as each ends, and a status of its own other than 0 stops all. */
int reproduce_run(reproduce_plan *plan, int (*keep)(reproduce_task *task, void *user), void *user);

/* In the process of a task. */
typedef struct reproduce_text {
    char *text;
    size_t length, room;
    bool failed; /* memory ran out */
} reproduce_text;
void reproduce_text_row(reproduce_text *t, const double *x, int count); /* adds "[1,2,3]"; NaN: null */
struct reproduce_child {
    const reproduce_plan *plan;
    const reproduce_task *task; /* NULL: only reads */
    const npmd_truth *truth;
    const npmd_domain *domain;
    const npmd_points *points;
    reproduce_result result;
    reproduce_text rows[REPRODUCE_DATA_MOST];
    double until; /* a fit ends after this share of its steps; 0: at its end */
    int attempt;
    bool profile;                                                 /* what a fit logs becomes its first rows, */
    void (*keep_row)(reproduce_child *c, const npmd_report *now); /* in this way; NULL: as a profile */
    double least[REPRODUCE_CRITERIA];
    double told; /* clock of the last progress */
    int parent, fd;
};
const char *reproduce_recipe(const reproduce_plan *plan, const char *domain);
npmd_status reproduce_truth_make(const reproduce_plan *plan, const char *domain, npmd_truth **out, npmd_error *err);
/* The whole of a process, up to its result; and the parts that a measure is made of. */
npmd_status reproduce_child_run(reproduce_child *c, npmd_error *err);
/* The task's; npmd_options_free frees them, after a failure too. */
npmd_status reproduce_options(const reproduce_child *c, npmd_options **options, npmd_error *err);
npmd_status reproduce_fit(reproduce_child *c, npmd_options *options, npmd_model **out, npmd_error *err);
/* n rows of the domain's columns. */
npmd_status reproduce_points(const double *x, size_t n, const npmd_domain *domain, npmd_points **out, npmd_error *err);
npmd_status reproduce_compare(reproduce_child *c, const npmd_model *model, npmd_error *err);
void reproduce_child_tell(reproduce_child *c, const npmd_report *now);
npmd_status reproduce_fail(npmd_error *err, npmd_status st, const char *text);
reproduce_measure measure_fit, measure_encoding, measure_spectral_bias, measure_diagnostics, measure_tau,
    measure_frequencies, measure_pairs, measure_gauntlet;

/* A function on T2: values (G, G) at 2 pi (i, j) / G, coefficients c (G, G, 2), frequency k at k mod G. */
typedef struct reproduce_spectrum {
    int G;
    double *values, *c;
} reproduce_spectrum;
npmd_status reproduce_spectrum_open(int G, reproduce_spectrum *s, npmd_error *err);
npmd_status reproduce_spectrum_of_model(const npmd_model *model, npmd_what what, reproduce_spectrum *s,
                                        npmd_error *err);
const double *reproduce_spectrum_at(const reproduce_spectrum *s, int k1, int k2);
void reproduce_spectrum_close(reproduce_spectrum *s);

typedef struct reproduce_file {
    const char *path; /* NULL: nothing is kept */
    int fd;
} reproduce_file;
int reproduce_line_begin(const reproduce_plan *plan, reproduce_task *task);
double reproduce_line_number(const char *line, const char *key); /* the number behind a key; NaN: there is none */
int reproduce_line_finish(const reproduce_plan *plan, reproduce_task *task); /* the numbers of its result */
/* Opens, takes back a line that was cut off, and marks the tasks that are done. */
int reproduce_file_open(reproduce_plan *plan, const char *path, reproduce_file *file);
int reproduce_file_append(const cli_args *args, reproduce_file *file, const char *line);
void reproduce_file_close(reproduce_file *file);
int reproduce_data_write(const reproduce_plan *plan); /* the files beside --out, from the lines */
int reproduce_report(const reproduce_plan *plan);
void reproduce_report_put(const reproduce_plan *plan, cli_json *j); /* the same as members of an object */
void reproduce_report_words(const reproduce_plan *plan);

#endif
