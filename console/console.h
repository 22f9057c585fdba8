/* cli.h - what the commands of the program `neuropmd` share.
 *
 * A command is one file that defines one table (cli_command) and one line in the list of main.c. The table
 * holds its options; parsing, --help, the suggestions for a misspelt name and the man page are all read from
 * it. The options of a fit are not written here at all: they come from the library's own table,
 * npmd_option_text.
 *
 * stdout holds the result and nothing else; it is written only when all went well, so it is empty after a
 * failure. stderr holds the plan, the progress, the warnings, and for a failure exactly one line. */
#ifndef NEUROPMD_CLI_H
#define NEUROPMD_CLI_H

#include "neuropmd-draw.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- Exit status --------------------------------------------------------------------------------------- */

enum cli_exit {
    CLI_DONE = 0,
    CLI_USAGE = 2,
    CLI_INPUT = 3,
    CLI_NUMERIC = 4,
    CLI_FILE = 5,
    CLI_DEVICE = 6,
    CLI_MEMORY = 7,
    CLI_INTERRUPTED = 130
};
typedef struct cli_exit_text {
    int code;
    const char *meaning; /* NULL ends the table */
} cli_exit_text;
extern const cli_exit_text CLI_EXITS[];

/* ---- Commands and their options ------------------------------------------------------------------------ */

typedef struct cli_option {
    const char *name;     /* without its dashes; NULL ends a table */
    const char *values;   /* what follows it; NULL: nothing does, it is a flag */
    const char *fallback; /* what holds without it, for --help; NULL: nothing to say */
    const char *help;
    bool required;
    const char *group; /* heading in --help; NULL: the command's own */
    bool library;      /* a row of npmd_option_text */
} cli_option;

typedef struct cli_args cli_args;

typedef struct cli_command {
    const char *name;
    const char *operand;              /* the one argument without dashes, "MODEL"; NULL: there is none */
    bool operands;                    /* there may be several of them */
    bool no_operand;                  /* there may be none of them */
    const char *summary;              /* half a line, lower case */
    const char *details;              /* a paragraph for --help and the man page */
    const char *examples;             /* whole lines */
    const cli_option *options;        /* its own */
    bool library_options;             /* all options of the library; else only seed, threads, device */
    bool hidden;                      /* not in the list of commands */
    int (*run)(const cli_args *args); /* returns an exit status */
} cli_command;

const cli_command *cli_command_at(int i); /* NULL after the last */
const cli_command *cli_command_find(const char *name);
/* The command's own options, the library's, the common ones; false after the last. */
bool cli_option_at(const cli_command *command, int i, cli_option *out);

#define CLI_PATH_MOST 1024 /* bytes of a file's name, as the options of the library take them */

/* ---- Arguments ----------------------------------------------------------------------------------------- */

typedef struct cli_given {
    cli_option option;
    const char *value; /* "" for a flag */
} cli_given;

struct cli_args {
    const cli_command *command;
    const char *operand; /* the first of */
    const char **operands;
    int operand_count;
    cli_given *given; /* in the order of the command line */
    int count;
    bool help, json, quiet;
};

int cli_parse(const cli_command *command, int argc, char **argv, cli_args *out);
void cli_args_free(cli_args *args);
const char *cli_value(const cli_args *args, const char *name); /* the last one given, or NULL */
int cli_count(const cli_args *args, const char *name,
              size_t *out); /* a positive integer; *out stays when not given */
int cli_real(const cli_args *args, const char *name, double *out); /* positive; *out stays when not given */
int cli_seed(const cli_args *args, const char *name, uint64_t *out);
/* --seed, --threads and --device of a command that is not a fit, by the library's own rules. */
int cli_compute(const cli_args *args, uint64_t *seed, npmd_compute *how);
/* --given 1,3 and --at FILE, or --at with numbers: the factors, and points of their product. */
npmd_status cli_given_points(const cli_args *args, const npmd_domain *domain, unsigned coords,
                             unsigned *given, npmd_points **at, npmd_error *err);
