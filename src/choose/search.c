/* search.c - the settings of a field that came without them: its length, tau, omega and encoding.
 *
 * What keeps a network from learning noise is above all the length of its training, then omega, the frequency of its
 * sines, and only then the penalty. So a course is trained on a part of the points, and the points that it has not seen
 * say how long it should have been: its rate falls to zero at FIRST_STEPS steps, rises again, and falls to zero at twice
 * as many, and so on; at each of these lengths the weights are judged, and the course ends when a longer one was worse.
 * Nothing is begun again for a longer one. The courses:
 *
 *   1. the start: a low omega, a weak penalty, the coordinates alone;
 *   2. other penalties, by tens, as long as they are better: each shares the first half of the best length so far and
 *      trains the second half anew; what is better may go on for longer, too;
 *   3. higher frequencies, by twos, as long as they are better, each from its beginning;
 *   4. the other encoding.
 *
 * A challenger is dropped at the first length at which it is not ahead of the best course so far, by more than the
 * standard error of the difference. Nothing but the criterion decides; all are judged on the same points, so that
 * differences are known far better than values. The length is the vertex of the
 * parabola through the best and its neighbours, in the log of the length. Where points are few, one split says little:
 * several shares are held out in turn, and the criterion is that of all of them together.
 *
 * With a base, of each share fitted without it, the base alone, v = 0, is a candidate: a course must be ahead of it by
 * the standard error of the difference. */
#include "choose.h"

#include <stdio.h>

#define LEAST_POINTS 100     /* fewer say nothing */
#define MOST_TRAINING 262144 /* copied; a step takes no more time for it, its batch being far smaller */
#define MOST_HELD_OUT 16384
#define ENOUGH_HELD_OUT 2000 /* if one share has as many, it is enough */
#define MOST_FOLDS 5
#define FIRST_STEPS 125
#define MOST_LOOKS 7 /* 125 .. 8,000 steps */
#define MOST_COURSES 64
#define OMEGA_START 2.5
#define OMEGA_MOST 20.0
#define TAU_START 1e-5
#define TAU_LEAST 1e-9
#define TAU_MOST 10.0

typedef struct look {
    npmd_model *model[MOST_FOLDS];
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
    int folds;
    npmd_points *training[MOST_FOLDS], *held_out[MOST_FOLDS];
    base_set base[MOST_FOLDS]; /* a given one: the first serves all */
    look alone;                /* the base alone */
    size_t judged;             /* points held out in all folds */
    double *weight, *room;     /* (judged) */
    course *course[MOST_COURSES];
    int courses, best, stage; /* best: the course that leads; -1: none */
    int64_t length;           /* that was asked for; 0: it is open */
    choice_record *record;
    int stop;
} search;

/* ---- points ------------------------------------------------------------------------------------------------------- */

static npmd_status search_split(search *s, const npmd_points *pts, const settings *set, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = rng_key_make(set->seed, RNG_TUNE, 2);
    const size_t share = (size_t)(set->holdout * (double)pts->n), count = share < MOST_HELD_OUT ? share : MOST_HELD_OUT;
    uint64_t *twins = NULL;
    if (pts->n < LEAST_POINTS || count < 2)
        return NPMD_OK;
    const size_t turns = (ENOUGH_HELD_OUT + count - 1) / count, most = (size_t)(1.0 / set->holdout);
    const int folds = (int)(turns < most ? turns : most);
    for (int k = 0; k < (folds < MOST_FOLDS ? folds : MOST_FOLDS); k++) {
        size_t next = (size_t)k * count, from = 0;
        TRY(points_part(pts, key, &next, count, NULL, 0, &s->held_out[k], err));
        TRY(points_twins(s->held_out[k], &twins, err));
        TRY(points_part(pts, key, &from, pts->n - count < MOST_TRAINING ? pts->n - count : MOST_TRAINING, twins,
                        s->held_out[k]->n, &s->training[k], err));
        memory_free(twins);
        twins = NULL;
        if (s->training[k]->n < LEAST_POINTS / 2 || points_check_distinct(s->training[k], "", NULL) != NPMD_OK) {
            points_free(s->training[k]), points_free(s->held_out[k]);
            s->training[k] = s->held_out[k] = NULL;
            break;
        }
        s->judged += s->held_out[k]->n;
        s->folds = k + 1;
    }
    if (s->folds == 0)
        goto done;
    TRY(memory_new(&s->weight, s->judged, err));
    TRY(memory_new(&s->room, s->judged, err));
    for (size_t k = 0, at = 0; k < (size_t)s->folds; k++)
        for (size_t i = 0; i < s->held_out[k]->n; i++)
            s->weight[at++] = points_weight(s->held_out[k], i);
done:
    memory_free(twins);
    return st;
}

/* The mean of values (judged) by the points' weights, and its standard error. */
static void search_mean(const search *s, const double *value, double *mean, double *se)
{
    double total = 0.0, sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < s->judged; i++) {
        total += s->weight[i];
        sum += s->weight[i] * value[i];
    }
    *mean = sum / total;
    for (size_t i = 0; i < s->judged; i++)
        squares += s->weight[i] * s->weight[i] * (value[i] - *mean) * (value[i] - *mean);
    *se = sqrt(squares) / total;
}

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
    for (int k = 0; k < MOST_FOLDS; k++)
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

