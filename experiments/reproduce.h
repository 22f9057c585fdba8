/* reproduce.h - the command `reproduce`: tables of experiments, processes of their tasks, files of their results.
 *
 * An experiment is a row of REPRODUCE_EXPERIMENTS (reproduce_table.c): rows of methods with settings, figures measured
 * for each, columns of the printed table. Each task runs in its own process (reproduce_run.c), in which one of the
 * functions measure_* measures; results are kept line by line (reproduce_file.c). */
#ifndef NEUROPMD_REPRODUCE_H
#define NEUROPMD_REPRODUCE_H

#include "console.h"

/* The numbers that can be measured in a task: name, key, and whether means are told with their errors; seconds, sizes
 * and counts are told as they are. */
/* clang-format off */
#define REPRODUCE_FIGURES(X)                                                                                           \
    X(N, "n", false) /* points */ X(NISE, "nise", true) X(AE, "ae", true) X(FR, "fr", true) X(KL, "kl", true)          \
    X(TAU, "tau", false) X(SECONDS, "seconds", false) X(PARAMETERS, "parameters", false) /* NaN: unknown */            \
    X(MEMORY, "peak_memory_bytes", false)                                                                              \
    /* the ISE criterion on fresh points, per volume; the error is that of the relative one */                         \
    X(ISE, "ise_criterion", true) X(ISE_RELATIVE, "ise_criterion_relative", true)                                      \
    X(ISE_SE, "ise_criterion_relative_se", false)                                                                      \
    /* spectra: share of the power that is wrong; LOW: up to frequency 4 */                                            \
    X(MISSED, "missed", true) X(MISSED_LOW, "missed_low", true)                                                        \
    /* frequencies; FUNCTIONS: in the encoding */                                                                      \
    X(FUNCTIONS, "functions", false) X(FOUND, "found", false) X(DEGREE, "degree", false)                               \
    X(TRUNCATION, "truncation", false) X(PERMITTED, "permitted", false) X(OUTSIDE, "outside", false)                   \
    X(OUTSIDE_PAPER, "outside_paper", false) X(LARGEST_OUTSIDE_PAPER, "largest_outside_paper", false)                  \
    X(EDGE, "edge", false)                                                                                             \
    /* diagnostics: SNR: at the end; MINIMUM: epochs of the last running minima */                                     \
    X(SNR_A, "snr_a", false) X(SNR_B, "snr_b", false) X(SNR_C, "snr_c", false)                                         \
    X(MINIMUM_ISE, "last_minimum_ise", false) X(MINIMUM_A, "last_minimum_snr_a", false)                                \
    X(MINIMUM_B, "last_minimum_snr_b", false) X(MINIMUM_C, "last_minimum_snr_c", false)                                \
    /* connectivity: held-out pairs, and those that equal a fitted one; the mean of the log-likelihood over them per   \
     * volume, relative to the uniform density, and per squared area of the surface, on both domains */                \
    X(HELD_OUT, "held_out", false) X(LOG_LIKELIHOOD, "log_likelihood", true)                                           \
    X(LOG_LIKELIHOOD_SE, "log_likelihood_se_points", false)                                                            \
    X(LOG_LIKELIHOOD_RELATIVE, "log_likelihood_relative", true)                                                        \
    X(LOG_LIKELIHOOD_SURFACE, "log_likelihood_surface", true) X(SEEN, "held_out_seen", false)                          \
    /* gauntlet: negative log-likelihood of points that were not fitted; COMPARED: by npmd_compare */                  \
    X(KL_SE, "kl_se", false) X(NLL, "nll", false) X(NLL_SE, "nll_se", false)                                           \
    X(KL_COMPARED, "kl_compared", false) X(KL_COMPARED_SE, "kl_compared_se", false)                                    \
    X(LOG_INTEGRAL_SE, "log_integral_se", false)
/* clang-format on */
#define FIGURE_ENTRY(name, key, error) FIGURE_##name,
typedef enum reproduce_figure { REPRODUCE_FIGURES(FIGURE_ENTRY) FIGURES, FIGURES_END = -1 } reproduce_figure;
extern const char *const REPRODUCE_KEYS[FIGURES];
extern const bool REPRODUCE_HAS_ERROR[FIGURES];

/* A row of an experiment: a method with settings, measured on every replicate of one truth. */
typedef struct reproduce_row {
    const char *domain; /* "T2"; NULL ends a table */
    const char *method, *settings;
    const char *options; /* options of fit */
    bool usual;          /* runs unless --methods leaves it out */
} reproduce_row;

typedef struct reproduce_published {
    const char *domain, *method; /* NULL ends a table */
    int figure;
    double mean, se; /* NaN: not given */
} reproduce_published;

typedef struct reproduce_column { /* of the printed table */
    const char *heading;          /* NULL ends it */
    int width;                    /* negative: left-aligned */
    enum { COLUMN_ERROR, COLUMN_NUMBER, COLUMN_COUNT, COLUMN_TIME, COLUMN_BYTES, COLUMN_PAPER } form;
    int figure;
} reproduce_column;

