/* manual.c - the manual page, in troff, from the same tables as --help. */
#include "console.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Running text: a dash is a dash to copy, a line must not begin with a control character. */
static void put_text(const char *text)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text; text++) {
        if (*text == '\\')
            printf("\\e");
        else if (*text == '-')
            printf("\\-");
        else if (*text == '^')
            printf("\\(ha");
        else if (*text == '~')
            printf("\\(ti");
        else if (*text == '\n')
            printf(text[1] == '.' || text[1] == '\'' ? "\n\\&" : "\n");
        else
            putchar(*text);
    }
}

static void put_heading(const char *kind, const char *text)
{
    printf(".%s \"", kind);
    for (; *text; text++)
        putchar(*text == '"' ? '\'' : toupper((unsigned char)*text));
    printf("\"\n");
}

static void put_option(const cli_option *option)
{
    printf(".TP\n\\fB\\-\\-");
    put_text(option->name);
    printf("\\fR");
    if (!cli_option_is_flag(option)) {
        printf(" \\fI");
        put_text(cli_option_values(option).text);
        printf("\\fR");
    }
    printf("\n");
    put_text(option->help);
    if (option->required)
        printf(" (required)");
    if (option->fallback) {
        char usual[512];
        printf(" (default: ");
        put_text(option->fallback);
        cli_option_usual(option, usual, sizeof usual);
        if (usual[0]) {
            printf("; usual: ");
            put_text(usual);
        }
        printf(")");
    }
    printf(".\n");
}

static void put_example(const cli_command *command)
{
    printf(".SS ");
    put_text(command->name);
    printf("\n.nf\n");
    put_text(command->examples);
    printf(".fi\n");
}

/* The rows that are a command's own, by group; those of no group come first. */
static void put_own_options(const cli_command *command)
{
    const char *group = NULL;
    for (const cli_option *row = command->options; row && row->name; row++) {
        if (row->group && (!group || strcmp(group, row->group) != 0)) {
            printf(".PP\n\\fI");
            put_text(row->group);
            printf(":\\fR\n");
            group = row->group;
        }
        put_option(row);
    }
}

/* The rows of the library and of every command, by group; those without one are the command's own. */
static void put_library_options(const cli_command *command)
{
    cli_option option;
    const char *group = NULL;
    for (int i = 0; cli_option_at(command, i, &option); i++) {
        if (!option.group)
            continue;
        if (!group || strcmp(group, option.group) != 0) {
            put_heading("SS", option.group);
            group = option.group;
        }
        put_option(&option);
    }
}

static void put_synopsis(const cli_command *command)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return;
    cli_synopsis(command, memory);
    if (fclose(memory) == 0)
        put_text(text);
    free(text);
}

static void put_commands(const cli_command *const *commands)
{
    const cli_command *command = NULL;
    printf(".SH COMMANDS\n");
    for (int i = 0; (command = commands[i]); i++) {
        if (command->hidden)
            continue;
        printf(".SS ");
        put_text(command->name);
        printf("\n\\fBneuropmd\\fR ");
        put_synopsis(command);
        printf("\n.PP\n");
        printf("%c", toupper((unsigned char)command->summary[0]));
        put_text(command->summary + 1);
        printf(".\n");
        if (command->details) {
            put_text(command->details);
            printf("\n");
        }
        put_own_options(command);
    }
}

static void put_files(void)
{
    static const char *const rows[][2] = {
        { "points, weights, arrays",
          ".csv, .tsv, .txt (header optional, comments with #; also as .gz), .npy (f4, f8, C order) and "
          ".mat:VARIABLE (version 5, read only). One point a row: one angle in radians for each S1, one unit "
          "vector x y z for each S2, a position x y z for each surface." },
        { "surfaces", "closed triangle meshes: .obj, .off, .ply, .vtk, .gii (each also as .gz), FreeSurfer's; "
                      "labels .annot, .label, .gii, .csv, .npy." },
        { "streamlines", ".trk, .tck, each also as .gz." },
        { "models", "safetensors: weights, encoding, options, seed, tau, log integral and its error. A model file "
                    "is all that is needed to evaluate it." },
        { "known densities", "JSON as simulate \\-\\-truth writes it, or an .npy grid on a torus." },
        { "logs", "JSON lines: step, epoch, seconds, rate, data, integral, penalty, objective, log_integral, and "
                  "nise, ae when a truth is given." },
    };
    printf(".SH FILES\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf(".TP\n.I %s\n%s%s\n", rows[i][0], rows[i][1][0] == '.' ? "\\&" : "", rows[i][1]);
    printf(".TP\n.I checkpoints\nsafetensors, too: the state of a fit, for \\-\\-resume.\n");
    printf(".PP\nEvery output but a log is written under a temporary name, synced and renamed.\n");
}

int cli_manual(const cli_args *args)
{
    const cli_command *command = NULL, *const *fit = args->commands;
    while (!(*fit)->library_options)
        fit++;
    printf(".TH NEUROPMD 1 \"\" \"neuropmd %s\" \"User Commands\"\n", npmd_version());
    printf(".SH NAME\nneuropmd \\- densities from points on tori, spheres, surfaces and their products\n");
    printf(".SH SYNOPSIS\n.B neuropmd\n.I command\n[\\fIoptions\\fR]\n.br\n.B neuropmd help\n.I command\n");
    printf(".SH DESCRIPTION\nEstimates a probability density, or a Poisson intensity, from points on a product of "
           "closed manifolds: random Laplace\\-Beltrami eigenfunctions, a sine network, penalised maximum "
           "likelihood. Results go to standard output, progress and errors to standard error; an error is one "
           "line.\n");
    put_commands(args->commands);
    printf(".SH OPTIONS\nAn option is written \\fB\\-\\-name\\fR \\fIvalue\\fR or \\fB\\-\\-name=\\fIvalue\\fR. "
           "All but the last group belong to \\fBfit\\fR.\n");
    put_library_options(*fit);
    put_files();
    printf(".SH EXIT STATUS\n");
    for (int i = 0; CLI_EXITS[i].meaning; i++) {
        printf(".TP\n.B %d\n", CLI_EXITS[i].code);
        put_text(CLI_EXITS[i].meaning);
        printf("\n");
    }
    printf(".SH EXAMPLES\n");
    for (int i = 0; (command = args->commands[i]); i++)
        if (!command->hidden && command->examples)
            put_example(command);
    printf(
        ".SH SEE ALSO\n\\fBneuropmd help\\fR \\fIcommand\\fR, the header \\fIneuropmd.h\\fR, and the documentation in "
        "the folder \\fIdocs\\fR of the source, which \\fBmake docs\\fR builds as a site. ");
    printf("The method is that of Consagra, Gu and Zhang, NeuroPMD: Neural Fields for Density Estimation on "
           "Product Manifolds.\n");
    return CLI_DONE;
}