static base_set *search_base(search *s, int fold)
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
    TRY(plan_make(s->plan->estimators, &d.set, &origin, s->plan->domain, s->training[fold]->n, own, err));
    st = fit_run(own, s->training[fold], &(fit_watch){ .progress = search_progress, .user = s },
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
    TRY(memory_new(&l->log_density, s->judged, err));
    for (int k = 0; k < s->folds; k++) {
        TRY(model_evaluate_at(l->model[k], s->held_out[k], NPMD_LOG_DENSITY, &s->how, l->log_density + at, err));
        if (s->criterion == CRITERION_ISE) {
            npmd_score score;
            const double share = (double)s->held_out[k]->n / (double)s->judged, volume = s->plan->domain->volume;
            TRY(model_score(l->model[k], s->held_out[k], s->plan->full.seed, &s->how, &score, err));
            ise += share * score.ise_criterion_relative;
            variance += share * share * volume * volume * score.ise_criterion_se * score.ise_criterion_se;
        }
        at += s->held_out[k]->n;
    }
    search_mean(s, l->log_density, &l->criterion, &l->se);
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
    for (size_t k = 0; k < s->judged; k++)
        s->room[k] = contribution(s, l, k) - contribution(s, other, k);
    search_mean(s, s->room, &mean, se);
    *difference = l->criterion - other->criterion;
}

static bool look_ahead(const search *s, const look *l, const look *of)
{
    double difference = 0.0, se = 0.0;
    look_compare(s, l, of, &difference, &se);
    return difference < -se;
}

/* The bases of all shares, and how good they are alone. */
static npmd_status search_bases(search *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const fit_watch watch = { .progress = search_progress, .user = s };
    if (s->plan->asked.base == BASE_NONE)
        return NPMD_OK;
    for (int k = 0; k < s->folds; k++) {
        if (search_base(s, k) == &s->base[k])
            TRY(base_open(&s->base[k], s->plan, s->training[k], &watch, err));
        s->alone.model[k] = model_share(search_base(s, k)->whole);
    }
    TRY(look_judge(s, &s->alone, err));
    choice_row row = { .stage = s->stage,
                       .criterion = s->alone.criterion,
                       .criterion_se = s->alone.se,
                       .difference = NAN,
                       .difference_se = NAN,
                       .settings = "base alone" };
    s->alone.row = s->record->rows;
    TRY(choice_add(s->record, &row, err));
done:
    return st;
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
    for (int k = 0; k < s->folds && !failed && !s->stop; k++)
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
    *on = c->looks < MOST_LOOKS && s->length == 0 && (i == 0 || look_ahead(s, l, course_at(c, i - 1)));
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
        on = on && search_leads(s, c, leader, &c->look[i], course_at(leader, i));
    }
    if (c->best >= 0 && (leader == NULL || look_ahead(s, course_at(c, c->best), course_at(leader, leader->best)))) {
        s->best = s->courses - 1;
        *better = true;
    }
done:
    return st;
}

/* ---- the moves ---------------------------------------------------------------------------------------------------- */

/* The leader with another tau in the second half of its best length. */
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
    c->shared = c->looks = leader->best;
    c->best = leader->best - 1;
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

/* ---- the choice --------------------------------------------------------------------------------------------------- */

/* The rows' differences to the best one, point by point. */
static void search_record(search *s, bool alone)
{
    const course *leader = search_best(s);
    const look *best = alone ? &s->alone : course_at(leader, leader->best);
    s->record->criterion = s->criterion;
    s->record->training = s->training[0]->n;
    s->record->held_out = s->judged;
    for (int i = 0; i < s->courses; i++)
        for (int j = s->course[i]->shared; j < s->course[i]->looks; j++) {
            const look *l = &s->course[i]->look[j];
            choice_row *row = &s->record->row[l->row];
            look_compare(s, l, best, &row->difference, &row->difference_se);
            row->kept = l->row == best->row;
        }
    if (s->alone.log_density != NULL) {
        choice_row *row = &s->record->row[s->alone.row];
        look_compare(s, &s->alone, best, &row->difference, &row->difference_se);
        row->kept = alone;
    }
}

/* Is no course ahead of the base alone? Then v = 0. */
static bool search_alone(search *s, npmd_model *m)
{
    const course *leader = search_best(s);
    const look *best = leader == NULL ? NULL : course_at(leader, leader->best);
    if (s->plan->asked.base == BASE_NONE || (best != NULL && look_ahead(s, best, &s->alone)))
        return false;
    m->set.alone = 1;
    model_warn(m,
               "no network was ahead of the base alone on %zu held-out points by more than the error of the "
               "difference: the model is the base, v = 0",
               s->judged);
    return true;
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
    for (int k = 0; k < MOST_FOLDS; k++) {
        points_free(s->training[k]);
        points_free(s->held_out[k]);
        base_close(&s->base[k]);
    }
    look_close(&s->alone);
    memory_free(s->weight);
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
    if (asked->alone) /* what the first of several members found */
        return NPMD_OK;
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
    TRY(search_split(s, f->points, full, err));
    if (s->folds == 0) /* nothing to learn from: what is usual stands */
        goto done;
    TRY(search_bases(s, err));
    TRY(search_new(s, open.omega ? OMEGA_START : full->network.omega, open.tau ? TAU_START : full->tau,
                   full->encoding.from, &c, err));
    TRY(search_run(s, c, &better, err));
    if (s->best >= 0 && open.tau && full->penalty != PENALTY_NONE && !s->stop)
        TRY(search_taus(s, err));
    if (s->best >= 0 && open.omega && !s->stop)
        TRY(search_omegas(s, err));
    if (s->best >= 0 && open.encoding && !s->stop)
        TRY(search_encoding(s, err));
    *stopped = s->stop != 0;
    const bool alone = !s->stop && search_alone(s, f->model);
    if (s->best < 0 && !alone)
        goto done;
    search_record(s, alone);
    if (s->best >= 0)
        search_take(s, f->model);
done:
    if (s != NULL)
        search_close(s);
    memory_free(s);
    return st;
}
