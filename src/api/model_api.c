/* model_api.c - public functions of models. */
#include "api.h"

npmd_status npmd_save(const npmd_model *m, const char *path, npmd_error *err)
{
    return model_save(m, path, err);
}

npmd_status npmd_load(const char *path, npmd_model **out, npmd_error *err)
{
    return model_load(path, estimators_all, out, err);
}

npmd_status npmd_model_pack(const npmd_model *m, char **out, size_t *size, npmd_error *err)
{
    return model_pack(m, out, size, err);
}

npmd_status npmd_model_unpack(const char *bytes, size_t size, npmd_model **out, npmd_error *err)
{
    return model_unpack(bytes, size, estimators_all, out, err);
}

void npmd_model_free(npmd_model *m)
{
    model_free(m);
}

npmd_status npmd_model_facts(const npmd_model *m, npmd_fit_facts *facts, npmd_error *err)
{
    const fit_facts *f = &m->facts;
    const npmd_fit_facts own = { .n = f->n,
                                 .tau = f->tau,
                                 .seed = f->seed,
                                 .steps = f->steps,
                                 .seconds = f->seconds,
                                 .objective = f->objective,
                                 .log_integral = f->log_integral,
                                 .log_integral_se = f->log_integral_se,
                                 .convex_optimum = f->convex_optimum,
                                 .convex_gap = f->convex_gap,
                                 .convex_gap_accuracy = f->convex_gap_accuracy,
                                 .restarts = f->restarts,
                                 .members = f->members,
                                 .interrupted = f->interrupted,
                                 .stopped_by = f->stopped == STOP_NONE ? "" : option_find("stop")->choice[f->stopped],
                                 .kept_step = f->kept_step,
                                 .resumed = f->resumed,
                                 .checkpoint_failure = f->checkpoint_failure,
                                 .working_bytes = f->working_bytes,
                                 .estimator = estimator_name(&m->set),
                                 .twins = f->twins,
                                 .knows_bias = blend_has_band(m) && blend_knows_bias(m) };
    return SIZED_GIVE(&own, facts, err);
}

const npmd_domain *npmd_model_domain(const npmd_model *m)
{
    return m->domain;
}

npmd_status npmd_model_describe(const npmd_model *m, char **out, npmd_error *err)
{
    return model_describe(m, out, err);
}

const char *npmd_model_warning(const npmd_model *m, int i)
{
    return 0 <= i && i < m->warnings ? m->warning[i] : NULL;
}

int npmd_model_parts(const npmd_model *m)
{
    return blend_counted(m);
}

npmd_status npmd_model_part(const npmd_model *m, int i, npmd_part *part, npmd_error *err)
{
    if (i < 0 || i >= blend_counted(m))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "part %d: the model has %d", i, blend_counted(m));
    const npmd_model *of = m->part[i];
    const npmd_part own = { .name = settings_part_name(&of->set),
                            .members = of->facts.members,
                            .weight = m->part_weight[i],
                            .held_out_nll = of->held_out_nll,
                            .held_out_nll_se = of->held_out_nll_se };
    return SIZED_GIVE(&own, part, err);
}

npmd_status npmd_model_choice(const npmd_model *m, npmd_choice *choice, npmd_error *err)
{
    const choice_record *c = &m->choice;
    const npmd_choice own = { .criterion = option_find("criterion")->choice[c->criterion],
                              .training = c->training,
                              .held_out = c->held_out,
                              .rows = c->rows,
                              .rivals = c->rivals,
                              .nll = m->held_out_nll,
                              .nll_se = m->held_out_nll_se };
    return SIZED_GIVE(&own, choice, err);
}

npmd_status npmd_model_choice_row(const npmd_model *m, int i, npmd_choice_row *row, npmd_error *err)
{
    if (i < 0 || i >= m->choice.rows)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "row %d: the choice has %d", i, m->choice.rows);
    const choice_row *r = &m->choice.row[i];
    const npmd_choice_row own = { .stage = r->stage,
                                  .steps = r->steps,
                                  .tau = r->tau,
                                  .criterion = r->criterion,
                                  .criterion_se = r->criterion_se,
                                  .difference = r->difference,
                                  .difference_se = r->difference_se,
                                  .kept = r->kept,
                                  .settings = r->settings };
    return SIZED_GIVE(&own, row, err);
}

