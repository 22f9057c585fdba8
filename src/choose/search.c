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
 *   3. where the best course is long, a higher frequency, from its beginning: what had learnt all there is in a few
 *      steps would but learn noise sooner;
 *   4. there, too, and where there is more than circles, the other encoding.
 *
 * A challenger is dropped at the first length at which it is not ahead of the best course so far, by more than the
 * standard error of the difference. Nothing but the criterion decides. The length is the vertex of the parabola through
 * the best and its neighbours, in the log of the length.
 *
 * With a base, of each share fitted without it, the base alone, v = 0, is a candidate: a course must be ahead of it by
 * the standard error of the difference. */
#include "choose.h"

#include <stdio.h>

#define LEAST_POINTS 100 /* fewer say nothing of a network */
#define FIRST_STEPS 125
#define MOST_LOOKS 8       /* 125 .. 16,000 steps */
#define LONG_COURSE 3      /* 1,000 steps: is there something that the coordinates do not see? */
#define VERY_LONG_COURSE 5 /* 4,000 steps: peaks that low frequencies reach late */
#define MOST_COURSES 64
#define OMEGA_START 2.5
#define OMEGA_HIGH 10.0
#define WORTH_ERRORS 0.5 /* an expected gain of so many standard errors is worth as many steps again */
#define TAU_START 1e-5
#define TAU_LEAST 1e-9
#define TAU_MOST 10.0

