/* ensemble.c - one estimator fitted several times, and its members blended.
 *
 * Members differ in their seed, and so in their encoding, start, batches and integration points; with --bootstrap also
 * in their points. The first is fitted as it would be alone, and its choices (tau, steps, sizes) hold for all. A member
 * that collapses is replaced by one with another seed. On a card members train concurrently, since one small network
 * cannot fill it; on the processor one after another, each with all cores. The bytes are the same either way.
 *
 * With --bootstrap, a series and kernels of one width are fitted twice more to the points as they are, once with more
 * smoothing and once with less: the pair has weight 0 and tells the bias (model/blend_values.c). A field's smoothing is
 * its tau, its length, its width and more, and has no pair. */
#include "blend.h"

#include <stdio.h>

#define MOST_TRIES 3   /* seeds for one member */
#define SIDE_BY_SIDE 8 /* on a card */
#define PAIR 2
#define LEAST_SHARE 0.75 /* of what the best member gains over the uniform density: members differ by their seed only */

typedef struct ensemble {
    fit *fit;
    npmd_model *model;      /* the fit's */
    const settings *chosen; /* of the first member; NULL: it is being fitted */
    int members;            /* without the pair */
    double started;
    bool stopped;
} ensemble;

typedef struct member {
    ensemble *all;
    int index; /* from 0; those of the pair follow the members' */
    int tries;
    npmd_error err;
    npmd_status st;
} member;

static bool on_card(const settings *set)
{
    return strncmp(set->machine.device, "cuda", 4) == 0;
}

/* The first try of the first member has the seed itself. 53 bits, which every reader of JSON keeps. */
static uint64_t member_seed(uint64_t seed, int index, int tries)
{
    if (index == 0 && tries == 0)
        return seed;
    const uint64_t far = seed ^ 0x9e3779b97f4a7c15u; /* a hash of two equal words would be 0 */
    return hash_word(hash_word(far, (uint64_t)index), (uint64_t)tries) >> 11;
}

static int member_progress(const npmd_report *now, void *user)
{
    member *k = user;
    ensemble *e = k->all;
    npmd_report report = *now;
    bool stop = false;
    report.member = k->index + 1;
    report.members = k->index < e->members ? e->members : e->members + PAIR;
    report.seconds = fit_clock(e->fit, e->started);
#pragma omp critical /* without a name, which would be a symbol of the library */
    {
        if (watch_tell(e->fit->watch, &report) != 0)
            e->stopped = true;
        stop = e->stopped;
    }
    return stop;
}

#define MOST_DRAWS 100

/* The points of member k: drawn again where chance gave the same point every time, or none with a weight. */
static npmd_status member_points(const ensemble *e, int index, npmd_points **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *drawn = NULL;
    for (uint64_t draw = 0; draw < MOST_DRAWS; draw++) {
        const rng_key key = rng_key_make(e->fit->plan->asked.seed, RNG_MEMBER, (uint64_t)index + (draw << 16));
        points_free(drawn);
        drawn = NULL;
        TRY(points_resample(e->fit->points, key, &drawn, err));
        if (points_check_distinct(drawn, "", NULL) == NPMD_OK) {
            *out = drawn;
            return NPMD_OK;
        }
    }
    st = npmd_fail(err, NPMD_ERR_SHAPE,
                   "too few distinct points for `bootstrap` on: %d resamples in a row were of no use", MOST_DRAWS);
done:
    points_free(drawn);
    return st;
}

/* How a member is watched. Each of its tries is kept under a name of its own. */
static fit_watch member_watch(const member *k)
{
    const ensemble *e = k->all;
    fit_watch watch = *e->fit->watch;
    watch.progress = member_progress;
    watch.user = (void *)(uintptr_t)k;
    watch.log_every = fit_log_every(e->fit);
    watch.kept = e->fit->kept;
    watch.kept_as = 1 + k->index * MOST_TRIES + k->tries;
    watch.checkpoint[0] = watch.resume[0] = '\0';
    return watch;
}

