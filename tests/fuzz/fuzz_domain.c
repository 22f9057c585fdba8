/* fuzz_domain.c - domains from their text. The canonical spelling is one: it reads as itself. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npmd_domain *dom = NULL, *again = NULL;
    npmd_error err = { 0 };
    char *text = fuzz_text(data, size);
    const npmd_status st = npmd_domain_parse(text, &dom, &err);
    if (st == NPMD_OK) {
        PROMISE(npmd_domain_factors(dom) >= 1 && npmd_domain_factors(dom) <= NPMD_MAX_FACTORS);
        PROMISE(npmd_domain_volume(dom) > 0.0 && npmd_domain_dimension(dom) <= npmd_domain_columns(dom));
        PROMISE(npmd_domain_parse(npmd_domain_text(dom), &again, &err) == NPMD_OK);
        PROMISE(strcmp(npmd_domain_text(dom), npmd_domain_text(again)) == 0);
    } else {
        PROMISE(err.status == st && err.text[0] != 0 && dom == NULL);
    }
    npmd_domain_free(again);
    npmd_domain_free(dom);
    free(text);
    return 0;
}