typedef struct look {
    npmd_model *model[JUDGING_MOST];
    verdict verdict;
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

struct search {
    const fit_plan *plan;
    const judging *judging;
    const fit_watch *watch;
    npmd_compute how;
    const char *words; /* what else is compared, for the record */
    open_settings open;
    base_set *base; /* (shares); a given one: the first serves all */
    look alone;     /* the base alone */
    course *course[MOST_COURSES];
    int courses, best, stage; /* best: the course that leads; -1: none */
    int64_t length;           /* that was asked for; 0: it is open */
    choice_record *record;
    int stop;
};

/* ---- one course --------------------------------------------------------------------------------------------------- */

static int search_progress(const npmd_report *now, void *user)
{
    search *s = user;
    s->stop = s->stop || watch_choosing(s->watch, now) != 0;
    return s->stop;
}

static void look_close(look *l)
{
    for (int k = 0; k < JUDGING_MOST; k++)
        model_free(l->model[k]);
    memory_free(l->verdict.log_density);
    *l = (look){ 0 };
}

static const look *course_at(const course *c, int i)
{
    return i < c->shared ? course_at(c->parent, i) : &c->look[i];
}

static double course_criterion(const course *c)
{
    return course_at(c, c->best)->verdict.criterion;
}

static int64_t look_steps(const search *s, int i)
{
    return s->length > 0 ? s->length : (int64_t)FIRST_STEPS << i;
}

static base_set *search_base(const search *s, int fold)
{
    return &s->base[s->plan->origin.base != NULL ? 0 : fold];
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
    if (s->plan->asked.base != BASE_NONE)
        origin.bases = search_base(s, fold), origin.base = origin.bases->whole;
    TRY(memory_new(&own, 1, err));
    TRY(plan_make(s->plan->estimators, &d.set, &origin, s->plan->domain, s->judging->training[fold]->n, own, err));
    st = fit_run(own, s->judging->training[fold], &(fit_watch){ .progress = search_progress, .user = s },
                 &c->look[i].model[fold], err);
    *failed = st == NPMD_ERR_NUMERIC;
    if (*failed)
        st = NPMD_OK;
done:
    memory_free(own);
    return st;
}

static npmd_status search_note(search *s, const course *c, look *l, npmd_error *err)
{
    choice_row row = { .stage = s->stage,
                       .steps = l->steps,
                       .tau = c->tau,
                       .criterion = l->verdict.criterion,
                       .criterion_se = l->verdict.se,
                       .difference = NAN,
                       .difference_se = NAN };
    snprintf(row.settings, sizeof row.settings, "%s%somega=%g encoding=%s", s->words, s->words[0] == '\0' ? "" : " ",
             c->omega, option_find("encoding")->choice[c->from]);
    l->row = s->record->rows;
    return choice_add(s->record, &row, err);
}

/* Is a look better than another one, by more than so many standard errors of the difference? */
static bool look_ahead(const search *s, const look *l, const look *of, double errors)
{
    double difference = 0.0, se = 0.0;
    judging_compare(s->judging, &l->verdict, &of->verdict, &difference, &se);
    return difference < -errors * se;
}

/* The bases of all shares, and how good they are alone. */
static npmd_status search_bases(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_watch watch = { .progress = search_progress, .user = s };
    if (s->plan->asked.base == BASE_NONE)
        return NPMD_OK;
    TRY(memory_new(&s->base, (size_t)s->judging->folds, err));
    for (int k = 0; k < s->judging->folds; k++) {
        if (search_base(s, k) == &s->base[k])
            TRY(base_open(&s->base[k], s->plan, s->judging->training[k], &watch, err));
        s->alone.model[k] = model_share(search_base(s, k)->whole);
        TRY(judging_hear(s->judging, k, s->alone.model[k], &s->how, &s->alone.verdict, err));
    }
    choice_row row = { .stage = s->stage,
                       .criterion = s->alone.verdict.criterion,
                       .criterion_se = s->alone.verdict.se,
                       .difference = NAN,
                       .difference_se = NAN,
                       .settings = "base alone" };
    s->alone.row = s->record->rows;
    TRY(choice_add(s->record, &row, err));
done:
    return st;
}

/* May look i, the latest, be followed by another one? */
static bool course_goes_on(const search *s, const course *c, int i)
{
    const look *now = course_at(c, i);
    double gain = 0.0, se = 0.0, falls = 1.0; /* of one gain nothing is known yet */
    if (c->looks >= MOST_LOOKS || s->length > 0)
        return false;
    if (i == 0)
        return true;
    judging_compare(s->judging, &course_at(c, i - 1)->verdict, &now->verdict, &gain, &se);
    if (i > 1)
        falls = fmin(gain / (course_at(c, i - 2)->verdict.criterion - course_at(c, i - 1)->verdict.criterion), 1.0);
    return gain > 0.0 && gain * falls > WORTH_ERRORS * se;
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
    for (int k = 0; k < s->judging->folds && !failed && !s->stop; k++)
        TRY(course_train(s, c, i, k, &failed, err));
    if (failed || s->stop) {
        look_close(l);
        goto done;
    }
    for (int k = 0; k < s->judging->folds; k++)
        TRY(judging_hear(s->judging, k, l->model[k], &s->how, &l->verdict, err));
    TRY(search_note(s, c, l, err));
    c->looks++;
    if (c->best < 0 || l->verdict.criterion < course_criterion(c))
        c->best = i;
    *on = course_goes_on(s, c, i);
done:
    return st;
}

/* What of the plan's settings the data may choose: nothing, if both tau and the length were given. */
static open_settings plan_open(const fit_plan *plan)
{
    open_settings open = settings_open(&plan->asked);
    if (!open.tau && !open.length)
        return (open_settings){ 0 };
    open.omega = open.omega && plan->origin.model == NULL; /* whose weights mean nothing with another one */
    open.encoding = open.encoding && plan->origin.encoded == NULL;
    return open;
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

/* Whether a challenger leads. Of another tau little is asked: both sides are tried, and neither is dearer; a smoother
 * one need but be no worse. */
static bool search_leads(const search *s, const course *c, const course *leader, const look *l, const look *of)
{
    const bool same = c->omega == leader->omega && c->from == leader->from;
    return look_ahead(s, l, of, !same ? 1.0 : c->tau > leader->tau ? 0.0 : WORTH_ERRORS);
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
    if (c->best >= 0
        && (leader == NULL || search_leads(s, c, leader, course_at(c, c->best), course_at(leader, leader->best)))) {
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
        if (c->best < 0 || course_at(leader, i)->verdict.criterion < course_criterion(c))
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

/* A course of its own beginning, with the leader's tau. */
static npmd_status search_challenge(search *s, double omega, int from, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    course *c = NULL;
    bool better = false;
    s->stage++;
    if (s->courses >= MOST_COURSES)
        return NPMD_OK;
    TRY(search_new(s, omega, search_best(s)->tau, from, &c, err));
    TRY(search_run(s, c, &better, err));
done:
    return st;
}

static bool search_longer(const search *s, int best)
{
    return s->best >= 0 && (s->length > 0 || search_best(s)->best >= best);
}

/* ---- the choice --------------------------------------------------------------------------------------------------- */

static int64_t best_length(const course *c)
{
    const int b = c->best;
    const double here = course_criterion(c), below = b > 0 ? course_at(c, b - 1)->verdict.criterion - here : NAN,
                 above = b + 1 < c->looks ? course_at(c, b + 1)->verdict.criterion - here : NAN;
    return (int64_t)llround((double)course_at(c, b)->steps * pow(2.0, choice_vertex(below, above)));
}

double choice_vertex(double below, double above)
{
    if (isnan(below) || isnan(above) || below == above)
        return 0.0;
    if (below < 0.0 || above < 0.0) /* beyond a neighbour, or a maximum: halfway to the better one */
        return below < above ? -0.5 : 0.5;
    return 0.5 * (below - above) / (below + above);
}

npmd_status search_open(const fit_plan *plan, const judging *j, const char *words, const fit_watch *watch,
                        choice_record *into, search **out, npmd_error *err)
{
    search *s = NULL;
    const npmd_status st = memory_new(&s, 1, err);
    if (st != NPMD_OK)
        return st;
    *s = (search){ .plan = plan,
                   .judging = j,
                   .watch = watch,
                   .how = model_compute(&plan->full),
                   .words = words,
                   .open = plan_open(plan),
                   .best = -1,
                   .stage = 1,
                   .record = into };
    s->length = s->open.length ? 0 : plan->full.descent.steps;
    *out = s;
    return NPMD_OK;
}

void search_close(search *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < s->courses; i++) {
        for (int j = 0; j < MOST_LOOKS; j++)
            look_close(&s->course[i]->look[j]);
        memory_free(s->course[i]);
    }
    for (int k = 0; s->base != NULL && k < s->judging->folds; k++)
        base_close(&s->base[k]);
    memory_free(s->base);
    look_close(&s->alone);
    memory_free(s);
}

npmd_status search_start(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *full = &s->plan->full;
    course *c = NULL;
    bool better = false;
    TRY(search_bases(s, err));
    TRY(search_new(s, s->open.omega ? OMEGA_START : full->network.omega, s->open.tau ? TAU_START : full->tau,
                   full->encoding.from, &c, err));
    TRY(search_run(s, c, &better, err));
done:
    return st;
}

npmd_status search_go_on(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (s->best >= 0 && s->open.tau && !s->stop)
        TRY(search_taus(s, err));
    if (search_longer(s, VERY_LONG_COURSE) && s->open.omega && !s->stop)
        TRY(search_challenge(s, OMEGA_HIGH, search_best(s)->from, err));
    if (search_longer(s, LONG_COURSE) && s->open.encoding && !s->plan->domain->torus && !s->stop)
        TRY(search_challenge(s, search_best(s)->omega,
                             search_best(s)->from == FEATURES_COORDINATES ? FEATURES_DRAWN : FEATURES_COORDINATES,
                             err));
done:
    return st;
}

/* Is no course ahead of the base alone? Then v = 0. */
static bool search_alone(const search *s)
{
    const course *leader = search_best(s);
    return s->alone.verdict.log_density != NULL && !s->stop
           && (leader == NULL || !look_ahead(s, course_at(leader, leader->best), &s->alone, 1.0));
}

const verdict *search_verdict(const search *s)
{
    const course *c = search_best(s);
    return search_alone(s) ? &s->alone.verdict : c == NULL ? NULL : &course_at(c, c->best)->verdict;
}

void search_differences(const search *s, const verdict *best)
{
    for (int i = 0; i < s->courses; i++)
        for (int j = s->course[i]->shared; j < s->course[i]->looks; j++) {
            const look *l = &s->course[i]->look[j];
            choice_row *row = &s->record->row[l->row];
            judging_compare(s->judging, &l->verdict, best, &row->difference, &row->difference_se);
            row->kept = &l->verdict == best;
        }
    if (s->alone.verdict.log_density != NULL) {
        choice_row *row = &s->record->row[s->alone.row];
        judging_compare(s->judging, &s->alone.verdict, best, &row->difference, &row->difference_se);
        row->kept = &s->alone.verdict == best;
    }
}

void search_take(const search *s, settings *set)
{
    const course *c = search_best(s);
    set->alone = search_alone(s);
    if (c == NULL)
        return;
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

/* The best row's log density goes to the record, for those who compare others with it. */
static npmd_status search_settle(const search *s, npmd_model *m, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const verdict *best = search_verdict(s);
    choice_record *into = s->record;
    search_differences(s, best);
    search_take(s, &m->set);
    if (m->set.alone)
        model_warn(m,
                   "no network was ahead of the base alone on %zu held-out points by more than the error of the "
                   "difference: the model is the base, v = 0",
                   s->judging->judged);
    into->criterion = s->judging->criterion;
    into->training = s->judging->training[0]->n;
    into->held_out = s->judging->judged;
    TRY(memory_new(&into->log_density, s->judging->judged, err));
    memcpy(into->log_density, best->log_density, s->judging->judged * sizeof *best->log_density);
    judging_mean(s->judging, best->log_density, &m->held_out_nll, &m->held_out_nll_se);
    m->held_out_nll = -m->held_out_nll;
done:
    return st;
}

npmd_status choose_settings(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const open_settings open = plan_open(f->plan);
    judging j = { 0 };
    search *s = NULL;
    *stopped = false;
    if ((!open.tau && !open.length) || f->plan->asked.alone) /* that is what the first of several members found */
        return NPMD_OK;
    TRY(judging_open(&j, f->points, &f->plan->full, err));
    if (j.folds == 0 || f->points->n < LEAST_POINTS) /* nothing to learn from: what is usual stands */
        goto done;
    TRY(search_open(f->plan, &j, "", watch, &f->model->choice, &s, err));
    TRY(search_start(s, err));
    TRY(search_go_on(s, err));
    *stopped = s->stop != 0;
    if (search_verdict(s) == NULL)
        goto done;
    TRY(search_settle(s, f->model, err));
    if (f->plan->full.rivals && !*stopped)
        TRY(rivals_hear(&j, f->plan, watch, f->model, stopped, err));
done:
    search_close(s);
    judging_close(&j);
    return st;
}
