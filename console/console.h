/* console.h - what all commands of the program `neuropmd` share: arguments, help, messages, progress, JSON.
 *
 * A command is one table (cli_command) with its options; parsing, --help, suggestions for misspelt names and the manual
 * page all use it. The options of a fit come from the library's own table, npmd_option_text. Only cli/main.c has the
 * list of commands.
 *
 * stdout has the result and nothing else, and is empty after a failure. stderr has the plan, the progress and the
 * warnings, and exactly one line for a failure. */
#ifndef NEUROPMD_CONSOLE_H
#define NEUROPMD_CONSOLE_H

#include "facts.h"
#include "neuropmd-surfaces.h"

#include <stdarg.h>
#include <stdio.h>

/* As in the library: a function that owns something has one exit, at the label done. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((st = (call)) != NPMD_OK)                                                                                  \
            goto done;                                                                                                 \
    } while (0)

/* ---- Exit status ------------------------------------------------------------------------------------------------- */

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

/* ---- Commands and their options ---------------------------------------------------------------------------------- */

typedef struct cli_option {
    const char *name;            /* without dashes; NULL ends a table */
    const char *values;          /* text for the value in --help; NULL, without names: a flag */
    const char *(*names)(int i); /* instead: the possible values, NULL after the last, as npmd_what_name */
    const char *fallback;        /* default, for --help; NULL: none */
    const char *help;
    bool required;
    const char *group; /* heading in --help; NULL: the command's own */
    bool library;      /* a row of npmd_option_text */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *operand;              /* the argument without dashes, "MODEL"; NULL: none */
    bool operands;                    /* there may be several operands */
    bool no_operand;                  /* the operand may be absent */
    const char *summary;              /* half a line, lower case */
    const char *details;              /* a paragraph for --help and the man page */
    const char *examples;             /* whole lines */
    const cli_option *options;        /* the command's own options */
    bool library_options;             /* it takes all options of the library; else only seed, threads, device */
    bool hidden;                      /* not in the list of commands */
    int (*run)(const cli_args *args); /* returns an exit status */
} cli_command;

/* The i-th of the command's own options, the library's and the common ones; false after the last. */
bool cli_option_at(const cli_command *command, int i, cli_option *out);
bool cli_option_is_flag(const cli_option *option);

#define CLI_PATH_MOST 1024 /* bytes of a file's name, as in the options of the library */

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef struct cli_given {
    cli_option option;
    const char *value; /* "" for a flag */
} cli_given;

struct cli_args {
    const cli_command *const *commands; /* all commands, then NULL */
    const cli_command *command;
    const char *operand; /* the first of operands */
    const char **operands;
    int operand_count;
    cli_given *given; /* in the order of the command line */
    int count;
    bool help, json, quiet;
};

/* Parses the arguments of a command; the caller sets out->commands and out->command. */
int cli_parse(int argc, char **argv, cli_args *out);
void cli_args_free(cli_args *args);
const char *cli_value(const cli_args *args, const char *name); /* the last value given, or NULL */
/* A positive integer; *out is unchanged if not given. */
int cli_count(const cli_args *args, const char *name, size_t *out);
int cli_real(const cli_args *args, const char *name, double *out); /* positive; *out is unchanged if not given */
int cli_seed(const cli_args *args, const char *name, uint64_t *out);
/* Numbers between commas, each times scale; with all the word "all" is pi. How many there are, or -1. */
int cli_numbers(const char *text, int most, double scale, bool all, double *out);
/* --seed, --threads and --device of a command that is not a fit, by the library's own rules. */
int cli_compute(const cli_args *args, uint64_t *seed, npmd_compute *how);
/* --given 1,3 with --at FILE or --at NUMBERS: the factors, and points of their product. */
npmd_status cli_given_points(const cli_args *args, const npmd_domain *domain, unsigned coords, unsigned *given,
                             npmd_points **at, npmd_error *err);
npmd_status cli_coords(const cli_args *args, unsigned *out, npmd_error *err);
/* The points of a file, on the domain with --max-distance. */
npmd_status cli_points(const cli_args *args, const char *path, const npmd_domain *domain, unsigned coords,
                       npmd_points **out, npmd_error *err);
/* --max-distance alone: a number above 0, or inf; 0: not given. */
int cli_distance(const cli_args *args, double *out);
/* An error unless the surface is registered to the sphere: equal faces, and a sphere about the origin. The paths open
 * the message. */
npmd_status cli_registered(const char *surface_path, const npmd_surface *surface, const char *sphere_path,
                           const npmd_surface *sphere, npmd_error *err);
/* Warns if error, the standard error of a log integral, exceeds the accuracy asked for (0: NPMD_ACCURACY). */
void cli_accuracy_missed(const cli_args *args, double error, double accuracy);
bool cli_ends_with(const char *path, const char *suffix); /* in letters of either case, and more before it */
/* Refuses two paths to the same file, since one would overwrite the other. Either may be NULL. */
int cli_distinct(const cli_args *args, const char *label, const char *path, const char *other_label, const char *other);
/* Checks an output by one of the library's functions, and claims it until the program ends: a second run that would
 * write to it is refused. */
