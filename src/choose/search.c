/* search.c - the settings of a field that came without them: its length, tau, omega, size and encoding, and its base.
 *
 * What keeps a network from learning noise is above all the length of its training, then omega, the frequency of its
 * sines, and only then the penalty. So a course is trained on a part of the points, and the points that it has not seen
 * say how long it should have been: its rate falls to zero at FIRST_STEPS steps, rises again, and falls to zero at twice
 * as many, and so on; at each of these lengths the weights are judged. Nothing is begun again for a longer one. A course
 * goes on to HEAT looks unless the last doubling has lost, and beyond them while it has surely gained. The courses:
 *
 *   1. the start: a small network, a low omega, a weak penalty, the coordinates alone;
 *   2. the heat, if it still gains at HEAT looks: a larger network, a higher omega, and where there is more than circles
 *      the other encoding, each from its beginning; they reach peaks and ridges sooner, and what had learnt all there is
 *      in a few steps would but learn noise sooner, too. The winner goes on;
 *   3. other penalties, first far above, then by tens, as long as they are better: each shares the first quarter of the
 *      best length so far.
 *
 * A challenger is dropped at the first length at which it is not ahead of the best course so far, by more than the
 * standard error of the difference. Nothing but the criterion decides. The best look of a course is the shortest one that
 * is no worse than the best by half a standard error; the length is the vertex of the parabola through it and its
 * neighbours, in the log of the length.
 *
 * v = 0 is a candidate, too: the base alone, of each share fitted without it, or without a base the uniform density. A
 * course must be ahead of a base by the standard error of the difference. Where it is open whether there is a base, the
 * best rival becomes one if it is ahead of the best course without, and if what is found over it is ahead, too; and the
 * first course ends where all doublings that are left, with gains that fall as they did, would not reach the rival. */
#include "choose.h"

#include <stdio.h>

#define LEAST_POINTS 100 /* fewer say nothing of a network */
#define FIRST_STEPS 125
#define MOST_LOOKS 8 /* 125 .. 16,000 steps */
#define HEAT 4       /* looks, 1,000 steps: what still gains may have something that it does not see */
#define MOST_COURSES 64
#define OMEGA_START 2.5
#define OMEGA_HIGH 5.0
#define WORTH_ERRORS 0.5 /* a gain of fewer standard errors is worth neither more steps nor a rougher field */
#define TAU_START 1e-6   /* too weak to be felt but by long courses: length comes first */
#define TAU_LEAST 1e-9
#define TAU_MOST 10.0
#define TAU_FAR 1000.0

typedef struct look {
    npmd_model *model[JUDGING_MOST];
    verdict verdict;
    int64_t steps;
    double penalty; /* mean of (Lap v)^2 at its last step, over all shares */
    int row;        /* of the record */
} look;

typedef struct course course;
struct course {
    course_kind kind;
    const course *parent; /* whose first looks are its own, too */
    int shared;
    look look[MOST_LOOKS]; /* from shared on */
    int looks;             /* with those shared */
    bool on;               /* it may go on */
    int best;              /* of them, the shortest that is as good as any; -1: none */
};

struct search {
    const fit_plan *plan;
    const judging *judging;
    const fit_watch *watch; /* of those who wait for the choice */
    fit_watch own;          /* of the fits that are compared */
    npmd_compute how;
    const char *words; /* what else is compared, for the record */
    open_settings open;
    base_set *base; /* (shares); a given one: the first serves all */
    look alone;     /* v = 0: the base alone; or, if the base is open, the uniform density */
    course *course[MOST_COURSES];
    int courses, best, stage; /* best: the course that leads; -1: none */
    int64_t length;           /* that was asked for; 0: it is open */
    choice_record *record;
    const heard_rival *rival; /* that may become the base; NULL: none may */
    bool out_of_reach;        /* so it is for the first course */
    double penalty;           /* of the latest report */
    int stop;
};

/* ---- one course --------------------------------------------------------------------------------------------------- */