npmd_status npmd_model_rival(const npmd_model *m, int i, npmd_rival *rival, npmd_error *err)
{
    if (i < 0 || i >= m->choice.rivals)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "rival %d: there are %d", i, m->choice.rivals);
    const choice_rival *r = &m->choice.rival[i];
    const npmd_rival own = { .estimator = r->estimator,
                             .nll = r->nll,
                             .nll_se = r->nll_se,
                             .difference = r->difference,
                             .difference_se = r->difference_se };
    return SIZED_GIVE(&own, rival, err);
}

/* ---- values, draws, integrals ------------------------------------------------------------------------------------ */

const char *npmd_what_name(int i)
{
    return what_name(i);
}

npmd_status npmd_what_parse(const char *text, npmd_what *what, npmd_error *err)
{
    return what_parse(text, what, err);
}

npmd_status npmd_evaluate_at(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                             double *values, npmd_error *err)
{
    npmd_compute own;
    const npmd_status st = compute_take(how, &own, err);
    return st != NPMD_OK ? st : model_evaluate_at(m, pts, what, &own, values, err);
}

npmd_status npmd_evaluate_to(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how,
                             const char *path, npmd_error *err)
{
    npmd_compute own;
    const npmd_status st = compute_take(how, &own, err);
    return st != NPMD_OK ? st : model_evaluate_to(m, pts, what, &own, path, err);
}

npmd_status npmd_evaluate_grid(const npmd_model *m, const double *const *x, const size_t *n, npmd_what what,
                               const npmd_compute *how, double *values, npmd_error *err)
{
    npmd_compute own;
    const npmd_status st = compute_take(how, &own, err);
    return st != NPMD_OK ? st : model_evaluate_grid(m, x, n, what, &own, values, err);
}

npmd_status npmd_log_density(const npmd_model *m, const double *x, size_t n, double *values, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *pts = NULL;
    TRY(compute_check(NULL, err));
    TRY(points_from(x, n, m->domain, &pts, err));
    TRY(model_evaluate_at(m, pts, NPMD_LOG_DENSITY, NULL, values, err));
done:
    points_free(pts);
    return st;
}

npmd_status npmd_sample(const npmd_model *m, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                        npmd_sample_facts *facts, npmd_error *err)
{
    return npmd_sample_given(m, 0, NULL, seed, n, how, x, facts, err);
}

npmd_status npmd_sample_given(const npmd_model *m, unsigned given, const npmd_points *at, uint64_t seed, size_t n,
                              const npmd_compute *how, double *x, npmd_sample_facts *facts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_compute own;
    npmd_sample_facts found = { 0 };
    const size_t rows = n * (given == 0 ? 1 : at->n);
    TRY(SIZED_CHECK(facts, err));
    TRY(compute_take(how, &own, err));
    TRY(model_sample_given(m, given, at, seed, n, &own, x, &found, err));
    for (size_t i = 0; m->domain->surfaces && i < rows; i++)
        domain_position(m->domain, x + i * (size_t)m->domain->columns);
    if (facts != NULL)
        TRY(SIZED_GIVE(&found, facts, err));
done:
    return st;
}

npmd_status npmd_marginal_at(const npmd_model *m, unsigned factors, const npmd_points *pts, npmd_what what,
                             double accuracy, uint64_t seed, const npmd_compute *how, double *values, double *log_se,
                             npmd_error *err)
{
    npmd_compute own;
    const npmd_status st = compute_take(how, &own, err);
    return st != NPMD_OK ? st : model_marginal_at(m, factors, pts, what, accuracy, seed, &own, values, log_se, err);
}

npmd_status npmd_conditional_at(const npmd_model *m, unsigned given, const npmd_points *pts, npmd_what what,
                                double accuracy, uint64_t seed, const npmd_compute *how, double *values, double *log_se,
                                npmd_error *err)
{
    npmd_compute own;
    const npmd_status st = compute_take(how, &own, err);
    return st != NPMD_OK ? st : model_conditional_at(m, given, pts, what, accuracy, seed, &own, values, log_se, err);
}