typedef struct reproduce_data { /* rows of numbers in the line of a task; the rows of all tasks make a file */
    const char *key;            /* NULL ends a table */
    const char *suffix;         /* the file is FILE_suffix.csv beside FILE.jsonl */
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
    const int *figures; /* figures of a line, in order; FIGURES_END ends them */
    const reproduce_column *columns;
    const reproduce_data *data;
    const char *note;     /* printed under the table */
    size_t n;             /* points; 0: 10,000 on T2, 100,000 on T4 */
    bool every_dimension; /* runs on all domains of the table, unless --domain names one; each has its own truth */
    int (*run)(const cli_args *args); /* instead of the usual way; NULL: it is the usual one */
} reproduce_experiment;
extern const reproduce_experiment REPRODUCE_EXPERIMENTS[];

const reproduce_experiment *reproduce_find(const char *name);

typedef struct reproduce_result { /* of one task; sent through the pipe from its process as it is */
    int kind;                     /* REPRODUCE_*, below */
    npmd_status status;
    char text[512];                    /* why it failed */
    double figure[FIGURES];            /* NaN: not known */
    double share;                      /* share of its steps done, while it runs */
    size_t bytes[REPRODUCE_DATA_MOST]; /* bytes of its data, which follow in the pipe */
} reproduce_result;
enum { REPRODUCE_PROGRESS, REPRODUCE_DONE, REPRODUCE_FAILED };

typedef struct reproduce_task { /* one row on one replicate */
    const reproduce_row *row;
    int replicate;
    char *options; /* options of the row, with the seed */
    char *data;    /* description of its data */
    char *line;    /* its line of the file: up to the numbers; complete once it is done */
    bool done, failed;
    reproduce_result result;
    char *rows[REPRODUCE_DATA_MOST]; /* its data as text, "[1,2],[3,4]", until they are in the line */
} reproduce_task;

typedef struct reproduce_pairs reproduce_pairs;       /* connectivity.h */
typedef struct reproduce_gauntlet reproduce_gauntlet; /* gauntlet.h */

typedef struct reproduce_plan {
    const cli_args *args;
    const reproduce_experiment *experiment;
    const char *domain_name; /* "T2"; NULL: all domains of the table */
    const char *folder;      /* folder of data files, or NULL */
    const char *truth_path;  /* NULL: made by a recipe */
    const char *out;         /* or NULL */
    bool truth_seeded;
    uint64_t truth_seed, seed;
    size_t n; /* points of a replicate; 0: all points of its file */
    int replicates, jobs;
    npmd_compute how;
    reproduce_task *tasks;
    int count;
    const reproduce_pairs *pairs;       /* NULL: points of a known density are fitted */
    const reproduce_gauntlet *gauntlet; /* NULL: it is another experiment */
} reproduce_plan;

/* cmd_reproduce.c: makes the tasks of a plan (as --methods and --domain ask), runs them and keeps their results. */
int reproduce_tasks(reproduce_plan *plan);
void reproduce_tasks_free(reproduce_plan *plan);
void reproduce_task_free(reproduce_task *task);
/* A task up to its line; steps: --steps shortens it; data is taken over, NULL: no memory. */
int reproduce_task_make(const reproduce_plan *plan, const reproduce_row *row, int replicate, uint64_t seed, bool steps,
                        char *data, reproduce_task *task);
int reproduce_compute(reproduce_plan *plan, const char *results);
int reproduce_count(const cli_args *args, const char *name, int most, int *out); /* 1 to most */
int reproduce_read_jobs(reproduce_plan *plan); /* --jobs, and the cores divided among them */
int reproduce_check_steps(const cli_args *args);
/* Refuses options of other experiments' groups, and those that this one does not know; NULL ends them. */
int reproduce_check_groups(const cli_args *args, const char *const *unknown);
CLI_FORMAT(1, 2) char *reproduce_words(const char *format, ...); /* to be freed; NULL: no memory */

void reproduce_hash_text(uint64_t *hash, const char *text); /* FNV-1a; starts from REPRODUCE_HASH */
bool reproduce_hash_file(uint64_t *hash, const char *path); /* false: it cannot be read */
#define REPRODUCE_HASH UINT64_C(0xcbf29ce484222325)

char *reproduce_file_of(const reproduce_plan *plan, int replicate); /* path of a replicate's points; to be freed */
/* FILE.jsonl gives FILE_, then the three words; to be freed */
char *reproduce_beside(const char *out, const char *prefix, const char *name, const char *ending);

typedef struct reproduce_file {
    const char *path; /* NULL: nothing is kept */
    int fd;
} reproduce_file;
/* Can truth and data be read? This and reproduce_run work in child processes, and the parent computes nothing, since
 * the library's threads do not survive a fork. */
