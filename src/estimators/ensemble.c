/* ensemble.c - one estimator fitted several times, its members blended.
 *
 * Members differ in their seed, and so in their encoding, start, batches and integration points; with --bootstrap also
 * in their points. The first is fitted as it would be alone: what it chooses (tau, steps, sizes) holds for all. A
 * member that collapses is replaced by one with another seed. On a card they train side by side, since one small
 * network cannot fill it; on the processor one after another, each with all cores: the same bytes either way. */
#include "estimators.h"

#include <stdio.h>
#include <unistd.h>

#define MOST_TRIES 3   /* seeds for one member */
#define SIDE_BY_SIDE 8 /* on a card */
#define LEAST_SHARE                                                                                          \
    0.75 /* of what the best member gains over the uniform density: members differ by their seed only */
#define MEMBER_ACCURACY                                                                                      \
    2e-3 /* of a member's own log integral, in three or more dimensions: the blend has its own */

typedef struct ensemble {
    npmd_model *model;
    const npmd_options *asked;
    const npmd_points *points;
    const npmd_options *chosen; /* of the first member; NULL: it is being fitted */
    double started;
    bool stopped;
} ensemble;

typedef struct member {
    ensemble *all;
    int index; /* from 0 */
    int tries;
    npmd_error err;
    npmd_status st;
} member;

static bool on_card(const npmd_options *opt)
{
    return strncmp(opt->device, "cuda", 4) == 0;
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
    report.members = e->model->options.members;
    report.seconds = clock_seconds() - e->started;
#pragma omp critical /* without a name, which would be a symbol of the library */
    {
        if (e->asked->progress != NULL && e->asked->progress(&report, e->asked->user) != 0)
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
        const rng_key key = rng_key_make(e->asked->seed, RNG_MEMBER, (uint64_t)index + (draw << 16));
        npmd_points_free(drawn);
        drawn = NULL;
        TRY(points_resample(e->points, key, &drawn, err));
        if (points_check_distinct(drawn, "", NULL) == NPMD_OK) {
            *out = drawn;
            return NPMD_OK;
        }
    }
    st = npmd_fail(err, NPMD_ERR_SHAPE,
                   "too few distinct points for --bootstrap on: %d resamples in a row were of no use",
                   MOST_DRAWS);
done:
    npmd_points_free(drawn);
    return st;
}

/* The state of member k is kept in FILE.k beside that of the first. A finished member leaves its last state there, and
 * a fit that resumes is through with it at once. */
static npmd_status member_files(const npmd_options *asked, int index, npmd_options *o, npmd_error *err)
{
    const char *path = asked->checkpoint[0] != '\0' ? asked->checkpoint : asked->resume;
    if (index == 0 || path[0] == '\0')
        return NPMD_OK;
    const int length = snprintf(o->checkpoint, sizeof o->checkpoint, "%s.%d", path, index + 1);
    if (length < 0 || (size_t)length >= sizeof o->checkpoint)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "--checkpoint: the name of member %d's file is too long",
                         index + 1);
    o->resume[0] = '\0';
    if (asked->resume[0] != '\0' && access(o->checkpoint, F_OK) == 0)
        memcpy(o->resume, o->checkpoint, sizeof o->resume);
    return NPMD_OK;
}

/* What an earlier fit left under these names is not this one's. */
static void members_clear(const npmd_options *asked, int members)
{
    char path[NPMD_MAX_PATH + 16];
    if (asked->checkpoint[0] == '\0' || asked->resume[0] != '\0')
        return;
    for (int k = 2; k <= members; k++) {
        snprintf(path, sizeof path, "%s.%d", asked->checkpoint, k);
        (void)unlink(path);
    }
}

static npmd_status member_options(const member *k, npmd_options *o, npmd_error *err)
{
    const ensemble *e = k->all;
    *o = e->chosen == NULL ? *e->asked : *e->chosen;
    o->seed = member_seed(e->asked->seed, k->index, k->tries);
    o->members = 1;
    o->bootstrap = 0;
    if (e->chosen != NULL)
        o->convex_gap = 0;
    if (o->accuracy == 0.0 && !integrate_by_rules(e->model->domain) && o->combine == NPMD_COMBINE_LOG)
        o->accuracy = MEMBER_ACCURACY;
    o->progress = member_progress;
    o->user = (void *)(uintptr_t)k;
    o->truth = e->asked->truth;
    o->held_out = e->asked->held_out;
    memset(o->given, 0, sizeof o->given); /* the ensemble looks at these */
    return member_files(e->asked, k->index, o, err);
}