npmd_status npmd_probability_near(const npmd_model *m, const npmd_points *centre, const double *radius, double accuracy,
                                  uint64_t seed, const npmd_compute *how, npmd_probability *found, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_compute own;
    npmd_probability p = { 0 };
    TRY(SIZED_CHECK(found, err));
    TRY(compute_take(how, &own, err));
    TRY(model_probability_near(m, centre, radius, accuracy, seed, &own, &p, err));
    TRY(SIZED_GIVE(&p, found, err));
done:
    return st;
}

npmd_status npmd_score_points(const npmd_model *m, const npmd_points *pts, uint64_t seed, const npmd_compute *how,
                              npmd_score *score, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_compute own;
    npmd_score s = { 0 };
    TRY(SIZED_CHECK(score, err));
    TRY(compute_take(how, &own, err));
    TRY(model_score(m, pts, seed, &own, &s, err));
    TRY(SIZED_GIVE(&s, score, err));
done:
    return st;
}

/* ---- known densities --------------------------------------------------------------------------------------------- */

npmd_status npmd_truth_read(const char *path, npmd_truth **out, npmd_error *err)
{
    return truth_read(path, out, err);
}

npmd_status npmd_truth_make(const char *recipe, uint64_t seed, npmd_truth **out, npmd_error *err)
{
    return truth_make(recipe, seed, out, err);
}

npmd_status npmd_recipe_at(int i, npmd_recipe *recipe, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_recipe found = { 0 };
    TRY(SIZED_CHECK(recipe, err));
    TRY(gauntlet_at(i, &found, err));
    TRY(SIZED_GIVE(&found, recipe, err));
done:
    return st;
}

npmd_status npmd_truth_write(const npmd_truth *t, const char *path, npmd_error *err)
{
    return truth_write(t, path, err);
}

void npmd_truth_free(npmd_truth *t)
{
    truth_free(t);
}

const npmd_domain *npmd_truth_domain(const npmd_truth *t)
{
    return t->domain;
}

/* A view of the same truth that computes with the threads of how. */
static npmd_status truth_look(const npmd_truth *t, const npmd_compute *how, npmd_truth *look, npmd_error *err)
{
    npmd_compute own;
    const npmd_status st = compute_take(how, &own, err);
    *look = *t;
    look->threads = own.threads;
    return st;
}

npmd_status npmd_truth_sample(const npmd_truth *t, uint64_t seed, size_t n, const npmd_compute *how, double *x,
                              npmd_error *err)
{
    npmd_truth look;
    const npmd_status st = truth_look(t, how, &look, err);
    return st != NPMD_OK ? st : truth_sample(&look, seed, n, x, err);
}

npmd_status npmd_truth_log_density(const npmd_truth *t, const double *x, size_t n, const npmd_compute *how,
                                   double *values, npmd_error *err)
{
    npmd_truth look;
    const npmd_status st = truth_look(t, how, &look, err);
    return st != NPMD_OK ? st : truth_log_density(&look, x, n, values, err);
}

npmd_status npmd_truth_entropy(const npmd_truth *t, uint64_t seed, const npmd_compute *how, double *entropy, double *se,
                               npmd_error *err)
{
    npmd_truth look;
    const npmd_status st = truth_look(t, how, &look, err);
    return st != NPMD_OK ? st : truth_entropy(&look, seed, entropy, se, err);
}

npmd_status npmd_compare(const npmd_model *m, const npmd_truth *t, npmd_grid grid, size_t points, uint64_t seed,
                         const npmd_compute *how, npmd_comparison *found, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_compute own;
    npmd_truth look;
    npmd_comparison c = { 0 };
    TRY(SIZED_CHECK(found, err));
    TRY(compute_take(how, &own, err));
    TRY(truth_look(t, &own, &look, err));
    TRY(model_compare(m, &look, grid, points, seed, &own, &c, err));
    TRY(SIZED_GIVE(&c, found, err));
done:
    return st;
}
