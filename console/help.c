/* help.c - --help, made from the tables of the commands and of the library. */
#include "console.h"

#include <ctype.h>
#include <string.h>

enum { HELP_COLUMN = 30, HELP_WIDTH = 100 };

const cli_exit_text CLI_EXITS[] = {
    { CLI_DONE, "done" },
    { CLI_USAGE, "wrong usage: an unknown command or option, a value out of its range" },
    { CLI_INPUT, "a bad input file or bad data; the line names file, row or byte" },
    { CLI_NUMERIC, "numerical failure: the fit collapsed or stopped being finite, its integral is not known, the "
                   "benchmark found an error" },
    { CLI_FILE, "a file cannot be read or written" },
    { CLI_DEVICE, "the device is absent or failing" },
    { CLI_MEMORY, "not enough memory" },
    { CLI_INTERRUPTED, "interrupted (SIGINT, SIGTERM or SIGHUP), after saving the checkpoint, or the model so far" },
    { 0, NULL },
};

/* Words of text from column `at`, continued at column `indent`; ends the line. */
static void print_wrapped(FILE *stream, const char *text, int at, int indent)
{
    bool first = true;
    for (const char *word = text + strspn(text, " "); *word;) {
        const int length = (int)strcspn(word, " ");
        if (!first && at + 1 + length > HELP_WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', stream);
            at++;
        }
        fprintf(stream, "%.*s", length, word);
        at += length;
        word += length;
        word += strspn(word, " ");
        first = false;
    }
    fputc('\n', stream);
}

cli_words cli_option_values(const cli_option *option)
{
    cli_words w = cli_words_of("%s", option->values ? option->values : "");
    for (int i = 0; option->names && option->names(i); i++)
        cli_append(w.text, sizeof w.text, "%s%s", i == 0 ? "" : "|", option->names(i));
    return w;
}

static void print_option(FILE *stream, const cli_option *option)
{
    char text[2048], usual[512];
    int at = fprintf(stream, "  --%s%s%s", option->name, cli_option_is_flag(option) ? "" : " ",
                     cli_option_values(option).text);
    if (at >= HELP_COLUMN - 1) {
        fputc('\n', stream);
        at = 0;
    }
    fprintf(stream, "%*s", HELP_COLUMN - at, "");
    cli_option_usual(option, usual, sizeof usual);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", option->help, option->required ? " (required)" : "",
             option->fallback ? " (default: " : "", option->fallback ? option->fallback : "",
             usual[0] ? "; usual: " : "", usual, option->fallback ? ")" : "");
    print_wrapped(stream, text, HELP_COLUMN, HELP_COLUMN);
}

static void print_examples(FILE *stream, const char *lines)
{
    for (const char *line = lines; *line;) {
        const int length = (int)strcspn(line, "\n");
        fprintf(stream, "  %.*s\n", length, line);
        line += length;
        line += *line == '\n';
    }
}

void cli_synopsis(const cli_command *command, FILE *stream)
{
    fputs(command->name, stream);
    if (command->operand)
        fprintf(stream, command->no_operand ? " [%s%s]" : " %s%s", command->operand, command->operands ? "..." : "");
    for (int i = 0; command->options && command->options[i].name; i++)
        if (command->options[i].required)
            fprintf(stream, " --%s %s", command->options[i].name, cli_option_values(&command->options[i]).text);
    fputs(" [options]", stream);
}

void cli_help_command(const cli_command *command)
{
    cli_option option;
    const char *group = NULL;
    printf("neuropmd %s: %s\n\nUsage: neuropmd ", command->name, command->summary);
    cli_synopsis(command, stdout);
    printf("\n\n");
    if (command->details) {
        print_wrapped(stdout, command->details, 0, 0);
        printf("\n");
    }
    for (int i = 0; cli_option_at(command, i, &option); i++) {
        const char *heading = option.group ? option.group : "options";
        if (!group || strcmp(group, heading) != 0) {
            printf("%s%c%s:\n", group ? "\n" : "", toupper((unsigned char)heading[0]), heading + 1);
            group = heading;
        }
        print_option(stdout, &option);
    }
    if (command->examples) {
        printf("\nExamples:\n");
        print_examples(stdout, command->examples);
    }
}

void cli_help_program(const cli_command *const *commands, FILE *stream)
{
    fprintf(stream,
            "neuropmd %s: densities from points on tori, spheres, surfaces and their products\n\n"
            "Usage: neuropmd COMMAND [options]\n\nCommands:\n",
            npmd_version());
    for (int i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream, "  %-10s %s\n", "help", "explain a command: neuropmd help fit, or neuropmd fit --help");
    fprintf(stream, "\nA first fit:\n"
                    "  neuropmd simulate t2 --n 5000 --out points.csv --truth truth.json\n"
                    "  neuropmd fit --domain S1^2 --data points.csv --out torus.safetensors\n"
                    "  neuropmd evaluate torus.safetensors --truth truth.json\n"
                    "\nEvery command takes --json, --quiet, --seed, --threads and --device.\n"
                    "Exit status: 0 done; 2 usage; 3 bad input; 4 numerical failure; 5 file; 6 device; 7 memory; "
                    "130 interrupted.\n");
}
