/* model.c - the handle of a fitted model. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>

void model_free(npmd_model *m)
{
    if (m == NULL || atomic_fetch_sub(&m->shared, 1) > 0)
        return;
    if (m->kind != NULL && m->kind->free != NULL)
        m->kind->free(m->state);
    blend_close(m);
    model_free(m->base);
    domain_free(m->domain);
    memory_free(m->seen);
    choice_close(&m->choice);
    memory_free(m);
}

npmd_model *model_share(const npmd_model *m)
{
    npmd_model *own = (npmd_model *)(uintptr_t)m; /* nothing but the number of its owners changes */
    atomic_fetch_add(&own->shared, 1);
    return own;
}

int model_depth(const npmd_model *m)
{
    int deepest = m->base == NULL ? 0 : 1 + model_depth(m->base);
    for (int k = 0; k < m->parts; k++) {
        const int depth = 1 + model_depth(m->part[k]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

void model_warn(npmd_model *m, const char *format, ...)
{
    va_list args;
    if (m->warnings == MODEL_MAX_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(m->warning[m->warnings], sizeof *m->warning, format, args);
    va_end(args);
    for (int i = 0; i < m->warnings; i++) /* a part may have said it before */
        if (strcmp(m->warning[i], m->warning[m->warnings]) == 0)
            return;
    m->warnings++;
}

npmd_status model_check_domain(const npmd_model *m, const npmd_domain *dom, const char *what, npmd_error *err)
{
    if (strcmp(m->domain->text, dom->text) == 0)
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_SHAPE, "the %s on %s, the model on %s", what, dom->text, m->domain->text);
}

npmd_compute model_compute(const settings *set)
{
    return (
        npmd_compute){ .size = sizeof(npmd_compute), .threads = set->machine.threads, .device = set->machine.device };
}

double model_offset(const npmd_model *m)
{
    return m->facts.log_integral + log(m->domain->volume);
}