npmd_status cli_coords(const cli_args *args, unsigned *out, npmd_error *err);
/* The domain as --max-distance has it; and points of a file, read so. */
npmd_status cli_domain_near(const cli_args *args, const npmd_domain *domain, npmd_domain **out,
                            npmd_error *err);
npmd_status cli_points(const cli_args *args, const char *path, const npmd_domain *domain, unsigned coords,
                       npmd_points **out, npmd_error *err);
/* --max-distance by itself: a number above 0, or inf; 0: not given. */
int cli_distance(const cli_args *args, double *out);
/* Is the surface registered to the sphere: the same faces, about the origin? The paths open the message. */
npmd_status cli_registered(const char *surface_path, const npmd_surface *surface, const char *sphere_path,
                           const npmd_surface *sphere, npmd_error *err);
/* Says so if an integral is known less well than was asked for (0: than 1e-3): its error in the log. */
void cli_accuracy_missed(const cli_args *args, double error, double accuracy);
/* Refuses two names of one file, of which one would overwrite the other. Either may be NULL. */
int cli_distinct(const cli_args *args, const char *label, const char *path, const char *other_label,
                 const char *other);
#define CLI_OPTION_ACCURACY                                                                                  \
    {                                                                                                        \
        .name = "accuracy", .values = "X", .fallback = "1e-3",                                               \
        .help = "standard error wanted of the log of each integral"                                          \
    }
/* The name nearest to a misspelt one: start from {.wanted = word}, try all; best is NULL if none is near. */
typedef struct cli_nearest {
    const char *wanted, *best;
    int distance;
} cli_nearest;
void cli_nearest_try(cli_nearest *near, const char *name);

/* ---- Failures: one line on stderr, and the exit status ------------------------------------------------- */

#if defined(__GNUC__)
#define CLI_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_FORMAT(f, a)
#endif

int cli_fail(const cli_args *args, int code, const char *format, ...) CLI_FORMAT(3, 4);
int cli_refuse(const cli_args *args, const npmd_error *err);
void cli_note(const cli_args *args, const char *format, ...) CLI_FORMAT(2, 3); /* silent under --quiet */

/* What put prints, to a file: first in memory, so that nothing half written can come of it. */
int cli_write(const cli_args *args, const char *path, void (*put)(FILE *f, const void *user),
              const void *user);

/* Room for rows x cols doubles, or NULL after saying why (the exit status is then CLI_MEMORY). */
double *cli_doubles(const cli_args *args, size_t rows, size_t cols);

/* ---- Results for programs: one JSON object ------------------------------------------------------------- */

typedef struct cli_json {
    char *text;
    size_t length, room;
    bool comma, failed; /* failed: memory ran out; the object is then not printed */
} cli_json;

void cli_json_begin(cli_json *j); /* from {0}, or again to reuse the room */
void cli_json_text(cli_json *j, const char *key, const char *value); /* NULL: null */
void cli_json_number(cli_json *j, const char *key, double value);    /* not finite: null */
void cli_json_finite(cli_json *j, const char *key, double value);    /* not finite: left out */
void cli_json_signed(cli_json *j, const char *key, int64_t value);
void cli_json_unsigned(cli_json *j, const char *key, uint64_t value);
void cli_json_flag(cli_json *j, const char *key, bool value);
void cli_json_list(cli_json *j, const char *key);
void cli_json_item(cli_json *j, const char *value);
void cli_json_items(cli_json *j, const char *key, const double *value, size_t count); /* a list of numbers */
void cli_json_list_end(cli_json *j);
void cli_json_object(cli_json *j); /* an object in a list, to be filled */
void cli_json_object_end(cli_json *j);
void cli_json_whole(cli_json *j, const char *object); /* one that is text already */
void cli_json_end(cli_json *j);                       /* one line with its newline */
void cli_json_free(cli_json *j);
int cli_json_print(const cli_args *args, cli_json *j); /* ends, prints on stdout, frees */

/* ---- Results for people -------------------------------------------------------------------------------- */

