/* cmd_select.c - neuropmd select: a fit whose tau, and other options, are chosen on held-out points first.
 *
 * It is fit (cmd_fit.c) with lists of values, and shows the criterion of the choice. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { LISTS_MOST = 16 };

/* Cuts "tau,max-frequency=5:10" at its commas. */
static int cut_lists(const cli_args *args, char *text, const char **over, int *lists)
{
    for (char *at = text; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (*lists == LISTS_MOST)
            return cli_fail(args, CLI_USAGE, "--over has more than %d lists", LISTS_MOST);
        over[(*lists)++] = at;
    }
    for (int i = 0; i < *lists; i++) {
        char *comma = strchr(over[i], ',');
        if (comma)
            *comma = '\0';
        const char *value = strchr(over[i], '=');
        if (strcmp(over[i], "tau") != 0 && (!value || value == over[i] || !value[1]))
            return cli_fail(args, CLI_USAGE, "--over: '%s' was found where tau or option=value:value was expected",
                            over[i]);
    }
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    const char *given = cli_value(args, "over"), *over[LISTS_MOST];
    int lists = 0, code = CLI_DONE;
    char *text = strdup(given ? given : "");
    if (!text)
        return cli_fail(args, CLI_MEMORY, "not enough memory for --over");
    code = cut_lists(args, text, over, &lists);
    if (code == CLI_DONE)
        code = cli_fit(args, over, lists);
    free(text);
    return code;
}

static const cli_option OPTIONS[] = {
    CLI_OPTION_DOMAIN,
    CLI_OPTION_DATA,
    { "out", "FILE", .help = "the model that was chosen, fitted to all points" },
    { "over", "LISTS",
      .help = "what varies beside tau: option=value:value of any option of fit, several separated by commas, every "
              "combination; tau=1e-5:1e-4 takes these taus and looks for no other" },
    { "table", "FILE.csv", .help = "the rows that are shown, as a table" },
    CLI_OPTIONS_OF_A_FIT,
    { 0 },
};

const cli_command command_select = {
    .name = "select",
    .summary = "choose tau and other options on held-out points, then fit",
    .details = "Holds a part of the points out (--holdout), fits the others for a short time with taus on a "
               "logarithmic grid, and compares on the held-out points by the integrated squared error or the "
               "likelihood (--criterion). With --over, every combination of the listed values gets a short fit; "
               "the better half goes on, each with its own tau; the better half of these is fitted as long as the "
               "model will be. What is chosen is fitted to all points. fit without --tau chooses tau in the same "
               "way and says less.",
    .examples = "neuropmd select --domain T2 --data points.npy --out torus.safetensors\n"
                "neuropmd select --domain T2 --data points.npy --over steps=250:500:1000 --table steps.csv\n"
                "neuropmd select --domain \"S2 x S2\" --data ends.npy --over separable=on:off,max-frequency=5:10\n",
    .options = OPTIONS,
    .library_options = true,
    .run = run,
};