/* The pair has the seed of the first, from which it differs in its smoothing alone. */
static uint64_t seed_of(const member *k, int tries)
{
    return member_seed(k->all->fit->plan->asked.seed, k->index < k->all->members ? k->index : 0, tries);
}

static bool resampled(const member *k)
{
    return k->all->model->set.bootstrap && k->index > 0 && k->index < k->all->members;
}

static npmd_status member_plan(const member *k, size_t n, fit_plan *out, npmd_error *err)
{
    const ensemble *e = k->all;
    const fit_plan *plan = e->fit->plan;
    derived d = derive_member(e->chosen == NULL ? &plan->asked : e->chosen, e->chosen == NULL, seed_of(k, k->tries),
                              plan->domain);
    if (k->index >= e->members)
        (void)derive_smoothed(&d, k->index == e->members ? 1.0 : -1.0);
    else if (resampled(k))
        d = derive_resampled(d);
    return plan_derive(plan, &d, n, out, err);
}

/* Fits one member, with other seeds if it collapses; the last try may be a convex start that stands alone. */
static npmd_status member_fit(member *k, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const ensemble *e = k->all;
    npmd_points *own = NULL;
    npmd_model *m = NULL;
    fit_plan *plan = NULL;
    bool failed = false;
    if (resampled(k))
        TRY(member_points(e, k->index, &own, err));
    const npmd_points *points = own == NULL ? e->fit->points : own;
    TRY(memory_new(&plan, 1, err));
    for (;; k->tries++) {
        const fit_watch watch = member_watch(k);
        TRY(member_plan(k, points->n, plan, err));
        model_free(m);
        m = NULL;
        st = fit_run(plan, points, &watch, &m, err);
        failed = st == NPMD_ERR_NUMERIC || (st == NPMD_OK && m->linear);
        if (!failed || k->tries + 1 >= MOST_TRIES)
            break;
    }
    if (st != NPMD_OK)
        goto done;
    *out = m;
    m = NULL;
done:
    model_free(m);
    memory_free(plan);
    points_free(own);
    return st;
}

static void member_run(member *k)
{
    ensemble *e = k->all;
    npmd_model *fitted = NULL;
    if (!e->stopped)
        k->st = member_fit(k, &fitted, &k->err);
    if (fitted != NULL) {
        model_free(e->model->part[k->index]);
        e->model->part[k->index] = fitted;
    }
}

/* The members of a list, several at once where that fills a card; elsewhere outside of any parallel region, since
 * theirs are inside. */
static npmd_status members_fit(ensemble *e, member *list, int count, npmd_error *err)
{
    const bool card = on_card(&e->model->set);
    for (int i = 0; !card && i < count; i++)
        member_run(&list[i]);
    if (card) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(count < SIDE_BY_SIDE ? count : SIDE_BY_SIDE)
        for (int i = 0; i < count; i++)
            member_run(&list[i]);
    }
    const char *path = described_path(e->fit->watch);
    for (int i = 0; i < count; i++)
        if (list[i].st == NPMD_STOPPED && path[0] != '\0')
            return npmd_fail(err, NPMD_STOPPED, "interrupted in member %d; `resume` %s goes on from here",
                             list[i].index + 1, path);
    for (int i = 0; i < count; i++)
        if (list[i].st != NPMD_OK)
            return npmd_fail(err, list[i].st, "member %d: %.230s", list[i].index + 1, list[i].err.text);
    return NPMD_OK;
}

static double member_gain(const npmd_model *part)
{
    return 1.0 - part->facts.objective; /* the uniform density has 1 */
}

/* Which of the members reached far less than the best: they go to the list with their next seed. */
static int members_behind(const ensemble *e, member *all, member *list)
{
    const npmd_model *m = e->model;
    double best = 0.0;
    int behind = 0;
    if (m->set.estimator != FIT_FIELD || m->part[0]->base != NULL) /* to gain little over a base is no failure */
        return 0;
    for (int k = 0; k < e->members; k++)
        best = fmax(best, member_gain(m->part[k]));
    for (int k = 0; k < e->members; k++)
        if (member_gain(m->part[k]) < LEAST_SHARE * best && all[k].tries + 1 < MOST_TRIES) {
            all[k].tries++;
            list[behind++] = all[k];
        }
    return behind;
}

