/* search.c - the settings of a field that came without them: its length, tau, omega and encoding.
 *
 * What keeps a network from learning noise is above all the length of its training, then omega, the frequency of its
 * sines, and only then the penalty. So a course is trained on a part of the points, and the points that it has not seen
 * say how long it should have been: its rate falls to zero at FIRST_STEPS steps, rises again, and falls to zero at twice
 * as many, and so on; at each of these lengths the weights are judged. Nothing is begun again for a longer one. A course
 * goes on while the next doubling may be expected to gain more than the error of what is seen: gains fall from one
 * doubling to the next, and the next one is taken to fall by as much as the last did. The courses:
 *
 *   1. the start: a low omega, a weak penalty, the coordinates alone;
 *   2. other penalties, by tens, as long as they are better: each shares the first quarter of the best length so far;
 *   3. where the best course is long, higher frequencies, by twos, as long as they are better, each from its beginning:
 *      one that had learnt all there is in a few steps would but learn noise sooner;
 *   4. there, too, the other encoding.
 *
 * A challenger is dropped at the first length at which it is not ahead of the best course so far, by more than the
 * standard error of the difference. Nothing but the criterion decides. The length is the vertex of the parabola through
 * the best and its neighbours, in the log of the length. */
#include "choose.h"

#include <stdio.h>

#define LEAST_POINTS 100 /* fewer say nothing of a network */
#define FIRST_STEPS 125
#define MOST_LOOKS 7  /* 125 .. 8,000 steps */
#define LONG_COURSE 3 /* the look from which on a course is long: 1,000 steps */
#define MOST_COURSES 64
#define OMEGA_START 2.5
#define OMEGA_MOST 20.0
#define TAU_START 1e-5
#define TAU_LEAST 1e-9
#define TAU_MOST 10.0

typedef struct look {
    npmd_model *model[JUDGING_MOST];
    double *log_density; /* (held-out points of all folds), per volume */
    double criterion, se;
    int64_t steps;
    int row; /* of the record */
} look;

typedef struct course course;
struct course {
    double omega, tau;
    int from;             /* encoding_features */
    const course *parent; /* whose first looks are its own, too */
    int shared;
    look look[MOST_LOOKS]; /* from shared on */
    int looks;             /* with those shared */
    int best;              /* of them; -1: none */
};

typedef struct search {
    const fit_plan *plan;
    const fit_watch *watch;
    npmd_compute how;
    int criterion;
    judging judging;
    double *room; /* (judged) */
    course *course[MOST_COURSES];
    int courses, best, stage; /* best: the course that leads; -1: none */
    int64_t length;           /* that was asked for; 0: it is open */
    choice_record *record;
    int stop;
} search;

/* ---- one course --------------------------------------------------------------------------------------------------- */

static int search_progress(const npmd_report *now, void *user)
{
    search *s = user;
    npmd_report report = *now;
    report.attempt = 0;
    report.logged = 0;
    s->stop = s->stop || watch_tell(s->watch, &report) != 0;
    return s->stop;
}

static void look_close(look *l)
{
    for (int k = 0; k < JUDGING_MOST; k++)
        model_free(l->model[k]);
    memory_free(l->log_density);
    *l = (look){ 0 };
}

static const look *course_at(const course *c, int i)
{
    return i < c->shared ? course_at(c->parent, i) : &c->look[i];
}

static double course_criterion(const course *c)
{
    return course_at(c, c->best)->criterion;
}

static int64_t look_steps(const search *s, int i)
{
    return s->length > 0 ? s->length : (int64_t)FIRST_STEPS << i;
}

/* One fold from one look to the next; *failed: it collapsed. */
static npmd_status course_train(search *s, course *c, int i, int fold, bool *failed, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *before = i == 0 ? NULL : course_at(c, i - 1)->model[fold];
    const int64_t steps = look_steps(s, i) - (i == 0 ? 0 : look_steps(s, i - 1));
    const derived d = derive_course(&s->plan->asked, &s->plan->full, c->omega, c->tau, c->from, steps);
    fit_origin origin = { .model = before, .encoded = before, .model_path = "", .encoded_path = "" };
    fit_plan *own = NULL;
    if (before == NULL && c->from == s->plan->full.encoding.from)
        origin.encoded = s->plan->origin.encoded, origin.encoded_path = s->plan->origin.encoded_path;
    TRY(memory_new(&own, 1, err));
    TRY(plan_make(s->plan->estimators, &d.set, &origin, s->plan->domain, s->judging.training[fold]->n, own, err));
    st = fit_run(own, s->judging.training[fold], &(fit_watch){ .progress = search_progress, .user = s },
                 &c->look[i].model[fold], err);
    *failed = st == NPMD_ERR_NUMERIC;
    if (*failed)
        st = NPMD_OK;
done:
    memory_free(own);
    return st;
}

