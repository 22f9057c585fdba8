/* usual.c - gives open settings their usual values for the domain and the number of points (option_rows.c). */
#include "derive.h"

int watch_tell(const fit_watch *w, const npmd_report *report)
{
    return w->progress == NULL ? 0 : w->progress(report, w->user);
}

int64_t watch_log_every(const fit_watch *w, const settings *set)
{
    const int64_t share = set->descent.steps / 200;
    return w->log_every > 0 ? w->log_every : share > 1 ? share : 1;
}

double settings_accuracy(const npmd_domain *dom)
{
    return domain_has_rules(dom) ? 1e-5 : 5e-4; /* quadrature reaches the first, sampling the second in good time */
}

int settings_wide_features(const npmd_domain *dom)
{
    return dom->dimension <= 2 ? 192 : 256;
}

double settings_wide_decay(const npmd_domain *dom)
{
    return 0.5 * dom->dimension + 1.0; /* the law is summable above half the dimension; one more keeps the lowest in */
}

bool settings_blend(const settings *set)
{
    return set->estimator == FIT_STACK || set->estimator == FIT_AUTO;
}

unsigned settings_readers(const settings *set, const npmd_domain *dom)
{
    const bool stochastic = set->estimator == FIT_SERIES && set->solver == SOLVER_STOCHASTIC;
    unsigned readers = stochastic ? READER_SGD : 1u << set->estimator;
    if (settings_blend(set))
        readers |= 1u << FIT_FIELD | 1u << FIT_SERIES | 1u << FIT_KDE | READER_WIDTHS;
    if (set->estimator == FIT_FIELD && set->base == BASE_KDE)
        readers |= 1u << FIT_KDE;
    if (readers & 1u << FIT_KDE && dom->surfaces)
        readers |= READER_HEAT;
    if (readers & 1u << FIT_KDE && set->kernels.bandwidth == BANDWIDTH_MIXTURE)
        readers |= READER_WIDTHS;
    if (readers & 1u << FIT_FIELD && set->descent.stop != STOP_NONE)
        readers |= READER_STOPS;
    return readers;
}

open_settings settings_open(const settings *asked)
{
    const encoding_settings *e = &asked->encoding;
    const bool network = (asked->estimator == FIT_FIELD || settings_blend(asked)) && asked->network.depth != 1;
    return (open_settings){ .tau = asked->tau < 0.0 && asked->penalty != PENALTY_NONE,
                            .omega = network && asked->network.omega == 0.0,
                            .size = network && asked->network.depth == 0 && asked->network.width == 0,
                            .encoding = network && e->from == FEATURES_AUTO && e->features == 0 && e->decay == 0.0
                                        && e->max_frequency[0] == 0 && e->law == LAW_POWER && e->separable == 2,
                            .length = network && asked->descent.steps == 0 && asked->descent.epochs == 0
                                      && asked->descent.stop == STOP_NONE };
}

/* A layer more; and in many dimensions, where there is more to tell apart, twice as wide. */
void settings_larger(const npmd_domain *dom, int *width, int *depth)
{
    *depth += 1;
    *width *= dom->dimension > 2 ? 2 : 1;
}

/* Where a number of the settings is open, its usual value; else NaN. */
static double row_usual(const option_row *row, const settings *set, const npmd_domain *dom, size_t n)
{
    const char *field = (const char *)set + row->field;
    const usual_case where = { .set = set, .domain = dom, .n = n };
    bool open = false;
    if (row->usual == NULL)
        return NAN;
    switch (row->kind) {
    case OPTION_INT:
        open = *(const int *)(const void *)field == 0;
        break;
    case OPTION_COUNT:
        open = *(const int64_t *)(const void *)field == 0;
        break;
    case OPTION_BATCH:
        open = set->descent.batch == 0 && set->descent.batch_share == 0;
        break;
    case OPTION_REAL:
        open = row->field == offsetof(settings, tau) ? set->tau < 0.0 : *(const double *)(const void *)field == 0.0;
        break;
    case OPTION_CHOICE:
        open = strcmp(row->choice[*(const int *)(const void *)field], "auto") == 0;
        break;
    default:
        break;
    }
    return open ? row->usual(&where) : NAN;
}

double settings_usual(const settings *set, const char *name, const npmd_domain *dom, size_t n)
{
    const option_row *row = option_find(name);
    return row == NULL || row->usual == NULL ? NAN : row->usual(&(usual_case){ .set = set, .domain = dom, .n = n });
}

void settings_fill(settings *set, unsigned readers, const npmd_domain *dom, size_t n)
{
    for (int i = 0; i < option_count(); i++) {
        const option_row *row = option_at(i);
        const double usual = (row->readers & readers) == 0 ? NAN : row_usual(row, set, dom, n);
        char *field = (char *)set + row->field;
        if (isnan(usual))
            continue;
        if (row->kind == OPTION_INT || row->kind == OPTION_CHOICE)
            *(int *)(void *)field = (int)usual;
        else if (row->kind == OPTION_REAL)
            *(double *)(void *)field = usual;
        else
            *(int64_t *)(void *)field = (int64_t)usual;
    }
    if (set->descent.batch_share > 0) {
        const int64_t share = (int64_t)n / set->descent.batch_share;
        set->descent.batch = share < 1 ? 1 : share;
        set->descent.batch_share = 0;
    }
}

npmd_status settings_fill_frequencies(settings *set, const npmd_domain *dom, npmd_error *err)
{
    encoding_settings *e = &set->encoding;
    const option_row *row = option_find("max-frequency");
    if (e->max_frequencies > 1 && e->max_frequencies != dom->factors)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`max-frequency` has %d values, but %s has %d factors",
                         e->max_frequencies, dom->text, dom->factors);
    if (e->max_frequencies <= 1) /* one value serves all */
        for (int d = 1; d < dom->factors; d++)
            e->max_frequency[d] = e->max_frequency[0];
    e->max_frequencies = dom->factors;
    for (int d = 0; d < dom->factors; d++) {
        const manifold *m = dom->factor[d];
        const int usual = (int)row->usual(&(usual_case){ .set = set, .domain = dom, .factor = d });
        if (e->max_frequency[d] == 0)
            e->max_frequency[d] = usual < m->max_frequency ? usual : m->max_frequency;
        if (e->max_frequency[d] > m->max_frequency)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "`max-frequency` %d: on %s at most %d", e->max_frequency[d],
                             m->name, m->max_frequency);
    }
    return NPMD_OK;
}

npmd_status option_usual_text(const char *name, const settings *set, const npmd_domain *dom, size_t n, char *text,
                              size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const option_row *row = option_find(name);
    settings full = *set;
    if (row == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "unknown option `%.40s`", name);
    if (size > 0)
        text[0] = '\0';
    if (row->usual == NULL)
        return NPMD_OK;
    settings_fill(&full, settings_readers(set, dom), dom, n);
    if (row->kind == OPTION_LIST)
        TRY(settings_fill_frequencies(&full, dom, err));
    option_print(&full, row, text, size);
done:
    return st;
}
