/* console.h - what all commands of the program `neuropmd` share with a terminal: arguments, help, words, progress,
 * JSON.
 *
 * A command is one table (cli_command) that holds its options; parsing, --help, the suggestions for a misspelt name and
 * the manual page are all read from it. The options of a fit are not written in the program at all: they come from the
 * library's own table, npmd_option_text. Which commands there are is known to cli/main.c alone.
 *
 * stdout holds the result and nothing else; it is written only when all went well, so it is empty after a
 * failure. stderr holds the plan, the progress, the warnings, and for a failure exactly one line. */
#ifndef NEUROPMD_CONSOLE_H
#define NEUROPMD_CONSOLE_H

#include "neuropmd-surfaces.h"

#include <stdarg.h>
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
    const char *name;            /* without its dashes; NULL ends a table */
    const char *values;          /* what follows it; NULL, and no names: nothing does, it is a flag */
    const char *(*names)(int i); /* instead: what may follow it, NULL after the last, as npmd_what_name */
    const char *fallback;        /* what holds without it, for --help; NULL: nothing to say */
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

/* The command's own options, the library's, the common ones; false after the last. */
bool cli_option_at(const cli_command *command, int i, cli_option *out);
bool cli_option_is_flag(const cli_option *option);

#define CLI_PATH_MOST 1024 /* bytes of a file's name, as the options of the library take them */

/* ---- Arguments ----------------------------------------------------------------------------------------- */

typedef struct cli_given {
    cli_option option;
    const char *value; /* "" for a flag */
} cli_given;

struct cli_args {
    const cli_command *const *commands; /* all there are, then NULL */
    const cli_command *command;
    const char *operand; /* the first of */
    const char **operands;
    int operand_count;
    cli_given *given; /* in the order of the command line */
    int count;
    bool help, json, quiet;
};

/* Of this command; out->commands and out->command are set before. */
int cli_parse(int argc, char **argv, cli_args *out);
void cli_args_free(cli_args *args);
const char *cli_value(const cli_args *args, const char *name);      /* the last one given, or NULL */
int cli_count(const cli_args *args, const char *name, size_t *out); /* a positive integer; *out stays when not given */
int cli_real(const cli_args *args, const char *name, double *out);  /* positive; *out stays when not given */
int cli_seed(const cli_args *args, const char *name, uint64_t *out);
/* --seed, --threads and --device of a command that is not a fit, by the library's own rules. */
int cli_compute(const cli_args *args, uint64_t *seed, npmd_compute *how);
/* --given 1,3 and --at FILE, or --at with numbers: the factors, and points of their product. */
npmd_status cli_given_points(const cli_args *args, const npmd_domain *domain, unsigned coords, unsigned *given,
                             npmd_points **at, npmd_error *err);
npmd_status cli_coords(const cli_args *args, unsigned *out, npmd_error *err);
/* The domain as --max-distance has it; and points of a file, read so. */
npmd_status cli_domain_near(const cli_args *args, const npmd_domain *domain, npmd_domain **out, npmd_error *err);
npmd_status cli_points(const cli_args *args, const char *path, const npmd_domain *domain, unsigned coords,
                       npmd_points **out, npmd_error *err);
/* --max-distance by itself: a number above 0, or inf; 0: not given. */
int cli_distance(const cli_args *args, double *out);
/* Is the surface registered to the sphere: the same faces, about the origin? The paths open the message. */
npmd_status cli_registered(const char *surface_path, const npmd_surface *surface, const char *sphere_path,
                           const npmd_surface *sphere, npmd_error *err);
/* Says so if an integral is known less well than was asked for (0: NPMD_ACCURACY): its error in the log. */
void cli_accuracy_missed(const cli_args *args, double error, double accuracy);
/* Refuses two names of one file, of which one would overwrite the other. Either may be NULL. */
int cli_distinct(const cli_args *args, const char *label, const char *path, const char *other_label, const char *other);
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
int cli_exit_of(npmd_status st); /* of a failure */
/* A sentence of the library, which puts names of options between back quotes, with `tau` as --tau. */
void cli_respell(const char *text, char *out, size_t size);
void cli_note(const cli_args *args, const char *format, ...) CLI_FORMAT(2, 3); /* silent under --quiet */
void cli_say(const cli_args *args, const char *format, va_list values);        /* one line, whatever it holds */

