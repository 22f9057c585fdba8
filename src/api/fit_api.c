/* fit_api.c - public functions: options, plans and fits. */
#include "api.h"

#include <stdio.h>
#include <sys/stat.h>

npmd_options *npmd_options_new(void)
{
    npmd_options *opt = NULL;
    if (memory_new(&opt, 1, NULL) == NPMD_OK)
        options_init(opt);
    return opt;
}

void npmd_options_free(npmd_options *opt)
{
    memory_free(opt);
}

npmd_status npmd_options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err)
{
    return options_set(opt, name, value, err);
}

npmd_status npmd_options_read(npmd_options *opt, const char *json_path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options *changed = NULL;
    file_bytes bytes = { 0 };
    json_t *root = NULL;
    TRY(memory_new(&changed, 1, err));
    *changed = *opt;
    TRY(file_read_checked(json_path, file_starts_text, &bytes, err));
    TRY(json_from_text((const char *)bytes.data, bytes.size, json_path, &root, err));
    if (!json_is_object(root))
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: one JSON object with options was expected", json_path));
    TRY(options_from_json(changed, root, json_path, err));
    *opt = *changed;
done:
    memory_free(changed);
    json_decref(root);
    file_bytes_free(&bytes);
    return st;
}

size_t npmd_options_get(const npmd_options *opt, const char *name, char *text, size_t size)
{
    return options_get(opt, name, text, size);
}

double npmd_options_number(const npmd_options *opt, const char *name)
{
    return options_number(opt, name);
}

void npmd_options_watch(npmd_options *opt, npmd_progress progress, void *user)
{
    opt->watch.progress = progress;
    opt->watch.user = user;
}

void npmd_options_truth(npmd_options *opt, const npmd_truth *t)
{
    opt->watch.truth = t;
}

void npmd_options_hold_out(npmd_options *opt, const npmd_points *pts)
{
    opt->watch.held_out = pts;
    opt->set.descent.judged = pts != NULL;
}

const char *npmd_option_text(int i, npmd_option_column column)
{
    return option_text(i, (int)column);
}

int npmd_option_is_read(int i, const char *name)
{
    const option_row *row = option_at(i);
    const int kind = estimator_number(name);
    return row != NULL && kind >= 0 && (option_estimators(row) >> kind & 1u) != 0;
}

npmd_status npmd_option_usual(const char *name, const npmd_options *opt, const npmd_domain *dom, size_t n, char *text,
                              size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options *all = NULL;
    TRY(memory_new(&all, 1, err));
    options_init(all);
    if (opt != NULL)
        *all = *opt;
    TRY(option_usual_text(name, &all->set, dom, n, text, size, err));
done:
    memory_free(all);
    return st;
}

/* ---- plans and fits ---------------------------------------------------------------------------------------------- */

struct npmd_plan {
    npmd_options asked;
    npmd_options full; /* the same with every size that is known before the fit */
    npmd_domain *domain;
    npmd_model *model, *encoded, *base; /* that the fit begins with */
    fit_plan plan;
};

void npmd_plan_free(npmd_plan *p)
{
    if (p == NULL)
        return;
    if (p->encoded != p->model)
        model_free(p->encoded);
    model_free(p->model);
    model_free(p->base);
    domain_free(p->domain);
    memory_free(p);
}

static npmd_status origin_load(const char *path, const npmd_domain *dom, npmd_model **out, char hash[MODEL_HASH],
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    file_bytes bytes = { 0 };
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
        TRY(npmd_fail(err, NPMD_ERR_FILE, "cannot read %s: it is no file, and a model to start from is read twice",
                      path));
    TRY(model_load(path, estimators_all, &m, err));
    if (strcmp(m->domain->text, dom->text) != 0)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "%s is a model on %s, this fit is on %s", path, m->domain->text, dom->text));
    TRY(file_read(path, &bytes, err));
    snprintf(hash, MODEL_HASH, "%016llx", (unsigned long long)hash_bytes(0, bytes.data, bytes.size));
    *out = m;
    m = NULL;
done:
    file_bytes_free(&bytes);
    model_free(m);
    return st;
}