static npmd_status look_judge(search *s, look *l, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double ise = 0.0, variance = 0.0;
    size_t at = 0;
    TRY(memory_new(&l->log_density, s->judging.judged, err));
    for (int k = 0; k < s->judging.folds; k++) {
        TRY(model_evaluate_at(l->model[k], s->judging.held_out[k], NPMD_LOG_DENSITY, &s->how, l->log_density + at,
                              err));
        if (s->criterion == CRITERION_ISE) {
            npmd_score score;
            const double share = (double)s->judging.held_out[k]->n / (double)s->judging.judged,
                         volume = s->plan->domain->volume;
            TRY(model_score(l->model[k], s->judging.held_out[k], s->plan->full.seed, &s->how, &score, err));
            ise += share * score.ise_criterion_relative;
            variance += share * share * volume * volume * score.ise_criterion_se * score.ise_criterion_se;
        }
        at += s->judging.held_out[k]->n;
    }
    judging_mean(&s->judging, l->log_density, &l->criterion, &l->se);
    l->criterion = -l->criterion;
    if (s->criterion == CRITERION_ISE) {
        l->criterion = ise;
        l->se = sqrt(variance);
    }
done:
    return st;
}

static npmd_status search_note(search *s, const course *c, look *l, npmd_error *err)
{
    choice_row row = { .stage = s->stage,
                       .steps = l->steps,
                       .tau = c->tau,
                       .criterion = l->criterion,
                       .criterion_se = l->se,
                       .difference = NAN,
                       .difference_se = NAN };
    snprintf(row.settings, sizeof row.settings, "omega=%g encoding=%s", c->omega,
             option_find("encoding")->choice[c->from]);
    l->row = s->record->rows;
    return choice_add(s->record, &row, err);
}

/* What point k contributes to the criterion of a look. */
static double contribution(const search *s, const look *l, size_t k)
{
    return s->criterion == CRITERION_LIKELIHOOD ? -l->log_density[k]
                                                : -2.0 * exp(l->log_density[k] + log(s->plan->domain->volume));
}

/* How much larger the criterion is than that of another look, and the error of that. */
static void look_compare(const search *s, const look *l, const look *other, double *difference, double *se)
{
    double mean = 0.0;
    for (size_t k = 0; k < s->judging.judged; k++)
        s->room[k] = contribution(s, l, k) - contribution(s, other, k);
    judging_mean(&s->judging, s->room, &mean, se);
    *difference = l->criterion - other->criterion;
}

static bool look_ahead(const search *s, const look *l, const look *of)
{
    double difference = 0.0, se = 0.0;
    look_compare(s, l, of, &difference, &se);
    return difference < -se;
}

/* May look i, the latest, be followed by another one? */
static bool course_goes_on(const search *s, const course *c, int i)
{
    const look *now = course_at(c, i);
    double gain = 0.0, se = 0.0, before = INFINITY;
    if (c->looks >= MOST_LOOKS || s->length > 0)
        return false;
    if (i == 0)
        return true;
    look_compare(s, course_at(c, i - 1), now, &gain, &se);
    if (i > 1)
        before = course_at(c, i - 2)->criterion - course_at(c, i - 1)->criterion;
    return gain > se && (i == 1 || gain * fmin(gain / before, 1.0) > se);
}