static bool whole(const npmd_model *part)
{
    return part != NULL && !part->facts.interrupted;
}

/* More smoothing and less, where the settings of the first say how much there is. Without them the band knows nothing
 * of the bias; that they cannot be fitted is no reason to fail. */
static npmd_status pair_fit(ensemble *e, member *pair, npmd_error *err)
{
    npmd_error why = { 0 };
    derived d = { .set = *e->chosen };
    if (!e->model->set.bootstrap || !derive_smoothed(&d, 1.0))
        return NPMD_OK;
    const npmd_status st = e->stopped ? NPMD_OK : members_fit(e, pair, PAIR, &why);
    if (e->stopped && !(whole(e->model->part[e->members]) && whole(e->model->part[e->members + 1])))
        e->model->facts.interrupted = 1;
    if (st == NPMD_ERR_NUMERIC)
        model_warn(e->model, "intervals do not know the smoothing's bias: %.200s", why.text);
    else if (st != NPMD_OK)
        return npmd_fail(err, st, "%s", why.text);
    return NPMD_OK;
}

/* The first by itself, then the others; then again those that fell behind; then the pair. */
static npmd_status all_fit(ensemble *e, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = e->model;
    const int members = e->members;
    settings chosen;
    member *all = NULL, *list = NULL;
    TRY(memory_new(&all, (size_t)members + PAIR, err));
    TRY(memory_new(&list, (size_t)members, err));
    for (int k = 0; k < members + PAIR; k++)
        all[k] = (member){ .all = e, .index = k };
    TRY(members_fit(e, all, 1, err));
    chosen = m->part[0]->set;
    e->chosen = &chosen;
    TRY(members_fit(e, all + 1, members - 1, err));
    for (int behind; !e->stopped && (behind = members_behind(e, all, list)) > 0;) {
        TRY(members_fit(e, list, behind, err));
        for (int i = 0; i < behind; i++)
            all[list[i].index] = list[i];
    }
    TRY(pair_fit(e, all + members, err));
    for (int k = 0; k < members; k++)
        if (all[k].tries > 0)
            model_warn(m, "member %d collapsed and was replaced, %d time%s", k + 1, all[k].tries,
                       all[k].tries == 1 ? "" : "s");
done:
    e->chosen = NULL;
    memory_free(all);
    memory_free(list);
    return st;
}

/* The pair, if both are whole, comes behind the members that are. */
static void pair_settle(npmd_model *m, int members, int kept)
{
    npmd_model **pair = m->part + members;
    const bool both = m->parts > members && kept == members && whole(pair[0]) && whole(pair[1]);
    for (int k = 0; k < m->parts - members && !both; k++) {
        model_free(pair[k]);
        pair[k] = NULL;
    }
    m->parts = kept + (both ? PAIR : 0);
    for (int k = kept; k < m->parts; k++)
        m->part_weight[k] = 0.0;
}

/* Members that are whole; one that was interrupted stays only when it is alone. */
static void members_settle(npmd_model *m, int members)
{
    int kept = 0;
    for (int k = 0; k < members; k++) {
        npmd_model *part = m->part[k];
        m->part[k] = NULL;
        if (part != NULL && part->facts.interrupted) {
            m->facts.interrupted = 1;
            if (kept > 0) {
                model_free(part);
                continue;
            }
        }
        if (part != NULL)
            m->part[kept++] = part;
    }
    if (kept < members) {
        m->facts.interrupted = 1;
        model_warn(m, "the fit was interrupted: %d of %d members are whole", kept, members);
    }
    for (int k = 0; k < kept; k++)
        m->part_weight[k] = 1.0 / kept;
    pair_settle(m, members, kept);
}

