/* cmd_man.c - neuropmd man: the manual page.
 *
 *   neuropmd man > neuropmd.1 */
#include "cli.h"

const cli_command command_man = {
    .name = "man",
    .summary = "the manual page, in troff",
    .examples = "neuropmd man > neuropmd.1\n",
    .hidden = true,
    .run = cli_manual,
};