/* What put prints, to a file: first in memory, so that nothing half written can come of it. */
int cli_write(const cli_args *args, const char *path, void (*put)(FILE *f, const void *user), const void *user);

/* Room for rows x cols doubles, or NULL after saying why (the exit status is then CLI_MEMORY). */
double *cli_doubles(const cli_args *args, size_t rows, size_t cols);

/* ---- Results for programs: one JSON object ------------------------------------------------------------- */

enum { CLI_JSON_DEEPEST = 8 };
typedef struct cli_json {
    struct json_t *open[CLI_JSON_DEEPEST]; /* the object, then what is being filled, each within the one before */
    int depth;                             /* of the last of them */
    char *text;                            /* from cli_json_end on */
    bool failed;                           /* memory ran out; the object is then not printed */
} cli_json;

void cli_json_begin(cli_json *j);                                    /* from {0}, or again for another object */
void cli_json_text(cli_json *j, const char *key, const char *value); /* NULL: null */
void cli_json_number(cli_json *j, const char *key, double value);    /* not finite: null */
void cli_json_finite(cli_json *j, const char *key, double value);    /* not finite: left out */
void cli_json_signed(cli_json *j, const char *key, int64_t value);
void cli_json_unsigned(cli_json *j, const char *key, uint64_t value);
void cli_json_flag(cli_json *j, const char *key, bool value);
void cli_json_list(cli_json *j, const char *key); /* key NULL, here and in items: a list in a list */
void cli_json_item(cli_json *j, const char *value);
void cli_json_items(cli_json *j, const char *key, const double *value, size_t count); /* a list of numbers */
void cli_json_list_end(cli_json *j);
void cli_json_object(cli_json *j); /* an object in a list, to be filled */
void cli_json_object_end(cli_json *j);
void cli_json_whole(cli_json *j, const char *object); /* an item that was printed before, up to its newline */
void cli_json_end(cli_json *j);                       /* one line with its newline */
void cli_json_free(cli_json *j);
int cli_json_print(const cli_args *args, cli_json *j); /* ends, prints on stdout, frees */
char *cli_json_row(const double *x, size_t count);     /* "[1,2.5,null]", of 7 digits; free it, NULL: no memory */

/* ---- Results for people -------------------------------------------------------------------------------- */

typedef struct cli_words {
    char text[128];
} cli_words;

cli_words cli_words_count(uint64_t n);          /* 100,000 */
cli_words cli_words_bytes(uint64_t bytes);      /* 12.3 MiB */
cli_words cli_words_time(double seconds);       /* 3 min 20 s */
cli_words cli_words_error(double x, double se); /* 1.2346 +- 0.0021, the digits its error leaves */

void cli_row(FILE *stream, const char *label, const char *format, ...) CLI_FORMAT(3, 4);
/* A JSON object of the library as aligned lines; the key `without` (or NULL) is left out. */
void cli_listing(const char *json, const char *without);

/* ---- While something is computed ----------------------------------------------------------------------- */

/* restart: system calls that a signal meets go on; else they fail with EINTR. */
void cli_watch_signals(bool restart);
bool cli_interrupted(void);
double cli_clock(void); /* seconds, from whenever */

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
void cli_log_discard(cli_log *log);                    /* a fit was refused: a new log in which nothing stands goes */
int cli_log_close(const cli_args *args, cli_log *log); /* from {0} too; a log that is not whole is a failure */

/* ---- Help ---------------------------------------------------------------------------------------------- */

void cli_help_program(const cli_command *const *commands, FILE *stream);
void cli_help_command(const cli_command *command);
void cli_synopsis(const cli_command *command, FILE *stream); /* "fit --domain D --data FILE --out FILE [options]" */
cli_words cli_option_values(const cli_option *option);       /* what follows it: "FILE", "on|off"; "" of a flag */
/* What an option of the library that is left open becomes on some domains, "3 on S1, T2; 4 on T4"; "": nothing to
 * say. */
void cli_option_usual(const cli_option *option, char *text, size_t size);
int cli_manual(const cli_args *args); /* the manual page of all commands on stdout, in troff */

#endif