typedef struct cli_words {
    char text[96];
} cli_words;

cli_words cli_words_count(uint64_t n);          /* 100,000 */
cli_words cli_words_bytes(uint64_t bytes);      /* 12.3 MiB */
cli_words cli_words_time(double seconds);       /* 3 min 20 s */
cli_words cli_words_error(double x, double se); /* 1.2346 +- 0.0021, the digits its error leaves */

void cli_row(FILE *stream, const char *label, const char *format, ...) CLI_FORMAT(3, 4);
/* A JSON object of the library as aligned lines; the key `without` (or NULL) is left out. */
void cli_listing(const char *json, const char *without);

double cli_clock(void); /* seconds, from whenever */

/* ---- interrupt.c ---------------------------------------------------------------------------------------- */

/* restart: system calls that a signal meets go on; else they fail with EINTR. */
void cli_watch_signals(bool restart);
bool cli_interrupted(void);

typedef struct cli_progress {
    const cli_args *args;
    bool terminal, drawn;
    int attempt, member;
    const char *part;
    int64_t first_step;          /* of this attempt, for the rate */
    int64_t last_step;           /* a smaller one is another fit's */
    double first_seconds, shown; /* shown: clock of the last line */
    double began;                /* clock */
} cli_progress;

void cli_progress_begin(cli_progress *p, const cli_args *args);
/* An npmd_progress, whatever is computed; the user is a cli_progress. Stops at an interrupt. */
int cli_progress_show(const npmd_report *now, void *progress);
void cli_progress_end(cli_progress *p); /* leaves the cursor on a fresh line */

/* ---- The log of a fit ---------------------------------------------------------------------------------- */

typedef struct cli_log {
    FILE *file; /* NULL: there is none */
    const char *path;
    bool old;  /* lines of the run before may be there */
    bool made; /* there was no such file before */
    cli_json line;
    int error; /* errno of the first line that could not be written */
} cli_log;

int cli_log_open(const cli_args *args, cli_log *log, const char *path, bool resumed); /* path NULL: no log */
void cli_log_report(cli_log *log, const npmd_report *now);
void cli_log_discard(cli_log *log); /* a fit was refused: a new log in which nothing stands goes */
int cli_log_close(const cli_args *args,
                  cli_log *log); /* from {0} too; a log that is not whole is a failure */

/* ---- cmd_fit.c: what fit and select share ------------------------------------------------------------------ */

/* over NULL: a plain fit; else lists "option=v1:v2" to choose from first, maybe none. */
int cli_fit(const cli_args *args, const char *const *over, int lists);
/* clang-format off */
#define CLI_OPTION_DOMAIN                                                                                    \
    { .name = "domain", .values = "D", .required = true,                                                     \
      .help = "product of circles, spheres and closed triangulated surfaces: S1^2, T4 (= S1^4), \"S2 x S1\", " \
              "mesh:lh.white.gii^2 (.obj .off .ply .vtk .gii or FreeSurfer's)" }
#define CLI_OPTION_MAX_DISTANCE                                                                              \
    { .name = "max-distance", .values = "X",                                                                 \
      .help = "how far from its surface a point may lie, in the mesh's units; inf: any distance; of itself " \
              "a thousandth of the square root of the area" }
#define CLI_OPTION_DATA                                                                                      \
    { .name = "data", .values = "FILE", .required = true,                                                    \
      .help = "the points, one a row: an angle in radians for each S1, x y z for each S2 or surface; .csv .tsv .txt "   \
              "(or .gz), .npy, .mat:VARIABLE" }