/* The state of a try that failed is of no use to the next, which keeps its own in the same file. */
static void member_forget(npmd_options *o)
{
    if (o->checkpoint[0] == '\0' && o->resume[0] != '\0')
        memcpy(o->checkpoint, o->resume, sizeof o->checkpoint);
    if (o->checkpoint[0] != '\0')
        (void)unlink(o->checkpoint);
    o->resume[0] = '\0';
}

/* A state to go on from may be that of a later try: then those before it had failed. */
static npmd_status member_skip(member *k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options o;
    uint64_t seed = 0;
    TRY(member_options(k, &o, err));
    if (o.resume[0] == '\0' || access(o.resume, F_OK) != 0)
        goto done;
    TRY(checkpoint_seed(o.resume, &seed, err));
    for (int tries = k->tries; tries < MOST_TRIES; tries++)
        if (member_seed(k->all->asked->seed, k->index, tries) == seed)
            k->tries = tries;
done:
    return st;
}

/* Fits one member, with other seeds if it collapses; the last try may be a convex start that stands alone. */
static npmd_status member_fit(member *k, npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const ensemble *e = k->all;
    npmd_points *own = NULL;
    npmd_model *m = NULL;
    const int first = k->tries;
    bool failed = false;
    if (e->model->options.bootstrap && k->index > 0)
        TRY(member_points(e, k->index, &own, err));
    if (first == 0)
        TRY(member_skip(k, err));
    for (;; k->tries++) {
        npmd_options o;
        TRY(member_options(k, &o, err));
        if (failed || first > 0)
            member_forget(&o);
        npmd_model_free(m);
        m = NULL;
        st = npmd_fit(e->model->domain, own == NULL ? e->points : own, &o, &m, err);
        failed = st == NPMD_ERR_NUMERIC || (st == NPMD_OK && m->linear);
        if (!failed || k->tries + 1 >= MOST_TRIES)
            break;
    }
    if (st != NPMD_OK)
        goto done;
    *out = m;
    m = NULL;
done:
    npmd_model_free(m);
    npmd_points_free(own);
    return st;
}

static void member_run(member *k)
{
    ensemble *e = k->all;
    npmd_model *fitted = NULL;
    if (!e->stopped)
        k->st = member_fit(k, &fitted, &k->err);
    if (fitted != NULL) {
        npmd_model_free(e->model->part[k->index]);
        e->model->part[k->index] = fitted;
    }
}

/* The members of a list, several at once where that fills a card; elsewhere outside of any parallel region, since theirs are
 * inside. */
static npmd_status members_fit(ensemble *e, member *list, int count, npmd_error *err)
{
    const bool card = on_card(&e->model->options);
    for (int i = 0; !card && i < count; i++)
        member_run(&list[i]);
    if (card) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(count < SIDE_BY_SIDE ? count : SIDE_BY_SIDE)
        for (int i = 0; i < count; i++)
            member_run(&list[i]);
    }
    const char *path = e->asked->checkpoint[0] != '\0' ? e->asked->checkpoint : e->asked->resume;
    for (int i = 0; i < count; i++)
        if (list[i].st == NPMD_STOPPED && path[0] != '\0')
            return npmd_fail(err, NPMD_STOPPED, "interrupted in member %d; --resume %s goes on from here",
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
    if (m->options.estimator != NPMD_FIELD)
        return 0;
    for (int k = 0; k < m->parts; k++)
        best = fmax(best, member_gain(m->part[k]));
    for (int k = 0; k < m->parts; k++)
        if (member_gain(m->part[k]) < LEAST_SHARE * best && all[k].tries + 1 < MOST_TRIES) {
            all[k].tries++;
            list[behind++] = all[k];
        }
    return behind;
}

