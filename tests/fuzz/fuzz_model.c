/* fuzz_model.c - models from a file: what can be loaded can be described, asked for its facts and written, and what was
 * written is the same model. */
#include "fuzz_models.h"

static void ask_facts(const npmd_model *m)
{
    npmd_error err = { 0 };
    npmd_fit_facts facts = NPMD_SIZED(npmd_fit_facts);
    npmd_choice choice = NPMD_SIZED(npmd_choice);
    npmd_choice_row row = NPMD_SIZED(npmd_choice_row);
    npmd_rival rival = NPMD_SIZED(npmd_rival);
    npmd_part part = NPMD_SIZED(npmd_part);
    PROMISE(npmd_model_facts(m, &facts, &err) == NPMD_OK && strlen(facts.estimator) > 0);
    PROMISE(npmd_model_choice(m, &choice, &err) == NPMD_OK);
    for (int i = 0; i < choice.rows; i++)
        PROMISE(npmd_model_choice_row(m, i, &row, &err) == NPMD_OK && strlen(row.settings) < 10000);
    for (int i = 0; i < choice.rivals; i++)
        PROMISE(npmd_model_rival(m, i, &rival, &err) == NPMD_OK && strlen(rival.estimator) < 10000);
    for (int i = 0; i < npmd_model_parts(m); i++)
        PROMISE(npmd_model_part(m, i, &part, &err) == NPMD_OK && strlen(part.name) > 0);
    for (int i = 0; npmd_model_warning(m, i) != NULL; i++)
        PROMISE(strlen(npmd_model_warning(m, i)) < 10000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_model *m = NULL, *again = NULL;
    npmd_error err = { 0 };
    char *json = NULL, *bytes = NULL, *twice = NULL;
    size_t count = 0, same = 0;
    const npmd_status st = npmd_load(fuzz_record(data, size), &m, &err);
    if (st != NPMD_OK) {
        PROMISE(m == NULL && err.text[0] != 0 && (st == NPMD_ERR_FORMAT || st == NPMD_ERR_MEMORY));
        return 0;
    }
    ask_facts(m);
    PROMISE(npmd_model_describe(m, &json, &err) == NPMD_OK || err.text[0] != 0);
    if (npmd_model_pack(m, &bytes, &count, &err) == NPMD_OK) {
        PROMISE(npmd_model_unpack(bytes, count, &again, &err) == NPMD_OK);
        PROMISE(npmd_model_pack(again, &twice, &same, &err) == NPMD_OK);
        PROMISE(same == count && memcmp(bytes, twice, count) == 0);
    }
    npmd_text_free(json);
    npmd_text_free(bytes);
    npmd_text_free(twice);
    npmd_model_free(again);
    npmd_model_free(m);
    return 0;
}
