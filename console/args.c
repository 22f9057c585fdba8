/* args.c - the command line: options from tables, checked values, suggestions for misspelt names.
 *
 *   neuropmd COMMAND [OPERAND] --name value --name=value --flag
 *
 * A value may begin with one dash (--tau -1); a word that begins with two is never a value, so that a missing value is
 * noticed. A lone -- ends the options. Of an option given twice the last counts; only two values of an option that
 * takes a file are refused, since one file would be silently ignored. */
#include "console.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table of a command -------------------------------------------------------------------------------------- */

static const char COMMON_GROUP[] = "every command";

static const cli_option COMMON[] = {
    { "json", .help = "one JSON object on stdout, nothing else there", .group = COMMON_GROUP },
    { "quiet", .help = "no plan, progress, warnings or summary; errors remain", .group = COMMON_GROUP },
    { "help", .help = "this text", .group = COMMON_GROUP },
    { 0 },
};

/* Options of the library that every command takes. */
static bool library_row_is_common(const char *name)
{
    return strcmp(name, "seed") == 0 || strcmp(name, "threads") == 0 || strcmp(name, "device") == 0;
}

static int options_length(const cli_option *rows)
{
    int n = 0;
    while (rows && rows[n].name)
        n++;
    return n;
}

static bool options_have(const cli_option *rows, const char *name)
{
    for (int i = 0; rows && rows[i].name; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

static cli_option option_from_library(int row)
{
    const char *name = npmd_option_text(row, NPMD_OPTION_NAME), *fallback = npmd_option_text(row, NPMD_OPTION_FALLBACK);
    return (cli_option){
        .name = name,
        .values = npmd_option_text(row, NPMD_OPTION_VALUES),
        .fallback = fallback[0] ? fallback : NULL,
        .help = npmd_option_text(row, NPMD_OPTION_HELP),
        .group = library_row_is_common(name) ? COMMON_GROUP : npmd_option_text(row, NPMD_OPTION_GROUP),
        .library = true,
    };
}

/* The library's rows in two passes: those of the fit first, then the three that every command takes. */
bool cli_option_at(const cli_command *command, int i, cli_option *out)
{
    const int own = options_length(command->options);
    if (i < own) {
        *out = command->options[i];
        return true;
    }
    i -= own;
    for (int pass = command->library_options ? 0 : 1; pass < 2; pass++)
        for (int row = 0; npmd_option_text(row, NPMD_OPTION_NAME); row++) {
            const char *name = npmd_option_text(row, NPMD_OPTION_NAME);
            if (library_row_is_common(name) != (pass == 1) || options_have(command->options, name))
                continue;
            if (i-- == 0) {
                *out = option_from_library(row);
                return true;
            }
        }
    if (i >= options_length(COMMON))
        return false;
    *out = COMMON[i];
    return true;
}

bool cli_option_is_flag(const cli_option *option)
{
    return !option->values && !option->names;
}

static bool option_find(const cli_command *command, const char *name, size_t length, cli_option *out)
{
    for (int i = 0; cli_option_at(command, i, out); i++)
        if (strlen(out->name) == length && memcmp(out->name, name, length) == 0)
            return true;
    return false;
}

/* ---- Near misses ------------------------------------------------------------------------------------------------- */

enum { NAME_MOST = 40 };

/* Insertions, deletions, replacements and swaps of neighbours that lead from a to b. */
static int edit_distance(const char *a, const char *b)
{
    int d[NAME_MOST + 1][NAME_MOST + 1];
    const size_t m = strlen(a), n = strlen(b);
    if (m > NAME_MOST || n > NAME_MOST)
        return NAME_MOST;
    for (size_t i = 0; i <= m; i++)
        d[i][0] = (int)i;
    for (size_t j = 0; j <= n; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++)
        for (size_t j = 1; j <= n; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[m][n];
}

/* A name is near when a third of its letters at most are wrong, or when the word is its beginning. */
void cli_nearest_try(cli_nearest *near, const char *name)
{
    const size_t length = strlen(near->wanted);
    int distance = edit_distance(near->wanted, name);
    if (length >= 3 && strncmp(near->wanted, name, length) == 0)
        distance = 1;
    const int allowed = (int)(strlen(name) + 2) / 3;
    if (distance <= allowed && (size_t)distance < length && (!near->best || distance < near->distance)) {
        near->best = name;
        near->distance = distance;
    }
}

static int unknown_option(const cli_args *args, const char *word)
{
    char name[NAME_MOST + 1];
    cli_nearest near = { .wanted = name };
    cli_option row;
    const char *start = word + strspn(word, "-");
    const size_t length = strcspn(start, "=");
    if (length <= NAME_MOST) {
        memcpy(name, start, length);
        name[length] = '\0';
        for (int i = 0; cli_option_at(args->command, i, &row); i++)
            cli_nearest_try(&near, row.name);
    }
    const int shown = (int)strcspn(word, "=");
    if (near.best)
        return cli_fail(args, CLI_USAGE, "unknown option %.*s; did you mean --%s?", shown, word, near.best);
    return cli_fail(args, CLI_USAGE, "unknown option %.*s; see neuropmd %s --help", shown, word, args->command->name);
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static bool option_names_file(const cli_option *option)
{
    return option->values && strncmp(option->values, "FILE", 4) == 0;
}

/* One option at argv[*i]; *i moves to its value when that is a word of its own. */
static int parse_option(cli_args *args, int argc, char **argv, int *i)
{
    const char *word = argv[*i];
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    cli_given *now = &args->given[args->count];
    if (word[1] != '-' || !option_find(args->command, word + 2, length, &now->option))
        return unknown_option(args, word);
    const cli_option *option = &now->option;
    if (cli_option_is_flag(option)) {
        if (equals)
            return cli_fail(args, CLI_USAGE, "--%s takes no value, found '%s'", option->name, equals + 1);
        now->value = "";
    } else if (equals) {
        now->value = equals + 1;
    } else if (*i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0) {
        now->value = argv[++*i];
    }
    if (!cli_option_is_flag(option) && (!now->value || !now->value[0]))
        return cli_fail(args, CLI_USAGE, "--%s needs a value: %s", option->name, cli_option_values(option).text);
    if (option_names_file(option) && cli_value(args, option->name))
        return cli_fail(args, CLI_USAGE, "--%s is given twice, '%s' and '%s'", option->name,
                        cli_value(args, option->name), now->value);
    args->count++;
    return CLI_DONE;
}

static int parse_operand(cli_args *args, const char *word)
{
    if (!args->command->operand)
        return cli_fail(args, CLI_USAGE, "unexpected argument '%s'; %s takes options only", word, args->command->name);
    if (args->operand && !args->command->operands)
        return cli_fail(args, CLI_USAGE, "unexpected argument '%s'; %s is already '%s'", word, args->command->operand,
                        args->operand);
    if (!word[0])
        return cli_fail(args, CLI_USAGE, "%s is an empty word", args->command->operand);
    if (!args->operand)
        args->operand = word;
    args->operands[args->operand_count++] = word;
    return CLI_DONE;
}

static int check_required(const cli_args *args)
{
    const cli_command *command = args->command;
    if (command->operand && !args->operand && !command->no_operand)
        return cli_fail(args, CLI_USAGE, "%s is missing; see neuropmd %s --help", command->operand, command->name);
    for (int i = 0; command->options && command->options[i].name; i++)
        if (command->options[i].required && !cli_value(args, command->options[i].name))
            return cli_fail(args, CLI_USAGE, "--%s is missing; see neuropmd %s --help", command->options[i].name,
                            command->name);
    return CLI_DONE;
}

int cli_parse(int argc, char **argv, cli_args *out)
{
    int code = CLI_DONE;
    bool options_over = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            out->help = true; /* whoever asks for help may have the rest wrong */
            return CLI_DONE;
        }
    out->given = calloc((size_t)argc + 1, sizeof *out->given);
    out->operands = calloc((size_t)argc + 1, sizeof *out->operands);
    if (!out->given || !out->operands)
        return cli_fail(out, CLI_MEMORY, "not enough memory for the command line");
    for (int i = 0; i < argc && code == CLI_DONE; i++) {
        if (options_over || argv[i][0] != '-' || !argv[i][1])
            code = parse_operand(out, argv[i]);
        else if (strcmp(argv[i], "--") == 0)
            options_over = true;
        else
            code = parse_option(out, argc, argv, &i);
    }
    if (code == CLI_DONE)
        code = check_required(out);
    out->json = cli_value(out, "json") != NULL;
    out->quiet = cli_value(out, "quiet") != NULL;
    return code;
}

void cli_args_free(cli_args *args)
{
    free(args->given);
    free(args->operands);
    args->given = NULL;
    args->operands = NULL;
    args->count = args->operand_count = 0;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

const char *cli_value(const cli_args *args, const char *name)
{
    for (int i = args->count - 1; i >= 0; i--)
        if (strcmp(args->given[i].option.name, name) == 0)
            return args->given[i].value;
    return NULL;
}

static int parse_unsigned(const cli_args *args, const char *name, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *text = cli_value(args, name);
    if (!text)
        return CLI_DONE;
    errno = 0;
    const bool digits = text[strspn(text, "0123456789")] == '\0'; /* strtoull alone would take -1 and blanks */
    const unsigned long long value = digits ? strtoull(text, NULL, 10) : 0;
    if (!digits || errno == ERANGE || value < least || value > most)
        return cli_fail(args, CLI_USAGE, "--%s is '%s', expected an integer from %llu to %llu", name, text,
                        (unsigned long long)least, (unsigned long long)most);
    *out = value;
    return CLI_DONE;
}

int cli_count(const cli_args *args, const char *name, size_t *out)
{
    uint64_t value = *out;
    const int code = parse_unsigned(args, name, 1, PTRDIFF_MAX, &value);
    *out = (size_t)value;
    return code;
}

int cli_real(const cli_args *args, const char *name, double *out)
{
    const char *text = cli_value(args, name);
    char *end = NULL;
    if (!text)
        return CLI_DONE;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value > 0.0) || !isfinite(value))
        return cli_fail(args, CLI_USAGE, "--%s: '%s' was found where a positive number was expected", name, text);
    *out = value;
    return CLI_DONE;
}

int cli_seed(const cli_args *args, const char *name, uint64_t *out)
{
    return parse_unsigned(args, name, 0, UINT64_MAX, out);
}
