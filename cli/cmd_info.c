/* cmd_info.c - neuropmd info: the contents of a model or a surface file. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static int surface_info(const cli_args *args)
{
    npmd_error err = { 0 };
    char *json = NULL;
    if (npmd_surface_describe(args->operand, &json, &err))
        return cli_refuse(args, &err);
    cli_listing(args, json, NULL);
    npmd_text_free(json);
    return CLI_DONE;
}

/* The model's description; its warnings name options. NULL: no memory. */
static char *respelled(const char *json)
{
    const size_t size = strlen(json) + 1;
    char *text = malloc(size);
    if (text)
        cli_respell(json, text, size);
    return text;
}

static int run(const cli_args *args)
{
    npmd_error err = { 0 };
    npmd_model *model = NULL;
    npmd_compute how;
    uint64_t seed = 0;
    char *json = NULL, *text = NULL;
    int code = cli_compute(args, &seed, &how);
    if (code != CLI_DONE)
        return code;
    if (npmd_surface_is_file(args->operand))
        return surface_info(args);
    if (npmd_load(args->operand, &model, &err) || npmd_model_describe(model, &json, &err))
        code = cli_refuse(args, &err);
    else if (!(text = respelled(json)))
        code = cli_fail(args, CLI_MEMORY, "not enough memory for the description");
    else {
        cli_listing(args, text, "choice");
        if (!args->json)
            cli_choice_words(model);
    }
    free(text);
    npmd_text_free(json);
    npmd_model_free(model);
    return code;
}

const cli_command command_info = {
    .name = "info",
    .operand = "FILE",
    .summary = "what a model file holds: options, choices, results; or a surface: size, and is it closed",
    .examples = "neuropmd info torus.safetensors\nneuropmd info lh.white.gii\n",
    .run = run,
};
