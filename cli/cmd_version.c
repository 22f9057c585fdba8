/* cmd_version.c - neuropmd version: the build, and its choices on this machine. */
#include "cli.h"

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    npmd_compute how;
    uint64_t seed = 0;
    char *json = NULL;
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE)
        return code;
    if (npmd_build_describe(&json, &err)) {
        code = cli_refuse(args, &err);
    } else {
        if (!args->json)
            printf("neuropmd %s\n", npmd_version());
        cli_listing(args, json, "version");
    }
    npmd_text_free(json);
    return code;
}

const cli_command command_version = {
    .name = "version",
    .summary = "version, compiler, kernels, devices",
    .run = run,
};