static void members_report(npmd_model *m)
{
    fit_facts *f = &m->facts;
    const int members = blend_counted(m);
    int linear = 0;
    f->members = members;
    f->objective = 0.0;
    f->steps = f->restarts = 0;
    f->resumed = m->part[0]->facts.resumed;
    for (int k = 0; k < members; k++) {
        const npmd_model *part = m->part[k];
        f->steps += part->facts.steps;
        f->objective += part->facts.objective / members;
        f->restarts += part->facts.restarts;
        linear += part->linear;
    }
    for (int i = 0; i < m->part[0]->warnings; i++) /* choices that hold for all */
        model_warn(m, "%s", m->part[0]->warning[i]);
    if (linear > (m->part[0]->linear ? 1 : 0))
        model_warn(m, "%d members are their linear start alone", linear);
}

/* The first member's settings are those of all. */
static void take_settings(npmd_model *m)
{
    settings o = m->part[0]->set;
    o.members = m->set.members;
    o.bootstrap = m->set.bootstrap;
    o.descent.accuracy = m->set.descent.accuracy;
    m->set = o;
}

static npmd_status ensemble_fit(fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = f->model;
    ensemble e = { .fit = f, .model = m, .members = m->set.members, .started = clock_seconds() };
    TRY(kept_compose(f, err));
    TRY(blend_open(m, e.members + (m->set.bootstrap ? PAIR : 0), err));
    TRY(all_fit(&e, err));
    members_settle(m, e.members);
    members_report(m);
    take_settings(m);
    if (m->set.combine == COMBINE_LOG && m->part[0]->base != NULL)
        TRY(base_normalise_blend(f, err));
    else if (m->set.combine == COMBINE_LOG)
        TRY(fit_normalise_model(f, (size_t)1 << 22, NULL, err));
    else
        for (int k = 0; k < m->facts.members; k++) /* of the mean of integrals that are one */
            m->facts.log_integral_se += m->part[k]->facts.log_integral_se / m->facts.members;
    if (m->facts.interrupted)
        TRY(kept_stop(f->kept, err));
done:
    return st;
}

/* Sizes are those of a member, whose estimator completes them. */
static npmd_status ensemble_complete(fit_plan *p, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    settings *o = &p->full;
    const int members = o->members, bootstrap = o->bootstrap;
    if (members < 2 || (bootstrap && members < 3)) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`bootstrap` on needs at least 3 members, `members` %d were asked for",
                       members);
        goto done;
    }
    if (o->estimator == FIT_UNIFORM || (!bootstrap && (o->estimator == FIT_SERIES || o->estimator == FIT_KDE))) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "`members` %d: members of this estimator would all be the same%s",
                       members, o->estimator == FIT_UNIFORM ? "" : "; use `bootstrap` on");
        goto done;
    }
    o->members = 1;
    o->bootstrap = 0;
    TRY(p->estimators(o, p->domain)->complete(p, err));
    const size_t together = !on_card(o) ? 1 : members < SIDE_BY_SIDE ? (size_t)members : SIDE_BY_SIDE;
    if (bootstrap)
        p->bytes += p->n * ((size_t)p->domain->columns + 1) * sizeof(double);
    p->bytes *= together;
    if (o->descent.accuracy == 0.0) /* of an estimator that needs none by itself */
        o->descent.accuracy = settings_accuracy(p->domain);
    o->members = members;
    o->bootstrap = bootstrap;
done:
    return st;
}

const estimator ESTIMATOR_LOG_MEAN = {
    .name = "ensemble",
    .keeps = true,
    .complete = ensemble_complete,
    .fit = ensemble_fit,
    .evaluate = blend_log_mean,
    .load = blend_load,
    .describe = blend_describe,
};

const estimator ESTIMATOR_MIXTURE = {
    .name = "ensemble",
    .keeps = true,
    .complete = ensemble_complete,
    .fit = ensemble_fit,
    .evaluate = blend_mixture,
    .draw = blend_draw,
    .load = blend_load,
    .describe = blend_describe,
};
