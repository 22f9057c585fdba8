/* search_tau.c - a tau for data that came without one.
 *
 * The default suits smooth densities and many points. Clustered data need far less smoothing, few points in many
 * dimensions far more. Short fits to a part of the points, compared on the others (pilot.c), decide on a logarithmic
 * grid about the default in steps of sqrt 10:
 *
 *   1. In steps of ten. Where the points of a fit are much more likely than the held-out ones, it learns noise, and tau
 *      is raised, else lowered, as long as the held-out log-likelihood rises by more than noise.
 *   2. From there by the criterion: up to the next tau while that is better, surely and by enough. Between the taus of
 *      the grid the criterion is a parabola in log tau, and its vertex, at most half a step away, is the choice: weak
 *      evidence moves tau a little, never far.
 *
 * Downwards, step 2 moves by that half step only, or by one whole step where the likelihood, which sees the tails,
 * surely gains and the criterion does not get worse. A short fit is smooth because it is short, so short fits prefer
 * smaller taus than long ones: on T4 the criterion of 200 steps prefers 3e-5 to 1e-4 by seven standard errors, and
 * after 500 nISE is 0.0052 at 1e-4, 0.0054 at 6e-5 and 0.0057 at 2e-5 (ae the other way: 0.099, 0.094). The gain that
 * step 1 requires is far larger than this effect.
 *
 * A long fit also learns more noise. The evidence for a raised tau is from short fits, so the fit to all points is then
 * as short. */
#include "choose.h"

#define PILOT_SHARE 0.25      /* share of the steps of the fit */
#define PILOT_STEPS 120       /* at least this many */
#define PILOT_STEPS_TORUS 200 /* at least this many on T3 and above, where the noise must show */
#define MOST_MOVES 3          /* in steps of ten */
#define MOST_NEIGHBOURS 8
#define SURE 2.0            /* standard errors that a difference must exceed */
#define WORTHWHILE_ISE 1e-3 /* and share of the criterion, about the same in nISE */
#define WORTHWHILE_NATS 2e-3
#define LEAST_GAIN 0.03  /* nats per point */
#define NOISE_LEARNT 0.1 /* excess in nats of fitted over held-out points; below, tau is not raised */

int64_t pilot_steps(const npmd_domain *dom, const settings *full)
{
    const int64_t least = dom->torus && dom->dimension > 2 ? PILOT_STEPS_TORUS : PILOT_STEPS,
                  share = (int64_t)(PILOT_SHARE * (double)full->descent.steps), wanted = share > least ? share : least;
    return full->descent.steps < wanted ? full->descent.steps : wanted;
}

enum { REACH = 2 * MOST_MOVES + MOST_NEIGHBOURS + 1 }; /* half-decades that can be walked either way */

typedef struct search {
    pilots *p;
    const fit_plan *plan; /* whose tau is the middle of the grid */
    const char *words;
    int64_t steps;
    int tried[2 * REACH + 1]; /* pilot of tau x 10^((k - REACH) / 2), or -1 */
} search;

static int *search_slot(search *s, int k)
{
    assert(-REACH <= k && k <= REACH);
    return &s->tried[k + REACH];
}

static double tau_at(const search *s, int k)
{
    return s->plan->full.tau * pow(10.0, 0.5 * k);
}

static npmd_status search_try(search *s, int k, int stage, npmd_error *err)
{
    int *slot = search_slot(s, k);
    return *slot >= 0 ? NPMD_OK
                      : pilot_fit(s->p, s->plan, &s->plan->full, tau_at(s, k), s->steps, stage, s->words, slot, err);
}

static bool search_ends(const search *s, int which)
{
    return s->p->stop || s->p->pilot[which].failed;
}

/* *k: where it ends; *gain: nats that held-out points gained on the way. */
static npmd_status search_by_tens(search *s, int *k, double *gain, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double rise = 0.0, se = 0.0;
    TRY(search_try(s, 0, 1, err));
    const pilot *first = &s->p->pilot[*search_slot(s, 0)];
    /* a small part of the points learns more noise than all of them would */
    int move = first->own_mean - first->mean > NOISE_LEARNT && s->p->whole ? 2 : -2;
    for (int moves = 0; moves < MOST_MOVES && !search_ends(s, *search_slot(s, *k));) {
        const int next = *k + move;
        TRY(search_try(s, next, 1, err));
        if (search_ends(s, *search_slot(s, next)))
            break;
        pilot_gain(s->p, *search_slot(s, *k), *search_slot(s, next), &rise, &se);
        /* less smoothing must be earned; where noise is learnt, more is taken for any gain */
        const bool better = move > 0 ? rise > se : rise > 3.0 * se && rise > LEAST_GAIN;
        if (better) {
            s->p->pilot[*search_slot(s, *k)].row.kept = 1;
            *k = next;
            *gain += rise;
            moves++;
        } else if (move > 0 && moves == 0) {
            move = -2; /* clustered data are learnt by heart, too, and want less smoothing all the same */
        } else {
            break;
        }
    }
done:
    return st;
}