npmd_status cli_output(npmd_status (*check)(const char *path, npmd_error *err), const char *path, npmd_error *err);
/* Finds the name nearest to a misspelt one: start from {.wanted = word}, try all; best is NULL if none is near. */
typedef struct cli_nearest {
    const char *wanted, *best;
    int distance;
} cli_nearest;
void cli_nearest_try(cli_nearest *near, const char *name);

/* ---- Failures: one line on stderr, and the exit status ----------------------------------------------------------- */

#if defined(__GNUC__)
#define CLI_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_FORMAT(f, a)
#endif

int cli_fail(const cli_args *args, int code, const char *format, ...) CLI_FORMAT(3, 4);
int cli_refuse(const cli_args *args, const npmd_error *err);
int cli_checked(const cli_args *args, bool failed, const npmd_error *err); /* CLI_DONE, or refused */
int cli_exit_of(npmd_status st);                                           /* of a failure */
/* Rewrites a message of the library, which has names of options in back quotes: `tau` becomes --tau. */
void cli_respell(const char *text, char *out, size_t size);
void cli_note(const cli_args *args, const char *format, ...) CLI_FORMAT(2, 3); /* silent under --quiet */
void cli_say(const cli_args *args, const char *format, va_list values);        /* always one line, whatever the text */

/* Writes what put prints to a file; first to memory, so that the file is never incomplete. */
int cli_write(const cli_args *args, const char *path, void (*put)(FILE *f, const void *user), const void *user);

/* Allocates rows x cols doubles; NULL after a message (the exit status is then CLI_MEMORY). */
double *cli_doubles(const cli_args *args, size_t rows, size_t cols);

/* ---- Results for people ------------------------------------------------------------------------------------------ */

typedef struct cli_words {
    char text[128];
} cli_words;

cli_words cli_words_of(const char *format, ...) CLI_FORMAT(1, 2);
void cli_append(char *text, size_t size, const char *format, ...) CLI_FORMAT(3, 4); /* behind what is there */
cli_words cli_words_count(uint64_t n);                                              /* 100,000 */
cli_words cli_words_bytes(uint64_t bytes);                                          /* 12.3 MiB */
cli_words cli_words_time(double seconds);                                           /* 3 min 20 s */
cli_words cli_words_error(double x, double se); /* 1.2346 +- 0.0021, to the digits that the error allows */

void cli_row(FILE *stream, const char *label, const char *format, ...) CLI_FORMAT(3, 4);
/* Prints a JSON object of the library: with --json as it is, else as aligned lines, without this key (or NULL). */
void cli_listing(const cli_args *args, const char *json, const char *without);

/* ---- While something is computed --------------------------------------------------------------------------------- */

/* restart: interrupted system calls are restarted; else they fail with EINTR. */
void cli_watch_signals(bool restart);
void cli_leave_signals(void); /* those that are watched end the program again, as in a child made by fork they must */
void cli_watch_files(void);   /* a mapped file that becomes shorter ends the program with CLI_FILE and a sentence */
bool cli_interrupted(void);
double cli_clock(void);         /* seconds since an arbitrary time */
uint64_t cli_peak_memory(void); /* of this process so far, bytes; 0: not known */

typedef struct cli_progress {
    const cli_args *args;
    bool terminal, drawn;
    int attempt, member;
    const char *part;
    int64_t first_step;          /* first step of this attempt, for the speed */
    int64_t last_step;           /* a smaller step begins another fit */
    double first_seconds, shown; /* shown: time of the last line */
    double began;                /* time of the start */
} cli_progress;

void cli_progress_begin(cli_progress *p, const cli_args *args);
void cli_progress_watch(cli_progress *p, const cli_args *args, npmd_compute *how); /* begins; how tells it */
/* An npmd_progress for any computation; user is a cli_progress. Stops after an interrupt. */
int cli_progress_show(const npmd_report *now, void *progress);
void cli_progress_end(cli_progress *p); /* leaves the cursor on a new line */

/* ---- The log of a fit -------------------------------------------------------------------------------------------- */

typedef struct cli_log {
    FILE *file; /* NULL: no log */
    const char *path;
    bool old;  /* it may have lines of an earlier run */
    bool made; /* the file is new */
    cli_json line;
    int error; /* errno of the first line that could not be written */
} cli_log;

int cli_log_open(const cli_args *args, cli_log *log, const char *path, bool resumed); /* path NULL: no log */
void cli_log_report(cli_log *log, const npmd_report *now);
void cli_log_discard(cli_log *log);                    /* after a fit was refused: removes a new, empty log */
int cli_log_close(const cli_args *args, cli_log *log); /* accepts {0}; an incomplete log is a failure */

/* ---- Help -------------------------------------------------------------------------------------------------------- */

void cli_help_program(const cli_command *const *commands, FILE *stream);
void cli_help_command(const cli_command *command);
void cli_synopsis(const cli_command *command, FILE *stream); /* "fit --domain D --data FILE --out FILE [options]" */
cli_words cli_option_values(const cli_option *option);       /* its value: "FILE", "on|off"; "" for a flag */
/* The values of an open option of the library on some domains, "3 on S1, T2; 4 on T4"; "": none. */
void cli_option_usual(const cli_option *option, char *text, size_t size);
int cli_manual(const cli_args *args); /* prints the manual page of all commands, in troff */

#endif