#define CLI_OPTIONS_OF_A_FIT                                                                                 \
    { .name = "weights", .values = "FILE", .help = "one weight a point, none negative" },                    \
    { .name = "coords", .values = "latlon|degrees|latlon,degrees",                                           \
      .help = "the data hold latitude, longitude in degrees for each S2; degrees for each S1" },             \
    CLI_OPTION_MAX_DISTANCE,                                                                                 \
    { .name = "elements", .values = "1|2",                                                                   \
      .help = "finite elements of a surface's eigenfunctions: linear (default) or quadratic" },              \
    { .name = "config", .values = "FILE",                                                                    \
      .help = "options from a JSON object; read after --preset, before the other options" },                 \
    { .name = "truth", .values = "FILE",                                                                     \
      .help = "a known density: the reports then hold nise and ae against it" },                             \
    { .name = "log", .values = "FILE", .help = "one JSON line a report" }
/* clang-format on */

/* ---- marginal_regions.c ------------------------------------------------------------------------------------- */

int marginal_regions(const cli_args *args); /* marginal, with --roi */

/* ---- choice.c: what a model's options were chosen by --------------------------------------------------------- */

void cli_choice_line(const npmd_model *model);  /* on stdout, nothing if there was no choice */
void cli_choice_words(const npmd_model *model); /* the table, and the criterion against tau */
void cli_choice_json(cli_json *j, const npmd_model *model);
int cli_choice_write(const cli_args *args, const npmd_model *model, const char *path);

/* ---- Reproducing the paper ----------------------------------------------------------------------------- */

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
typedef struct reproduce_experiment {
    const char *name; /* NULL ends the list */
    const char *title;
    const reproduce_row *rows;
    const reproduce_published *published;
    npmd_status (*measure)(reproduce_child *c, npmd_error *err);
    const int *figures; /* of a line, in its order; FIGURES_END ends them */
    const reproduce_column *columns;
    const reproduce_data *data;
    const char *note;     /* under the table */
    size_t n;             /* points; 0: 10,000 on T2, 100,000 on T4 */
    bool every_dimension; /* all domains of the table, unless --domain says which; a truth made for each */
    bool pairs;           /* of end points, in the place of a known density: connectivity */
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

typedef struct reproduce_pairs {                    /* one tractogram */
    const char *tracks, *data;                      /* one of them, the other NULL */
    const char *surface, *sphere, *labels, *region; /* NULL: not given */
    const char *domain;                             /* as --domain says it */
    bool surfaces;                                  /* it is the surface, not its sphere */
    bool unordered;
    double max_distance;    /* of an end from the surface; 0: not given */
    char inputs[17];        /* hash of what the pairs are made of: files, and the space of tracks */
    char *name, *folder;    /* of its results */
    char *points, *results; /* files of pairs, and of lines */
} reproduce_pairs;

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
    const reproduce_pairs *pairs; /* NULL: points of a known density */
} reproduce_plan;

/* cmd_reproduce.c: the fits of a plan, made, run and kept in a file; those of --methods, of each row's domain. */
int reproduce_tasks(reproduce_plan *plan);
void reproduce_tasks_free(reproduce_plan *plan);
int reproduce_compute(reproduce_plan *plan, const char *results);
int reproduce_count(const cli_args *args, const char *name, int most, int *out); /* 1 to most */
int reproduce_check_steps(const cli_args *args);
CLI_FORMAT(1, 2) char *reproduce_words(const char *format, ...); /* free it; NULL: no memory */

/* reproduce_connectivity.c, reproduce_pairs.c, reproduce_maps.c */
int reproduce_connectivity(const cli_args *args);
char *reproduce_model_of(const reproduce_plan *plan, const reproduce_row *row); /* its file; free it */
npmd_status reproduce_pairs_check(const reproduce_plan *plan, npmd_error *err);
npmd_status reproduce_pairs_read(const reproduce_plan *plan, npmd_domain **domain, npmd_points **points,
                                 npmd_error *err);
npmd_status measure_pairs(reproduce_child *c, npmd_error *err);
/* The likelihood per area of the surface of fits that were done before without one; after all fits. */
int reproduce_pairs_areas(const reproduce_plan *plan);
/* "model": of a line, the hash of its file's bytes: does the file still hold that model? */
bool reproduce_model_is_there(const reproduce_plan *plan, const reproduce_task *task);
void reproduce_hash_text(uint64_t *hash, const char *text); /* FNV-1a, which starts with REPRODUCE_HASH */
bool reproduce_hash_file(uint64_t *hash, const char *path); /* false: it cannot be read */
#define REPRODUCE_HASH UINT64_C(0xcbf29ce484222325)
int reproduce_maps(const reproduce_plan *plan); /* of the first replicate */