int reproduce_check(const reproduce_plan *plan);
/* Runs the tasks that are not done; the line of each is kept as it ends. */
size_t reproduce_write(int fd, const void *from, size_t size); /* how many bytes; fewer: it failed */
size_t reproduce_read(int fd, void *to, size_t size);
int reproduce_run(reproduce_plan *plan, reproduce_file *file);

/* In the process of a task: text that grows. */
typedef struct reproduce_text {
    char *text;
    size_t length, room;
    bool failed; /* memory ran out */
} reproduce_text;
void reproduce_text_row(reproduce_text *t, const double *x, int count); /* adds "[1,2,3]"; NaN: null */
struct reproduce_child {
    const reproduce_plan *plan;
    const reproduce_task *task; /* NULL: the process only reads */
    /* what it has read and made; freed with it */
    npmd_truth *truth;
    npmd_domain *parsed; /* the domain, where there is no truth that has it */
    npmd_points *all, *training, *held_out;
    npmd_options *options;
    npmd_model *model; /* of the last fit */
    const npmd_domain *domain;
    const npmd_points *points; /* that are fitted */
    reproduce_result result;
    reproduce_text rows[REPRODUCE_DATA_MOST];
    double until; /* share of its steps after which a fit stops; 0: all */
    int attempt;
    bool profile; /* the reports of a fit become its first rows of data */
    void (*keep_row)(reproduce_child *c, const npmd_report *now); /* makes them; NULL: as for a profile */
    double least[REPRODUCE_CRITERIA];
    void *course; /* what keep_row needs beside */
    double told;  /* time of the last progress message */
    int parent, fd;
};
const char *reproduce_recipe(const reproduce_plan *plan, const char *domain);
npmd_status reproduce_truth_make(const reproduce_plan *plan, const char *domain, npmd_truth **out, npmd_error *err);
/* All that the process of a task does, up to its result; below, the parts of a measure. */
npmd_status reproduce_child_run(reproduce_child *c, npmd_error *err);
npmd_status reproduce_options(reproduce_child *c, npmd_error *err); /* those of the task */
npmd_status reproduce_fit(reproduce_child *c, npmd_error *err);
/* Nine tenths of all points are fitted, the others held out, as reproduce_split. */
npmd_status reproduce_hold_out(reproduce_child *c, const uint64_t *seed, npmd_error *err);
/* Points from n rows in the domain's columns. */
npmd_status reproduce_points(const double *x, size_t n, const npmd_domain *domain, npmd_points **out, npmd_error *err);
npmd_status reproduce_draw(const reproduce_plan *plan, const npmd_truth *truth, uint64_t seed, size_t n,
                           npmd_points **out, npmd_error *err);
/* A tenth of the points is held out: drawn by the seed; seed NULL: every tenth. */
npmd_status reproduce_split(const npmd_points *points, const npmd_domain *domain, const uint64_t *seed,
                            npmd_points **training, npmd_points **held_out, npmd_error *err);
uint64_t reproduce_word(uint64_t *state);                           /* the next of a stream: splitmix64 */
npmd_status reproduce_compare(reproduce_child *c, npmd_error *err); /* the model with the truth */
void reproduce_child_tell(reproduce_child *c, const npmd_report *now);
CLI_FORMAT(3, 4) npmd_status reproduce_fail(npmd_error *err, npmd_status st, const char *format, ...);
reproduce_measure measure_fit, measure_encoding, measure_spectral_bias, measure_diagnostics, measure_tau,
    measure_frequencies, measure_pairs, measure_gauntlet;

/* A function on T2: values (G, G) at 2 pi (i, j) / G; Fourier coefficients c (G, G, 2), frequency k at k mod G. */
typedef struct reproduce_spectrum {
    int G;
    double *values, *c;
} reproduce_spectrum;
npmd_status reproduce_spectrum_open(int G, reproduce_spectrum *s, npmd_error *err);
npmd_status reproduce_spectrum_of_model(const npmd_model *model, npmd_what what, reproduce_spectrum *s,
                                        npmd_error *err);
const double *reproduce_spectrum_at(const reproduce_spectrum *s, int k1, int k2);
void reproduce_spectrum_close(reproduce_spectrum *s);

int reproduce_line_begin(const reproduce_plan *plan, reproduce_task *task);
double reproduce_line_number(const char *line, const char *key); /* the number behind a key; NaN: there is none */
int reproduce_line_finish(const reproduce_plan *plan, reproduce_task *task); /* adds the numbers of its result */
/* Opens the file, removes an incomplete last line, and marks the tasks that are done. */
int reproduce_file_open(reproduce_plan *plan, const char *path, reproduce_file *file);
int reproduce_file_append(const cli_args *args, reproduce_file *file, const char *line);
void reproduce_file_close(reproduce_file *file);
int reproduce_data_write(const reproduce_plan *plan); /* writes the files beside --out, from the lines */
int reproduce_report(const reproduce_plan *plan);
void reproduce_report_put(const reproduce_plan *plan, cli_json *j); /* the report as members of a JSON object */
void reproduce_report_words(const reproduce_plan *plan);

#endif