/* The models that the options name, each read once. A field that gives weights gives its encoding with them. */
static npmd_status origin_open(npmd_plan *p, fit_origin *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const char *from = p->asked.start_from, *encoded = p->asked.encoding_from;
    fit_origin o = { .model_path = from, .encoded_path = encoded };
    const bool same = from[0] != '\0' && strcmp(from, encoded) == 0;
    if (encoded[0] != '\0' && !same)
        TRY(origin_load(encoded, p->domain, &p->encoded, o.encoded_hash, err));
    if (from[0] != '\0')
        TRY(origin_load(from, p->domain, &p->model, o.model_hash, err));
    if (same || (p->model != NULL && p->encoded == NULL && p->model->kind == &ESTIMATOR_FIELD)) {
        p->encoded = p->model;
        o.encoded_path = from;
        memcpy(o.encoded_hash, o.model_hash, sizeof o.encoded_hash);
    }
    if (p->asked.set.base == BASE_MODEL)
        TRY(origin_load(p->asked.base, p->domain, &p->base, o.base_hash, err));
    o.model = p->model;
    o.encoded = p->encoded;
    o.base = p->base;
    *out = o;
done:
    return st;
}

npmd_status npmd_plan_make(const npmd_domain *dom, size_t n, const npmd_options *opt, npmd_plan **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_plan *p = NULL;
    fit_origin origin = { 0 };
    if (opt->watch.truth != NULL && strcmp(opt->watch.truth->domain->text, dom->text) != 0)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "the truth lies on %s, the points on %s", opt->watch.truth->domain->text,
                      dom->text));
    if (opt->watch.held_out != NULL && strcmp(opt->watch.held_out->domain->text, dom->text) != 0)
        TRY(npmd_fail(err, NPMD_ERR_SHAPE, "the held-out points lie on %s, the points on %s",
                      opt->watch.held_out->domain->text, dom->text));
    TRY(memory_new(&p, 1, err));
    p->asked = *opt;
    TRY(domain_copy(dom, &p->domain, err));
    if (opt->set.estimator == FIT_FIELD || settings_blend(&opt->set))
        TRY(origin_open(p, &origin, err));
    TRY(plan_make(estimators_all, &opt->set, &origin, p->domain, n, &p->plan, err));
    p->full = *opt;
    p->full.set = p->plan.full;
    *out = p;
    p = NULL;
done:
    npmd_plan_free(p);
    return st;
}

size_t npmd_plan_get(const npmd_plan *plan, const char *name, char *text, size_t size)
{
    return options_get(&plan->full, name, text, size);
}

double npmd_plan_number(const npmd_plan *plan, const char *name)
{
    return options_number(&plan->full, name);
}

size_t npmd_plan_bytes(const npmd_plan *plan)
{
    return plan->plan.bytes;
}

static npmd_status points_check(const npmd_plan *plan, const npmd_points *pts, npmd_error *err)
{
    if (strcmp(plan->domain->text, pts->domain->text) != 0)
        return npmd_fail(err, NPMD_ERR_SHAPE, "the points lie on %s, the fit was asked for on %s", pts->domain->text,
                         plan->domain->text);
    if (plan->plan.n != pts->n)
        return npmd_fail(err, NPMD_ERR_SHAPE, "the plan is for %zu points, here are %zu", plan->plan.n, pts->n);
    return NPMD_OK;
}

/* What equals what depends on the settings. */
static npmd_status count_twins(const npmd_plan *plan, const npmd_points *pts, size_t *out, npmd_error *err)
{
    npmd_points own = *pts;
    own.unordered = plan->plan.asked.unordered != 0;
    return points_count_twins(&own, out, err);
}

npmd_status npmd_plan_fit(const npmd_plan *plan, const npmd_points *pts, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = NULL;
    size_t twins = 0;
    TRY(threads_check(plan->plan.asked.machine.threads, err));
    TRY(points_check(plan, pts, err));
    TRY(count_twins(plan, pts, &twins, err));
    TRY(fit_run(&plan->plan, pts, &plan->asked.watch, &m, err));
    m->facts.twins = (int64_t)twins;
    *out = m;
done:
    return st;
}

npmd_status npmd_fit(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt, npmd_model **out,
                     npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_plan *plan = NULL;
    TRY(npmd_plan_make(dom, pts->n, opt, &plan, err));
    TRY(npmd_plan_fit(plan, pts, out, err));
done:
    npmd_plan_free(plan);
    return st;
}

npmd_status npmd_select(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt,
                        const char *const *over, int lists, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_plan *plan = NULL;
    npmd_model *m = NULL;
    size_t twins = 0;
    TRY(npmd_plan_make(dom, pts->n, opt, &plan, err));
    TRY(threads_check(plan->plan.asked.machine.threads, err));
    TRY(points_check(plan, pts, err));
    TRY(count_twins(plan, pts, &twins, err));
    TRY(select_run(&plan->plan, opt, pts, over, lists, &m, err));
    m->facts.twins = (int64_t)twins;
    *out = m;
done:
    npmd_plan_free(plan);
    return st;
}