/* The next look of a course; *on: it may go on. */
static npmd_status course_look(search *s, course *c, bool *on, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int i = c->looks;
    look *l = &c->look[i];
    bool failed = false;
    *on = false;
    l->steps = look_steps(s, i);
    for (int k = 0; k < s->judging.folds && !failed && !s->stop; k++)
        TRY(course_train(s, c, i, k, &failed, err));
    if (failed || s->stop) {
        look_close(l);
        goto done;
    }
    TRY(look_judge(s, l, err));
    TRY(search_note(s, c, l, err));
    c->looks++;
    if (c->best < 0 || l->criterion < course_criterion(c))
        c->best = i;
    *on = course_goes_on(s, c, i);
done:
    return st;
}

static const course *search_best(const search *s)
{
    return s->best < 0 ? NULL : s->course[s->best];
}

static npmd_status search_new(search *s, double omega, double tau, int from, course **out, npmd_error *err)
{
    course *c = NULL;
    const npmd_status st = memory_new(&c, 1, err);
    if (st != NPMD_OK)
        return st;
    *c = (course){ .omega = omega, .tau = tau, .from = from, .best = -1 };
    s->course[s->courses++] = c;
    *out = c;
    return NPMD_OK;
}

/* Whether a challenger leads. One that is smoother need only be no worse: of equals the simpler one is taken. */
static bool search_leads(const search *s, const course *c, const course *leader, const look *l, const look *of)
{
    return c->tau > leader->tau && c->omega == leader->omega && c->from == leader->from ? l->criterion < of->criterion
                                                                                        : look_ahead(s, l, of);
}

/* Runs the latest course on from where it is, as long as it is ahead of the leader at the same length; *better: it
 * leads now. */
static npmd_status search_run(search *s, course *c, bool *better, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const course *leader = search_best(s);
    bool on = true;
    *better = false;
    while (on && !s->stop) {
        const int i = c->looks;
        TRY(course_look(s, c, &on, err));
        if (leader == NULL || c->looks <= i || i >= leader->looks)
            continue;
        on = (on || i < leader->best) && search_leads(s, c, leader, &c->look[i], course_at(leader, i));
    }
    if (c->best >= 0 && (leader == NULL || look_ahead(s, course_at(c, c->best), course_at(leader, leader->best)))) {
        s->best = s->courses - 1;
        *better = true;
    }
done:
    return st;
}

/* ---- the moves ---------------------------------------------------------------------------------------------------- */

/* The leader with another tau from a quarter of its best length on. */
static npmd_status search_tau_step(search *s, double tau, bool *better, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const course *leader = search_best(s);
    course *c = NULL;
    *better = false;
    if (!(tau >= 0.99 * TAU_LEAST && tau <= 1.01 * TAU_MOST) || s->courses >= MOST_COURSES)
        return NPMD_OK;
    TRY(search_new(s, leader->omega, tau, leader->from, &c, err));
    c->parent = leader;
    c->shared = c->looks = leader->best > 0 ? leader->best - 1 : 0;
    for (int i = 0; i < c->shared; i++)
        if (c->best < 0 || course_at(leader, i)->criterion < course_criterion(c))
            c->best = i;
    TRY(search_run(s, c, better, err));
done:
    return st;
}

static npmd_status search_taus(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool better = false, moved = false;
    s->stage++;
    for (int up = 1; up >= 0 && !moved; up--) {
        do {
            TRY(search_tau_step(s, search_best(s)->tau * (up ? 10.0 : 0.1), &better, err));
            moved = moved || better;
        } while (better && !s->stop);
    }
done:
    return st;
}

static npmd_status search_omegas(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool better = true;
    s->stage++;
    while (better && !s->stop && s->courses < MOST_COURSES) {
        const course *leader = search_best(s);
        course *c = NULL;
        if (2.0 * leader->omega > OMEGA_MOST)
            break;
        TRY(search_new(s, 2.0 * leader->omega, leader->tau, leader->from, &c, err));
        TRY(search_run(s, c, &better, err));
    }
done:
    return st;
}

static npmd_status search_encoding(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const course *leader = search_best(s);
    course *c = NULL;
    bool better = false;
    s->stage++;
    TRY(search_new(s, leader->omega, leader->tau,
                   leader->from == FEATURES_COORDINATES ? FEATURES_DRAWN : FEATURES_COORDINATES, &c, err));
    TRY(search_run(s, c, &better, err));
done:
    return st;
}

static bool search_long(const search *s)
{
    return s->best >= 0 && (s->length > 0 || search_best(s)->best >= LONG_COURSE);
}