static bool search_better(search *s, int which, int than)
{
    double difference = 0.0, se = 0.0;
    if (which < 0 || s->p->pilot[which].failed)
        return false;
    pilot_compare(s->p, which, than, &difference, &se);
    const double worthwhile = s->p->criterion == CRITERION_ISE ? WORTHWHILE_ISE * fabs(s->p->pilot[than].row.criterion)
                                                               : WORTHWHILE_NATS;
    return difference < -SURE * se && difference < -worthwhile;
}

/* Up to a k whose upper neighbour is not clearly better; the lower one is known, too, for the vertex. */
static npmd_status search_neighbours(search *s, int *k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    for (int i = 0; i < MOST_NEIGHBOURS && !s->p->stop; i++) {
        TRY(search_try(s, *k + 1, 2, err));
        if (s->p->stop || !search_better(s, *search_slot(s, *k + 1), *search_slot(s, *k)))
            break;
        ++*k;
    }
    if (!s->p->stop)
        TRY(search_try(s, *k - 1, 2, err));
done:
    return st;
}

/* Whether the lower neighbour is more likely for sure, and not surely worse by the criterion. */
static bool search_likelier_below(search *s, int k)
{
    const int lower = *search_slot(s, k - 1), here = *search_slot(s, k);
    double gain = 0.0, difference = 0.0, se = 0.0;
    if (lower < 0 || s->p->stop || s->p->pilot[lower].failed)
        return false;
    pilot_gain(s->p, here, lower, &gain, &se);
    if (!(gain > SURE * se && gain > WORTHWHILE_NATS))
        return false;
    pilot_compare(s->p, lower, here, &difference, &se);
    return difference < SURE * se;
}

/* The vertex of the parabola through the criterion at k and its neighbours. */
static double search_vertex(search *s, int k)
{
    const int lower = *search_slot(s, k - 1), upper = *search_slot(s, k + 1), here = *search_slot(s, k);
    double below = NAN, above = NAN, se = 0.0;
    if (lower >= 0 && upper >= 0) {
        pilot_compare(s->p, lower, here, &below, &se);
        pilot_compare(s->p, upper, here, &above, &se);
    }
    return tau_at(s, k) * pow(10.0, 0.5 * choice_vertex(below, above));
}

npmd_status search_tau(pilots *p, const fit_plan *plan, const char *words, int first, tau_found *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    search s = { .p = p, .plan = plan, .words = words };
    int k = 0;
    double gain = 0.0;
    for (int i = 0; i <= 2 * REACH; i++)
        s.tried[i] = -1;
    *search_slot(&s, 0) = first;
    s.steps = pilot_steps(plan->domain, &plan->full);
    TRY(search_by_tens(&s, &k, &gain, err));
    const int tens = k;
    if (!p->pilot[*search_slot(&s, k)].failed)
        TRY(search_neighbours(&s, &k, err));
    const bool lower = search_likelier_below(&s, k);
    *out = (tau_found){ .tau = lower ? tau_at(&s, k - 1) : search_vertex(&s, k),
                        .first = plan->full.tau,
                        .moved = tens,
                        .gain = gain,
                        .steps = s.steps,
                        .best = *search_slot(&s, lower ? k - 1 : k) };
    p->pilot[out->best].row.kept = 1;
done:
    return st;
}

double choice_vertex(double below, double above)
{
    if (isnan(below) || isnan(above) || below == above)
        return 0.0;
    if (below < 0.0 || above < 0.0) /* beyond a neighbour, or a maximum: halfway to the better one */
        return below < above ? -0.5 : 0.5;
    return 0.5 * (below - above) / (below + above);
}

/* The fit to all points: the tau, and where that was raised the length. */
static void take_over(const fit *f, const tau_found *found)
{
    npmd_model *m = f->model;
    const descent_settings *asked = &f->plan->asked.descent;
    descent_settings *d = &m->set.descent;
    m->set.tau = found->tau;
    /* a length that was asked for stays */
    const bool shorter = found->moved > 0 && asked->steps == 0 && asked->epochs == 0 && found->steps < d->steps;
    if (shorter) {
        d->steps = found->steps;
        if (d->warmup > d->steps / 2)
            d->warmup = d->steps / 2;
    }
    if (found->moved != 0)
        model_warn(
            m, "tau was %s from %.2g to %.2g%s: held-out points gained %.2f nats each; give `tau` to decide yourself",
            found->moved < 0 ? "lowered" : "raised", found->first, found->tau, shorter ? ", with fewer steps" : "",
            found->gain);
}

npmd_status choose_tau(const fit *f, const fit_watch *watch, bool *stopped, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    pilots *p = NULL;
    tau_found found;
    *stopped = false;
    if (f->plan->full.penalty == PENALTY_NONE)
        return NPMD_OK;
    TRY(memory_new(&p, 1, err));
    TRY(pilots_open(p, f->points, &f->plan->full, watch, err));
    if (!p->usable) /* nothing to learn from: the usual one stands */
        goto done;
    TRY(search_tau(p, f->plan, "", -1, &found, err));
    TRY(pilots_record(p, found.best, &f->model->choice, err));
    *stopped = p->stop != 0;
    take_over(f, &found);
done:
    if (p != NULL)
        pilots_close(p);
    memory_free(p);
    return st;
}