static int search_progress(const npmd_report *now, void *user)
{
    search *s = user;
    if (now->penalty > 0.0)
        s->penalty = now->penalty;
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
    const derived d = derive_course(&s->plan->asked, &s->plan->full, &c->kind, steps);
    fit_origin origin = { .model = before, .encoded = before, .model_path = "", .encoded_path = "" };
    fit_plan *own = NULL;
    if (before == NULL && c->kind.from == s->plan->full.encoding.from)
        origin.encoded = s->plan->origin.encoded, origin.encoded_path = s->plan->origin.encoded_path;
    if (s->plan->asked.base > BASE_AUTO)
        origin.bases = search_base(s, fold), origin.base = origin.bases->whole;
    TRY(memory_new(&own, 1, err));
    TRY(plan_make(s->plan->estimators, &d.set, &origin, s->plan->domain, s->judging->training[fold]->n, own, err));
    st = fit_run(own, s->judging->training[fold], &s->own, &c->look[i].model[fold], err);
    *failed = st == NPMD_ERR_NUMERIC;
    if (*failed)
        st = NPMD_OK;
    c->look[i].penalty += s->penalty / s->judging->folds;
done:
    memory_free(own);
    return st;
}

static npmd_status search_note(search *s, const course *c, look *l, npmd_error *err)
{
    char size[40] = "";
    choice_row row = { .stage = s->stage,
                       .steps = l->steps,
                       .tau = c->kind.tau,
                       .criterion = l->verdict.criterion,
                       .criterion_se = l->verdict.se,
                       .difference = NAN,
                       .difference_se = NAN };
    if (s->open.size)
        snprintf(size, sizeof size, "width=%d depth=%d ", c->kind.width, c->kind.depth);
    snprintf(row.settings, sizeof row.settings, "%s%s%somega=%g encoding=%s", s->words, s->words[0] == '\0' ? "" : " ",
             size, c->kind.omega, option_find("encoding")->choice[c->kind.from]);
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

static npmd_status search_note_alone(search *s, const char *what, npmd_error *err)
{
    choice_row row = { .stage = s->stage,
                       .tau = NAN,
                       .criterion = s->alone.verdict.criterion,
                       .criterion_se = s->alone.verdict.se,
                       .difference = NAN,
                       .difference_se = NAN };
    snprintf(row.settings, sizeof row.settings, "%s%s%s", s->words, s->words[0] == '\0' ? "" : " ", what);
    s->alone.row = s->record->rows;
    return choice_add(s->record, &row, err);
}

/* The bases of all shares, and how good they are alone. */
static npmd_status search_bases(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (s->plan->asked.base <= BASE_AUTO)
        return NPMD_OK;
    TRY(memory_new(&s->base, (size_t)s->judging->folds, err));
    for (int k = 0; k < s->judging->folds; k++) {
        if (search_base(s, k) == &s->base[k])
            TRY(base_open(&s->base[k], s->plan, s->judging->training[k], k == 0 ? NULL : &s->base[0].whole->set,
                          &s->own, err));
        s->alone.model[k] = model_share(search_base(s, k)->whole);
        TRY(judging_hear(s->judging, k, s->alone.model[k], &s->how, &s->alone.verdict, err));
    }
    TRY(search_note_alone(s, "v=0", err));
done:
    return st;
}

/* Without a base v = 0 is the uniform density. */
static npmd_status search_uniform(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const part_kind kind = { FIT_UNIFORM, 0, true };
    const derived d = derive_part(&s->plan->asked, &kind, 1, false, false, NULL);
    TRY(judging_fit(s->judging, s->plan, &d, &s->own, &s->alone.verdict, &s->alone.model[0], err));
    if (s->alone.model[0] != NULL)
        TRY(search_note_alone(s, "uniform", err));
done:
    return st;
}

static const course *search_best(const search *s)
{
    return s->best < 0 ? NULL : s->course[s->best];
}

/* May as many doublings as are left, with gains that fall as the last did, reach the rival? */
static bool rival_in_reach(const search *s, const look *now, int left, double gain, double falls)
{
    double behind = 0.0, se = 0.0, to_come = 0.0;
    if (s->rival == NULL)
        return true;
    judging_compare(s->judging, &now->verdict, &s->rival->verdict, &behind, &se);
    for (int i = 0; i < left; i++)
        to_come += gain *= falls;
    return behind - NO_ACCIDENT * se <= to_come;
}

/* May look i, the latest, be followed by another one? */
static bool course_goes_on(search *s, const course *c, int i)
{
    const look *now = course_at(c, i);
    double gain = 0.0, se = 0.0, falls = 1.0; /* of one gain alone it is not known how gains fall */
    if (c->looks >= MOST_LOOKS || s->length > 0)
        return false;
    if (i == 0)
        return true;
    judging_compare(s->judging, &course_at(c, i - 1)->verdict, &now->verdict, &gain, &se);
    if (i > 1)
        falls = fmin(gain / (course_at(c, i - 2)->verdict.criterion - course_at(c, i - 1)->verdict.criterion), 1.0);
    if (c->parent == NULL && (s->best < 0 || c == search_best(s))
        && !rival_in_reach(s, now, MOST_LOOKS - c->looks, fmax(gain, 0.0), fmax(falls, 0.0)))
        s->out_of_reach = true;
    return !s->out_of_reach && gain > (c->looks < HEAT ? -se : NO_ACCIDENT * se);
}

static void course_find_best(const search *s, course *c)
{
    int least = -1;
    for (int i = 0; i < c->looks; i++)
        if (least < 0 || course_at(c, i)->verdict.criterion < course_at(c, least)->verdict.criterion)
            least = i;
    c->best = least;
    for (int i = 0; i < least && c->best == least; i++)
        if (!look_ahead(s, course_at(c, least), course_at(c, i), WORTH_ERRORS))
            c->best = i;
}

static npmd_status course_look(search *s, course *c, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int i = c->looks;
    look *l = &c->look[i];
    bool failed = false;
    c->on = false;
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
    course_find_best(s, c);
    c->on = course_goes_on(s, c, i);
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
    open.size = open.size && plan->origin.model == NULL;
    open.encoding = open.encoding && plan->origin.encoded == NULL;
    return open;
}

static npmd_status search_new(search *s, course_kind kind, course **out, npmd_error *err)
{
    course *c = NULL;
    const npmd_status st = memory_new(&c, 1, err);
    if (st != NPMD_OK)
        return st;
    *c = (course){ .kind = kind, .best = -1 };
    s->course[s->courses++] = c;
    *out = c;
    return NPMD_OK;
}

/* Whether a challenger leads. Of another tau little is asked: both sides are tried, and neither is dearer; a smoother
 * one need but be no worse. */
static bool search_leads(const search *s, const course *c, const course *leader, const look *l, const look *of)
{
    const course_kind *k = &c->kind, *of_leader = &leader->kind;
    const bool same = k->omega == of_leader->omega && k->from == of_leader->from && k->depth == of_leader->depth
                      && k->width == of_leader->width;
    return look_ahead(s, l, of, !same ? 1.0 : k->tau > of_leader->tau ? 0.0 : WORTH_ERRORS);
}

/* Runs the latest course on to so many looks, as long as it is ahead of the leader at the same length; *better: it leads
 * now. */
static npmd_status search_run(search *s, course *c, int until, bool *better, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const course *leader = search_best(s);
    *better = false;
    c->on = true;
    while (c->on && c->looks < until && !s->stop) {
        const int i = c->looks;
        TRY(course_look(s, c, err));
        if (leader != NULL && c->looks > i && i < leader->looks)
            c->on = (c->on || i < leader->best) && search_leads(s, c, leader, &c->look[i], course_at(leader, i));
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
    course_kind kind = leader->kind;
    kind.tau = tau;
    TRY(search_new(s, kind, &c, err));
    c->parent = leader;
    c->shared = c->looks = leader->best > 0 ? leader->best - 1 : 0;
    course_find_best(s, c);
    TRY(search_run(s, c, MOST_LOOKS, better, err));
done:
    return st;
}

/* Is the penalty a part of the objective that could be seen, if it were gone? */
static bool search_feels_penalty(const search *s)
{
    const course *c = search_best(s);
    double difference = 0.0, se = 0.0;
    if (c->looks < 2)
        return true;
    const look *l = course_at(c, c->best), *next = course_at(c, c->best + 1 < c->looks ? c->best + 1 : c->best - 1);
    judging_compare(s->judging, &l->verdict, &next->verdict, &difference, &se);
    return c->kind.tau * l->penalty > NO_ACCIDENT * se;
}

static npmd_status search_taus(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    bool better = false, moved = false, far = false;
    s->stage++;
    do { /* what is nearly flat wants the network to learn next to nothing: far from here, and no step on the way helps */
        TRY(search_tau_step(s, search_best(s)->kind.tau * TAU_FAR, &better, err));
        far = far || better;
    } while (better && !s->stop);
    for (int up = 1; up >= 0 && !moved; up--) {
        if (!up && !far && !search_feels_penalty(s))
            break;
        do {
            TRY(search_tau_step(s, search_best(s)->kind.tau * (up ? 10.0 : 0.1), &better, err));
            moved = moved || better;
        } while (better && !s->stop);
    }
done:
    return st;
}

/* A course of its own beginning, as long as the heat. */
static npmd_status search_challenge(search *s, course_kind kind, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    course *c = NULL;
    bool better = false;
    if (s->stop)
        return NPMD_OK;
    TRY(search_new(s, kind, &c, err));
    TRY(search_run(s, c, HEAT, &better, err));
done:
    return st;
}

/* What is not done at the end of the heat meets others, each with what has won before; the winner goes on alone. */
static npmd_status search_heat(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    s->stage++;
    if (s->open.size) {
        course_kind kind = search_best(s)->kind;
        settings_larger(s->plan->domain, &kind.width, &kind.depth);
        TRY(search_challenge(s, kind, err));
    }
    if (s->open.omega) {
        course_kind kind = search_best(s)->kind;
        kind.omega = OMEGA_HIGH;
        TRY(search_challenge(s, kind, err));
    }
    if (s->open.encoding && !s->plan->domain->torus) {
        course_kind kind = search_best(s)->kind;
        kind.from = kind.from == FEATURES_COORDINATES ? FEATURES_DRAWN : FEATURES_COORDINATES;
        TRY(search_challenge(s, kind, err));
    }
    for (course *c = s->course[s->best]; c->on && !s->stop;)
        TRY(course_look(s, c, err));
done:
    return st;
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
    s->own = (fit_watch){ .progress = search_progress, .user = s, .kept = watch->kept };
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
    const course_kind start = { .omega = s->open.omega ? OMEGA_START : full->network.omega,
                                .tau = s->open.tau ? TAU_START : full->tau,
                                .width = full->network.width,
                                .depth = full->network.depth,
                                .from = full->encoding.from };
    TRY(search_new(s, start, &c, err));
    TRY(search_run(s, c, HEAT, &better, err));
done:
    return st;
}

/* Is no course ahead of the base alone, of a fitted one by what may be an accident? Then v = 0. */
static bool search_alone(const search *s)
{
    const course *leader = search_best(s);
    return s->alone.verdict.log_density != NULL && !s->stop
           && (leader == NULL
               || !look_ahead(s, course_at(leader, leader->best), &s->alone, s->base != NULL ? 1.0 : 0.0));
}

npmd_status search_go_on(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (s->best >= 0 && (s->length > 0 || search_best(s)->on) && !s->stop)
        TRY(search_heat(s, err));
    if (s->best >= 0 && s->open.tau && !s->out_of_reach && (s->base == NULL || !search_alone(s)) && !s->stop)
        TRY(search_taus(s, err));
done:
    return st;
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
    set->tau = c->kind.tau;
    set->network.omega = c->kind.omega;
    set->network.width = c->kind.width;
    set->network.depth = c->kind.depth;
    if (c->kind.from != set->encoding.from)
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
    const char *alone = s->base != NULL ? "base" : "uniform density";
    search_take(s, &m->set);
    if (m->set.alone)
        model_warn(m, "no network was ahead of the %s on %zu held-out points%s: the model is the %s, v = 0", alone,
                   s->judging->judged, s->base != NULL ? " by more than the error of the difference" : "", alone);
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

/* May a rival become the base? Not of a field whose training was set by hand, or that starts elsewhere than at v = 0. */
static bool base_open_to_choice(const fit_plan *plan)
{
    const open_settings open = plan_open(plan);
    return open.tau && open.length && plan->asked.base == BASE_AUTO && plan->origin.model == NULL
           && plan->asked.network.skip_start != SKIP_CONVEX && plan->asked.network.depth != 1;
}

/* Is the rival ahead of all courses without it? */
static bool rival_ahead(const search *s)
{
    const verdict *best = search_verdict(s);
    return s->rival != NULL && !s->stop && (best == NULL || s->rival->verdict.criterion < best->criterion);
}

/* The search once more, over the rival. *out: what it found, if that is ahead of what was found without. */
static npmd_status search_over(const search *without, const fit_plan *over, const fit_watch *watch, search **out,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    search *s = NULL;
    const verdict *before = search_verdict(without);
    char words[32];
    snprintf(words, sizeof words, "base=%s", base_name((base_kind)over->asked.base));
    TRY(search_open(over, without->judging, words, watch, without->record, &s, err));
    s->stage = without->stage + 1;
    TRY(search_start(s, err));
    TRY(search_go_on(s, err));
    const verdict *now = search_verdict(s);
    if (now != NULL && (before == NULL || now->criterion < before->criterion)) {
        search_differences(without, now);
        *out = s;
        s = NULL;
    } else if (before != NULL) {
        search_differences(s, before);
    }
done:
    search_close(s);
    return st;
}

static void tell_of_base(const search *without, npmd_model *m)
{
    const verdict *best = search_verdict(without);
    const bool by_kernels = m->set.base == BASE_KDE;
    double difference = 0.0, se = 0.0;
    if (best == NULL) {
        model_warn(m, "no field could be fitted without a base: %s its base",
                   by_kernels ? "kernels are" : "a series is");
        return;
    }
    judging_difference(without->judging, without->rival->verdict.log_density, best->log_density, &difference, &se);
    model_warn(
        m,
        "held-out points prefer %s to a field without a base, by %.3g nats a point: %s its base; `base` none does "
        "without",
        by_kernels ? "kernels" : "a series", difference, by_kernels ? "they are" : "it is");
}

npmd_status choose_settings(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const open_settings open = plan_open(f->plan);
    judging j = { 0 };
    rivals r = { 0 };
    search *s = NULL, *second = NULL;
    fit_plan *over = NULL;
    *stopped = false;
    if ((!open.tau && !open.length) || f->plan->asked.alone) /* that is what the first of several members found */
        return NPMD_OK;
    TRY(judging_open(&j, f->points, &f->plan->full, JUDGING_TRAINING, err));
    if (j.folds == 0 || f->points->n < LEAST_POINTS) /* nothing to learn from: what is usual stands */
        goto done;
    if (f->plan->full.rivals)
        TRY(rivals_fit(&r, &j, f->plan, watch, stopped, err));
    if (*stopped)
        goto done;
    TRY(search_open(f->plan, &j, "", watch, &f->model->choice, &s, err));
    if (base_open_to_choice(f->plan)) {
        s->rival = rivals_best(&r);
        TRY(search_uniform(s, err));
    }
    TRY(search_start(s, err));
    TRY(search_go_on(s, err));
    if (rival_ahead(s)) {
        TRY(memory_new(&over, 1, err));
        TRY(plan_over(f->plan, s->rival->estimator == FIT_KDE ? BASE_KDE : BASE_SERIES, over, err));
        TRY(search_over(s, over, watch, &second, err));
    }
    const search *taken = second != NULL ? second : s;
    *stopped = s->stop != 0 || (second != NULL && second->stop);
    if (search_verdict(taken) == NULL)
        goto done;
    search_differences(taken, search_verdict(taken));
    TRY(search_settle(taken, f->model, err));
    f->model->set.base = second != NULL                           ? over->asked.base
                         : f->model->set.alone && s->base == NULL ? (int)BASE_UNIFORM
                                                                  : f->plan->asked.base;
    if (second != NULL && !f->model->set.of_blend)
        tell_of_base(s, f->model);
    rivals_record(&r, &j, f->model);
done:
    search_close(second);
    search_close(s);
    rivals_close(&r);
    judging_close(&j);
    memory_free(over);
    return st;
}