/* ---- the choice --------------------------------------------------------------------------------------------------- */

/* The rows' differences to the best one, point by point. */
static void search_record(search *s)
{
    const course *leader = search_best(s);
    look *best = (look *)(uintptr_t)course_at(leader, leader->best);
    s->record->criterion = s->criterion;
    s->record->training = s->judging.training[0]->n;
    s->record->held_out = s->judging.judged;
    for (int i = 0; i < s->courses; i++)
        for (int j = s->course[i]->shared; j < s->course[i]->looks; j++) {
            const look *l = &s->course[i]->look[j];
            choice_row *row = &s->record->row[l->row];
            look_compare(s, l, best, &row->difference, &row->difference_se);
            row->kept = l->row == best->row;
        }
    s->record->log_density = best->log_density;
    best->log_density = NULL;
}

static int64_t best_length(const course *c)
{
    const int b = c->best;
    const double here = course_criterion(c), below = b > 0 ? course_at(c, b - 1)->criterion - here : NAN,
                 above = b + 1 < c->looks ? course_at(c, b + 1)->criterion - here : NAN;
    return (int64_t)llround((double)course_at(c, b)->steps * pow(2.0, choice_vertex(below, above)));
}

static void search_take(const search *s, npmd_model *m)
{
    const course *c = search_best(s);
    settings *set = &m->set;
    set->tau = c->tau;
    set->network.omega = c->omega;
    if (c->from != set->encoding.from)
        set->encoding = course_at(c, c->best)->model[0]->set.encoding;
    if (s->length == 0) {
        set->descent.steps = best_length(c);
        if (set->descent.warmup > set->descent.steps / 2)
            set->descent.warmup = set->descent.steps / 2;
    }
}

static void search_close(search *s)
{
    for (int i = 0; i < s->courses; i++) {
        for (int j = 0; j < MOST_LOOKS; j++)
            look_close(&s->course[i]->look[j]);
        memory_free(s->course[i]);
    }
    judging_close(&s->judging);
    memory_free(s->room);
}

npmd_status choose_settings(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *asked = &f->plan->asked, *full = &f->plan->full;
    open_settings open = settings_open(asked);
    search *s = NULL;
    course *c = NULL;
    bool better = false;
    *stopped = false;
    open.omega = open.omega && f->plan->origin.model == NULL; /* whose weights mean nothing with another one */
    open.encoding = open.encoding && f->plan->origin.encoded == NULL;
    if (!open.tau && !open.omega && !open.encoding && !open.length)
        return NPMD_OK;
    TRY(memory_new(&s, 1, err));
    s->plan = f->plan;
    s->watch = watch;
    s->how = model_compute(full);
    s->criterion = full->criterion;
    s->record = &f->model->choice;
    s->best = -1;
    s->stage = 1;
    s->length = open.length ? 0 : full->descent.steps;
    TRY(judging_open(&s->judging, f->points, full, err));
    if (s->judging.folds == 0 || f->points->n < LEAST_POINTS) /* nothing to learn from: what is usual stands */
        goto done;
    TRY(memory_new(&s->room, s->judging.judged, err));
    TRY(search_new(s, open.omega ? OMEGA_START : full->network.omega, open.tau ? TAU_START : full->tau,
                   full->encoding.from, &c, err));
    TRY(search_run(s, c, &better, err));
    if (s->best >= 0 && open.tau && full->penalty != PENALTY_NONE && !s->stop)
        TRY(search_taus(s, err));
    if (search_long(s) && open.omega && !s->stop)
        TRY(search_omegas(s, err));
    if (search_long(s) && open.encoding && !s->stop)
        TRY(search_encoding(s, err));
    *stopped = s->stop != 0;
    if (s->best < 0)
        goto done;
    search_record(s);
    search_take(s, f->model);
    judging_mean(&s->judging, s->record->log_density, &f->model->held_out_nll, &f->model->held_out_nll_se);
    f->model->held_out_nll = -f->model->held_out_nll;
    if (full->rivals && !s->stop)
        TRY(rivals_hear(&s->judging, f->plan, watch, f->model, err));
done:
    if (s != NULL)
        search_close(s);
    memory_free(s);
    return st;
}