/* The first by itself, then the others; then again those that fell behind. */
static npmd_status all_fit(ensemble *e, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_model *m = e->model;
    const int members = m->parts;
    npmd_options chosen;
    member *all = NULL, *list = NULL;
    TRY(memory_new(&all, (size_t)members, err));
    TRY(memory_new(&list, (size_t)members, err));
    for (int k = 0; k < members; k++)
        all[k] = (member){ .all = e, .index = k };
    members_clear(e->asked, members);
    TRY(members_fit(e, all, 1, err));
    chosen = m->part[0]->options;
    e->chosen = &chosen;
    TRY(members_fit(e, all + 1, members - 1, err));
    for (int behind; !e->stopped && (behind = members_behind(e, all, list)) > 0;) {
        TRY(members_fit(e, list, behind, err));
        for (int i = 0; i < behind; i++)
            all[list[i].index] = list[i];
    }
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

/* Members that are whole; one that was interrupted stays only when it is alone. */
static void members_settle(npmd_model *m)
{
    int kept = 0;
    for (int k = 0; k < m->parts; k++) {
        npmd_model *part = m->part[k];
        m->part[k] = NULL;
        if (part != NULL && part->facts.interrupted) {
            m->facts.interrupted = 1;
            if (kept > 0) {
                npmd_model_free(part);
                continue;
            }
        }
        if (part != NULL)
            m->part[kept++] = part;
    }
    if (kept < m->parts) {
        m->facts.interrupted = 1;
        model_warn(m, "the fit was interrupted: %d of %d members are whole", kept, m->parts);
    }
    m->parts = kept;
    for (int k = 0; k < kept; k++)
        m->part_weight[k] = 1.0 / kept;
}

static void members_report(npmd_model *m)
{
    npmd_fit_facts *f = &m->facts;
    int linear = 0;
    f->members = m->parts;
    f->objective = 0.0;
    f->steps = f->restarts = 0;
    f->resumed = m->part[0]->facts.resumed;
    for (int k = 0; k < m->parts; k++) {
        const npmd_model *part = m->part[k];
        f->steps += part->facts.steps;
        f->objective += part->facts.objective / m->parts;
        f->restarts += part->facts.restarts;
        linear += part->linear;
        if (f->checkpoint_failure[0] == '\0')
            memcpy(f->checkpoint_failure, part->facts.checkpoint_failure, sizeof f->checkpoint_failure);
    }
    for (int i = 0; i < m->part[0]->warnings; i++) /* choices that hold for all */
        model_warn(m, "%s", m->part[0]->warning[i]);
    if (linear > (m->part[0]->linear ? 1 : 0))
        model_warn(m, "%d members are their linear start alone", linear);
}

/* The first member's options are those of all. */
static void take_options(npmd_model *m)
{
    const npmd_options *from = &m->part[0]->options;
    npmd_options o = *from;
    o.members = m->options.members;
    o.bootstrap = m->options.bootstrap;
    o.accuracy = m->options.accuracy;
    o.progress = m->options.progress;
    o.user = m->options.user;
    m->options = o;
}

static npmd_status ensemble_fit(npmd_model *m, const npmd_options *asked, const npmd_points *pts,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    ensemble e = { .model = m, .asked = asked, .points = pts, .started = clock_seconds() };
    TRY(blend_open(m, m->options.members, err));
    TRY(all_fit(&e, err));
    members_settle(m);
    members_report(m);
    take_options(m);
    if (m->options.combine == NPMD_COMBINE_LOG)
        TRY(model_normalise(m, model_own_values, m, pts, (size_t)1 << 22, err));
    else
        for (int k = 0; k < m->parts; k++) /* of the mean of integrals that are one */
            m->facts.log_integral_se += m->part[k]->facts.log_integral_se / m->parts;
done:
    return st;
}

static npmd_status ensemble_resolve(const npmd_options *opt, const npmd_domain *dom, size_t n,
                                    npmd_options *out, size_t *working_bytes, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_options one = *opt;
    one.members = 1;
    one.bootstrap = 0;
    if (opt->members < 2 || (opt->bootstrap && opt->members < 3)) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--bootstrap on needs at least 3 members, --members %d were asked for", opt->members);
        goto done;
    }
    if (opt->estimator == NPMD_UNIFORM
        || (!opt->bootstrap && (opt->estimator == NPMD_SERIES || opt->estimator == NPMD_KDE))) {
        st = npmd_fail(err, NPMD_ERR_ARGUMENT,
                       "--members %d: members of this estimator would all be the same%s", opt->members,
                       opt->estimator == NPMD_UNIFORM ? "" : "; use --bootstrap on");
        goto done;
    }
    TRY(npmd_options_resolve(&one, dom, n, out, working_bytes, err));
    const size_t together = !on_card(out)                 ? 1
                            : opt->members < SIDE_BY_SIDE ? (size_t)opt->members
                                                          : SIDE_BY_SIDE;
    if (opt->bootstrap)
        *working_bytes += n * ((size_t)dom->columns + 1) * sizeof(double);
    *working_bytes *= together;
    if (out->accuracy == 0.0) /* of an estimator that needs none by itself */
        out->accuracy = options_accuracy(dom);
    out->members = opt->members;
    out->bootstrap = opt->bootstrap;
done:
    return st;
}

const estimator ESTIMATOR_LOG_MEAN = {
    .name = "ensemble",
    .keeps = true,
    .resolve = ensemble_resolve,
    .fit = ensemble_fit,
    .evaluate = blend_log_mean,
    .load = blend_load,
    .describe = blend_describe,
};

const estimator ESTIMATOR_MIXTURE = {
    .name = "ensemble",
    .keeps = true,
    .resolve = ensemble_resolve,
    .fit = ensemble_fit,
    .evaluate = blend_mixture,
    .draw = blend_draw,
    .load = blend_load,
    .describe = blend_describe,
};