char *reproduce_file_of(const reproduce_plan *plan, int replicate); /* a replicate's points; free it */
/* FILE.jsonl gives FILE_suffix; free it. */
char *reproduce_beside(const char *out, const char *suffix);

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
    bool profile; /* what a fit logs becomes its first rows, */
    void (*keep_row)(reproduce_child *c, const npmd_report *now); /* in this way; NULL: as a profile */
    double least[REPRODUCE_CRITERIA];
    int parent, fd;
    double told;
};
const char *reproduce_recipe(const reproduce_plan *plan, const char *domain);
npmd_status reproduce_truth_make(const reproduce_plan *plan, const char *domain, npmd_truth **out,
                                 npmd_error *err);
/* The whole of a process, up to its result; and the parts that a measure is made of. */
npmd_status reproduce_child_run(reproduce_child *c, npmd_error *err);
/* The task's; npmd_options_free frees them, after a failure too. */
npmd_status reproduce_options(const reproduce_child *c, npmd_options **options, npmd_error *err);
npmd_status reproduce_fit(reproduce_child *c, npmd_options *options, npmd_model **out, npmd_error *err);
/* n rows of the domain's columns. */
npmd_status reproduce_points(const double *x, size_t n, const npmd_domain *domain, npmd_points **out,
                             npmd_error *err);
npmd_status reproduce_compare(reproduce_child *c, const npmd_model *model, npmd_error *err);
void reproduce_child_tell(reproduce_child *c, const npmd_report *now);
npmd_status reproduce_fail(npmd_error *err, npmd_status st, const char *text);

npmd_status measure_fit(reproduce_child *c, npmd_error *err);
npmd_status measure_encoding(reproduce_child *c, npmd_error *err);
npmd_status measure_spectral_bias(reproduce_child *c, npmd_error *err);
npmd_status measure_diagnostics(reproduce_child *c, npmd_error *err);
npmd_status measure_tau(reproduce_child *c, npmd_error *err);
npmd_status measure_frequencies(reproduce_child *c, npmd_error *err);

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
int reproduce_line_finish(const reproduce_plan *plan, reproduce_task *task); /* the numbers of its result */
/* Opens, takes back a line that was cut off, and marks the tasks that are done. */
int reproduce_file_open(reproduce_plan *plan, const char *path, reproduce_file *file);
int reproduce_file_append(const cli_args *args, reproduce_file *file, const char *line);
void reproduce_file_close(reproduce_file *file);

int reproduce_data_write(const reproduce_plan *plan); /* the files beside --out, from the lines */
int reproduce_report(const reproduce_plan *plan);
void reproduce_report_put(const reproduce_plan *plan, cli_json *j); /* the same as members of an object */
void reproduce_report_words(const reproduce_plan *plan);

/* ---- Help ---------------------------------------------------------------------------------------------- */

void cli_help_program(FILE *stream);
void cli_help_command(const cli_command *command);
void cli_synopsis(const cli_command *command,
                  FILE *stream); /* "fit --domain D --data FILE --out FILE [options]" */

/* ---- plot_surfaces.c: of plot, what belongs to surfaces, streamlines and eigenfunctions ----------------------------- */

#define PLOT_SURFACES_MOST 64
typedef struct plot_surfaces {
    npmd_plot_surfaces ask;
    bool used; /* something of it was given */
    const char *folder[PLOT_SURFACES_MOST], *tracks[PLOT_SURFACES_MOST];
} plot_surfaces;
/* Takes a file of values or a folder of results; false: it is neither. */
bool plot_surfaces_operand(plot_surfaces *s, const char *path);
int plot_surfaces_read(const cli_args *args, plot_surfaces *s); /* after the operands */

#endif
