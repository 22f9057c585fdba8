/* train.c - the training loop: steps, reports, the guard on the gradient, the end. It does not know what is trained. */
#include "training.h"

#define RUNAWAY 1e6          /* a data and integral term above this has diverged */
#define RUNAWAY_PENALTY 1e10 /* a penalty above this has diverged */
#define SIGN_OF_LIFE 0.2     /* seconds between calls of progress */

/* The last tenth of the steps, at most 200: their mean is the final objective. */
static int64_t tail_length(const settings *set)
{
    const int64_t tenth = set->descent.steps / 10;
    return tenth < 1 ? 1 : tenth > 200 ? 200 : tenth;
}

double train_reached(const train_attempt *a)
{
    return a->at.tail_steps > 0 ? a->at.tail / (double)a->at.tail_steps : a->at.last;
}

static bool is_judged(const train_look *look)
{
    return look != NULL && look->judge != NULL;
}

/* Is this a step after which the fit is judged? */
static bool is_look(const train_run *run, int64_t step)
{
    return is_judged(run->look) && (step % run->look->every == 0 || step == run->set->descent.steps);
}

/* The next count steps; value: of the last of them. */
static npmd_status attempt_advance(const train_run *run, size_t count, train_attempt *a, objective_value *value,
                                   double *rate, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *set = run->set;
    optimiser_step step[BACKEND_MOST_STEPS];
    step_record record[BACKEND_MOST_STEPS];
    for (size_t i = 0; i < count; i++)
        step[i] = schedule_step(set, run->shares, a->at.step + (int64_t)i, &a->at.beta1_product, &a->at.beta2_product);
    TRY(run->what->advance(run->what->self, a->at.step, count, step, a->at.running_log_norm, record, err));
    for (size_t i = 0; i < count && !a->runaway; i++) {
        const step_record *r = &record[i];
        *value = (objective_value){ .data = -r->data, .integral = r->integral, .penalty = r->penalty };
        value->total = value->data + value->integral + set->tau * value->penalty;
        a->at.last = value->total;
        a->at.running_log_norm = r->running_log_norm;
        a->runaway = !(value->data + value->integral < RUNAWAY && value->penalty < RUNAWAY_PENALTY)
                     || !isfinite(r->norm);
        /* any look may be the last */
        if (is_judged(run->look) || a->at.step >= set->descent.steps - tail_length(set)) {
            a->at.tail += value->total;
            a->at.tail_steps++;
        }
        a->at.step++;
    }
    *rate = step[count - 1].rate;
done:
    return st;
}

/* Says where the attempt stands, and may end it. */
static npmd_status attempt_report(const train_run *run, train_attempt *a, npmd_report *report, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const train_look *look = run->look;
    const bool judged = is_look(run, a->at.step);
    if ((judged || report->logged) && look != NULL && !a->runaway)
        TRY(look->look(look->self, report, err));
    if (judged && !a->runaway) {
        TRY(look->judge(look->self, report, a->at.tail / (double)a->at.tail_steps, &a->at.enough, err));
        if (!a->at.enough && a->at.step < run->set->descent.steps - tail_length(run->set))
            a->at.tail = (double)(a->at.tail_steps = 0);
        report->logged = report->logged || a->at.enough; /* the last of the attempt */
    }
    a->stopped = watch_tell(run->watch, report) != 0;
done:
    return st;
}

/* A step is reported before it is kept: a fit that resumes reports the steps after the one it was kept at, and
 * none is left out, whenever the run before was killed. */
npmd_status train_attempt_run(const train_run *run, train_attempt *a, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *set = run->set;
    const train_look *look = run->look;
    const int64_t log_every = run->watch->log_every, steps = set->descent.steps;
    const double an_epoch = (double)objective_steps_an_epoch(set, run->n);
    double last_sign = clock_seconds();
    int64_t together = 1; /* as many as take about a tenth of a second */
    while (a->at.step < steps && !a->runaway && !a->stopped && !a->at.enough) {
        objective_value value = { 0 };
        double rate = 0.0;
        const int64_t until_log = log_every - a->at.step % log_every, until_end = steps - a->at.step;
        int64_t count = run->what->several ? together : 1;
        count = count < until_log ? count : until_log;
        count = count < until_end ? count : until_end;
        if (is_judged(look) && count > look->every - a->at.step % look->every)
            count = look->every - a->at.step % look->every;
        const double before = clock_seconds();
        TRY(attempt_advance(run, (size_t)count, a, &value, &rate, err));
        if (clock_seconds() - before < 0.5 * SIGN_OF_LIFE && count == together && together < BACKEND_MOST_STEPS)
            together *= 2;
        const bool logged = a->at.step % log_every == 0 || a->at.step == steps;
        const double now = clock_seconds();
        a->at.seconds = now - run->started;
        if ((run->watch->progress != NULL && (logged || now - last_sign >= SIGN_OF_LIFE)) || is_look(run, a->at.step)) {
            npmd_report report = report_new(a->at.step, steps, (int)a->at.restart + 1, a->at.seconds);
            report.logged = logged;
            report.epoch = (double)a->at.step / an_epoch;
            report.rate = rate;
            report.data = value.data;
            report.integral = value.integral;
            report.penalty = value.penalty;
            report.objective = value.total;
            report.log_integral = log(value.integral);
            last_sign = now;
            TRY(attempt_report(run, a, &report, err));
        }
        if (run->keeper != NULL && !a->runaway && !a->stopped)
            run->keeper->keep(run->keeper->self, &a->at);
    }
done:
    return st;
}
