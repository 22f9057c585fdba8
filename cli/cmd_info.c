/* cmd_info.c - neuropmd info: what a model file holds. */
#include "cli.h"

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_compute how;
    uint64_t seed = 0;
    char *json = NULL;
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE)
        return code;
    if (npmd_load(args->operand, &model, &err) || npmd_model_describe(model, &json, &err))
        code = cli_refuse(args, &err);
    else if (args->json)
        printf("%s\n", json);
    else {
        cli_listing(json, "choice");
        cli_choice_words(model);
    }
    npmd_text_free(json);
    npmd_model_free(model);
    return code;
}

const cli_command command_info = {
    .name = "info",
    .operand = "MODEL",
    .summary = "what a model file holds: options, choices, results",
    .examples = "neuropmd info torus.safetensors\n",
    .run = run,
};
