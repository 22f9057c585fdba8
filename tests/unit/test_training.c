/* test_training.c - the schedule, the objective of a step, and fits whose answer is known: moments, the
 * uniform density, failures that must be seen, and changes of the data that must change nothing. */
#include "fixture.h"
#include "model.h"

#include <unistd.h>

static const double PI2 = 2.0 * (double)CHECK_PI;

static void set_all(npmd_options *opt, const char *const (*pair)[2], size_t count)
{
    npmd_error err = { 0 };
    for (size_t i = 0; i < count; i++)
        if (npmd_options_set(opt, pair[i][0], pair[i][1], &err) != NPMD_OK)
            fail_msg("%s", err.text);
}
#define SET(opt, ...)                                                                                                  \
    do {                                                                                                               \
        static const char *const pairs_[][2] = __VA_ARGS__;                                                            \
        set_all((opt), pairs_, sizeof pairs_ / sizeof *pairs_);                                                        \
    } while (0)

/* Small and quick; tests change what they are about. */
static npmd_options small_options(void)
{
    npmd_options opt;
    options_init(&opt);
    SET(&opt, { { "features", "24" },
                { "max-frequency", "4" },
                { "width", "16" },
                { "depth", "3" },
                { "q1", "512" },
                { "q2", "128" },
                { "tau", "1e-4" },
                { "warmup", "20" },
                { "threads", "1" } });
    return opt;
}

static npmd_domain *domain(const char *text)
{
    npmd_domain *dom = NULL;
    assert_int_equal(npmd_domain_parse(text, &dom, NULL), NPMD_OK);
    return dom;
}

static npmd_points *points_of(const npmd_domain *dom, const double *x, size_t n)
{
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    if (points_from(x, n, dom, &pts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return pts;
}

static void weigh(npmd_points *pts, const double *w)
{
    char path[] = P_tmpdir "/npmd_training_XXXXXX.npy";
    const int file = mkstemps(path, 4);
    npmd_error err = { 0 };
    assert_true(file >= 0);
    close(file);
    if (npmd_array_write(path, w, npmd_points_count(pts), 1, &err) != NPMD_OK
        || npmd_points_weigh(pts, path, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    unlink(path);
}

static double *wrapped_normals(size_t n, int columns, double sd, uint64_t seed)
{
    double *x = doubles(n * (size_t)columns);
    for (size_t i = 0; i < n * (size_t)columns; i++)
        x[i] = 3.0 + sd * test_normal(&seed);
    return x;
}

static npmd_model *fitted(const npmd_domain *dom, const npmd_points *pts, const npmd_options *opt)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    if (npmd_fit(dom, pts, opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return m;
}

/* ---- the course of the rate -------------------------------------------------------------------------------------- */

/* torch.optim.lr_scheduler.CyclicLR.get_lr with mode triangular2, step_size_up = step_size_down = half,
 * cycle_momentum, momenta 0.8 and 0.9, transcribed: last_epoch is 0 at the first step. */
static void pytorch_cyclic(double base, double top, double half, double last_epoch, bool halving, double *lr,
                           double *momentum)
{
    const double total = 2.0 * half, step_ratio = half / total;
    const double cycle = floor(1.0 + last_epoch / total), x = 1.0 + last_epoch / total - cycle;
    const double scale = x <= step_ratio ? x / step_ratio : (x - 1.0) / (step_ratio - 1.0);
    const double factor = halving ? 1.0 / pow(2.0, cycle - 1.0) : 1.0;
    *lr = base + (top - base) * scale * factor;
    *momentum = 0.9 - (0.9 - 0.8) * scale * factor;
}

/* x = 1 + t/total - cycle loses digits to 1 + t/total <= 11: 1e-15 of it, doubled by the division. */
static void triangular_rates_are_pytorchs(void **state)
{
    (void)state;
    static const int64_t CYCLE[] = { 1, 7, 2000, 5000 };
    double worst = 0.0;
    for (int halving = 0; halving < 2; halving++)
        for (size_t c = 0; c < sizeof CYCLE / sizeof *CYCLE; c++) {
            npmd_options opt;
            options_init(&opt);
            SET(&opt, { { "rate", "1e-3" }, { "rate-min", "1e-5" }, { "warmup", "0" }, { "steps", "20000" } });
            opt.set.descent.schedule = halving ? SCHEDULE_TRIANGULAR2 : SCHEDULE_TRIANGULAR;
            opt.set.descent.cycle = CYCLE[c];
            for (int64_t t = 0; t<20 * CYCLE[c]; t += CYCLE[c]> 100 ? 13 : 1) {
                const schedule_point at = schedule_at(&opt.set, t);
                double lr, momentum;
                pytorch_cyclic(1e-5, 1e-3, (double)CYCLE[c], (double)t, halving != 0, &lr, &momentum);
                worst = fmax(worst, fmax(fabs(at.rate - lr) / 1e-3, fabs(at.beta1 - momentum)));
            }
            assert_true(schedule_at(&opt.set, 0).rate == 1e-5 && schedule_at(&opt.set, 0).beta1 == 0.9);
            check_quiet("top", fabs(schedule_at(&opt.set, CYCLE[c]).rate - 1e-3), 1e-18);
            check_quiet("top", fabs(schedule_at(&opt.set, CYCLE[c]).beta1 - 0.8), 1e-15);
        }
    check_below("triangular rates and momenta against PyTorch's", worst, 1e-14);
}

static void cosine_and_warm_up(void **state)
{
    (void)state;
    npmd_options opt;
    options_init(&opt);
    SET(&opt, { { "rate", "2e-3" }, { "rate-min", "1e-5" }, { "warmup", "0" }, { "steps", "1000" } });
    /* cos and two sums: a few 2^-53 of 2e-3 */
    const double tiny = 2e-18;
    check_quiet("last", fabs(schedule_at(&opt.set, 999).rate - 1e-5), tiny);
    check_quiet("middle", fabs(schedule_at(&opt.set, 499).rate - 0.5 * (2e-3 + 1e-5)), tiny);
    assert_true(schedule_at(&opt.set, 0).rate <= 2e-3
                && schedule_at(&opt.set, 0).rate > 2e-3 * (1.0 - 3e-6)); /* 1 - (pi/1000)^2/4 */
    for (int64_t t = 1; t < 1000; t++) {
        assert_true(schedule_at(&opt.set, t).rate < schedule_at(&opt.set, t - 1).rate);
        assert_true(schedule_at(&opt.set, t).beta1 == 0.9);
    }
    assert_true(schedule_at(&opt.set, 5000).rate >= 0.0); /* beyond the end: the lowest */
    npmd_options warm = opt;
    warm.set.descent.warmup = 100;
    for (int64_t t = 0; t < 200; t++) {
        const double share = t < 100 ? (double)(t + 1) / 100.0 : 1.0;
        check_quiet("warm-up", fabs(schedule_at(&warm.set, t).rate - share * schedule_at(&opt.set, t).rate), tiny);
    }
    opt.set.descent.schedule = SCHEDULE_FIXED;
    assert_true(schedule_at(&opt.set, 0).rate == 2e-3 && schedule_at(&opt.set, 999).rate == 2e-3);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* sum_i w_i g(jet at x_i) over a source, from jets that the backend evaluates point by point. */
static double term_by_hand(const fixture *f, void *self, const point_source *s, int kind)
{
    const size_t rows = (size_t)f->domain->dimension + 2, columns = (size_t)f->domain->columns;
    double *x = doubles(s->count * columns), *w = doubles(s->count), *jet = doubles(s->count * rows), sum = 0.0;
    npmd_error err = { 0 };
    source_fill(s, 0, s->count, x, w);
    if (BACKEND_REFERENCE.evaluate(self, x, s->count, JET_ALL, jet, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < s->count; i++) {
        const double *v = jet + i * rows;
        double square = 0.0;
        for (size_t t = 1; t + 1 < rows; t++)
            square += v[t] * v[t];
        sum += w[i]
               * (kind == TERM_DATA       ? v[0]
                  : kind == TERM_INTEGRAL ? exp(v[0])
                  : kind == TERM_GRADIENT ? square
                                          : v[rows - 1] * v[rows - 1]);
    }
    free(x);
    free(w);
    free(jet);
    return sum;
}

/* Both sides add the same few hundred numbers in double: 1e-13 of the sum of their sizes, which for these
 * fields is below 100 times the sum. */
static void a_step_is_the_sum_of_its_terms(void **state)
{
    (void)state;
    static const struct {
        const char *domain, *integral, *penalty, *sequence;
        bool separable;
    } CASE[] = { { "T2", "uniform", "laplacian", "sobol", true },
                 { "T2", "importance", "gradient", "independent", false },
                 { "S2 x S1", "importance", "laplacian", "sobol", true },
                 { "S2", "uniform", "none", "sobol", true } };
    enum { N = 100, BATCH = 30 };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        const field_case shape = { CASE[c].domain, CASE[c].separable, 8, 6, 3, true, 2.0, SCALE_UNIT };
        fixture f;
        npmd_options opt;
        npmd_error err = { 0 };
        objective o;
        uint64_t seed = 4;
        fixture_open(&shape, 41, &f);
        double *x = doubles(N * (size_t)f.domain->columns), w[N], worst = 0.0, seen[3] = { 0 };
        fixture_points(f.domain, N, 1.0, &seed, x);
        npmd_points *pts = points_of(f.domain, x, N);
        for (int i = 0; i < N; i++)
            w[i] = 0.5 + test_uniform(&seed);
        if (c % 2 == 1)
            weigh(pts, w);
        options_init(&opt);
        SET(&opt, { { "batch", "30" },
                    { "q1", "256" },
                    { "q2", "64" },
                    { "tau", "0.01" },
                    { "centres", "16" },
                    { "seed", "3" } });
        assert_int_equal(npmd_options_set(&opt, "integral", CASE[c].integral, NULL), NPMD_OK);
        assert_int_equal(npmd_options_set(&opt, "penalty", CASE[c].penalty, NULL), NPMD_OK);
        assert_int_equal(npmd_options_set(&opt, "sequence", CASE[c].sequence, NULL), NPMD_OK);
        backend b = { &BACKEND_REFERENCE, fixture_backend(&f, &BACKEND_REFERENCE, 1) };
        assert_int_equal(b.ops->set_points(b.self, pts, &err), NPMD_OK);
        assert_int_equal(objective_open(&o, f.domain, pts, &opt.set, &err), NPMD_OK);
        assert_int_equal(objective_steps_an_epoch(&opt.set, N), 3);
        for (int64_t step = 0; step < 7; step++) {
            objective_value value;
            point_source s;
            assert_int_equal(objective_step(&o, &b, step, &value, &err), NPMD_OK);
            const bool quasi = opt.set.descent.sequence == SEQUENCE_SOBOL;
            source_data(&s, pts, (size_t)(step % 3) * BATCH, BATCH, true,
                        rng_key_make(opt.set.seed, RNG_BATCH, (uint64_t)(step / 3)));
            const double data = -term_by_hand(&f, b.self, &s, TERM_DATA);
            assert_int_equal(objective_integral_points(&o, step, (size_t)opt.set.descent.q1, &s, &err), NPMD_OK);
            const double integral = term_by_hand(&f, b.self, &s, TERM_INTEGRAL);
            source_uniform(&s, f.domain, (size_t)opt.set.descent.q2, quasi,
                           rng_key_make(opt.set.seed, RNG_PENALTY_POINTS, (uint64_t)step));
            const double penalty = opt.set.penalty == PENALTY_NONE
                                       ? 0.0
                                       : term_by_hand(&f, b.self, &s,
                                                      opt.set.penalty == PENALTY_GRADIENT ? TERM_GRADIENT
                                                                                          : TERM_LAPLACIAN);
            worst = fmax(worst, fabs(value.data - data));
            worst = fmax(worst, fabs(value.integral / integral - 1.0));
            worst = fmax(worst, fabs(value.penalty - penalty) / (penalty + 1e-300));
            worst = fmax(worst, fabs(value.total - (data + integral + 0.01 * penalty)) / (1.0 + fabs(value.total)));
            for (int k = 0; k < 3; k++) { /* fresh points in every step */
                const double now = k == 0 ? value.data : k == 1 ? value.integral : value.penalty;
                assert_true(now != seen[k] || (k == 2 && opt.set.penalty == PENALTY_NONE));
                seen[k] = now;
            }
        }
        check_below(CASE[c].domain, worst, 1e-11);
        objective_close(&o);
        backend_close(&b);
        npmd_points_free(pts);
        free(x);
        fixture_close(&f);
    }
}

/* ---- fits whose answer is known ---------------------------------------------------------------------------------- */

/* Depth 1 is the linear series, and at the optimum with tau = 0 the moments of the density are those of the
 * sample: the gradient of -mean v + mean exp v. Adam leaves a parameter within about its last rates of the
 * optimum: over the last twentieth of a cosine of height 1e-2 they stay below 1e-2 (pi/20)^2 / 4 = 6e-5.
 * The Hessian is the model's second moment matrix of the features, whose norm is at most its trace: 6
 * features of at most 2, 12. So moments agree to 12 x 6e-5 = 7.4e-4; stratified points (4,096 of them,
 * error 4096^-1.5 x 20) and float32 add less than 1e-4. */
static void a_series_has_the_moments_of_the_sample(void **state)
{
    (void)state;
    enum { N = 400, F = 3, NODES = 512 };
    npmd_domain *dom = domain("S1");
    npmd_options opt = small_options();
    double *x = wrapped_normals(N, 1, 1.2, 7), node[NODES], log_f[NODES], worst = 0.0, mass = 0.0;
    npmd_points *pts = points_of(dom, x, N);
    SET(&opt, { { "depth", "1" },
                { "max-frequency", "3" },
                { "tau", "1e-12" },
                { "steps", "600" },
                { "rate", "1e-2" },
                { "q1", "4096" },
                { "q2", "16" } });
    npmd_model *m = fitted(dom, pts, &opt);
    for (int i = 0; i < NODES; i++)
        node[i] = PI2 * i / NODES;
    assert_int_equal(npmd_log_density(m, node, NODES, log_f, NULL), NPMD_OK);
    for (int k = 0; k <= F; k++) {
        double model[2] = { 0 }, sample[2] = { 0 };
        for (int i = 0; i < NODES; i++) {
            model[0] += sqrt(2.0) * cos(k * node[i]) * exp(log_f[i]) * PI2 / NODES;
            model[1] += sqrt(2.0) * sin(k * node[i]) * exp(log_f[i]) * PI2 / NODES;
        }
        for (int i = 0; i < N; i++) {
            sample[0] += sqrt(2.0) * cos(k * x[i]) / N;
            sample[1] += sqrt(2.0) * sin(k * x[i]) / N;
        }
        if (k == 0)
            mass = model[0] / sqrt(2.0);
        worst = fmax(worst, fmax(fabs(model[0] - sample[0]), fabs(model[1] - sample[1])));
    }
    check_below("moments of the series against the sample's", worst, 8.4e-4);
    check_below("mass", fabs(mass - 1.0), 1e-5);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

static double relative_rms(const npmd_model *m, double *most)
{
    enum { G = 48 };
    double x[2 * G * G], f[G * G], sum = 0.0;
    for (int i = 0; i < G * G; i++) {
        x[2 * i] = PI2 * (i / G) / G;
        x[2 * i + 1] = PI2 * (i % G) / G;
    }
    npmd_points *grid = points_of(npmd_model_domain(m), x, G * G);
    assert_int_equal(npmd_evaluate_at(m, grid, NPMD_RELATIVE, NULL, f, NULL), NPMD_OK);
    npmd_points_free(grid);
    *most = 0.0;
    for (int i = 0; i < G * G; i++) {
        *most = fmax(*most, fabs(f[i] - 1.0));
        sum += (f[i] - 1.0) * (f[i] - 1.0);
    }
    return sqrt(sum / (G * G));
}

/* A penalty that outweighs everything leaves the uniform density, the only one it does not cost: no
 * collapse, since the gain within reach, 1/2 sum g^2 / (1 + 2 tau lambda^2) < K / (4 tau), is nil. Whatever
 * is left of v is what Adam's last rates leave of the weights; 1e-2 is asked for. */
static void a_huge_tau_gives_the_uniform_density(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T2");
    double *x = wrapped_normals(500, 2, 0.8, 3), most;
    npmd_points *pts = points_of(dom, x, 500);
    npmd_options opt = small_options();
    SET(&opt, { { "tau", "1e6" }, { "steps", "300" } });
    npmd_model *m = fitted(dom, pts, &opt);
    relative_rms(m, &most);
    check_below("tau = 1e6: |relative density - 1|", most, 1e-2);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

/* Uniform data are no collapse. A penalised series has mean square error (1/n) sum_k 1/(1 + 2 tau
 * lambda_k^2)^2 over its K features; the network reaches frequencies beyond them, so the sum is taken over
 * all of Z^2. Twice the root is allowed. */
static void uniform_data_are_no_collapse(void **state)
{
    (void)state;
    enum { N = 2000 };
    npmd_domain *dom = domain("T2");
    double *x = doubles(2 * N), most, freedom = 0.0;
    uint64_t seed = 21;
    const double tau = 1e-3;
    for (int i = 0; i < 2 * N; i++)
        x[i] = PI2 * test_uniform(&seed);
    for (int i = -60; i <= 60; i++)
        for (int j = -60; j <= 60; j++) {
            const double lambda = (double)(i * i + j * j), shrink = 1.0 / (1.0 + 2.0 * tau * lambda * lambda);
            freedom += lambda > 0.0 ? shrink * shrink : 0.0;
        }
    npmd_points *pts = points_of(dom, x, N);
    npmd_options opt = small_options();
    SET(&opt,
        { { "tau", "1e-3" }, { "steps", "400" }, { "max-frequency", "8" }, { "features", "96" }, { "q1", "2048" } });
    npmd_model *m = fitted(dom, pts, &opt);
    assert_int_equal(m->facts.restarts, 0);
    assert_int_equal(m->warnings, 0);
    check_below("uniform data: rms of relative density - 1", relative_rms(m, &most), 2.0 * sqrt(freedom / N));
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static int count_attempts(const npmd_report *now, void *user)
{
    int *most = user;
    *most = now->attempt > *most ? now->attempt : *most;
    return 0;
}

static void failures_are_seen(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T2");
    double *x = wrapped_normals(500, 2, 0.3, 5);
    npmd_points *pts = points_of(dom, x, 500);
    for (int which = 0; which < 2; which++) {
        npmd_options opt = small_options();
        npmd_model *m = NULL;
        npmd_error err = { 0 };
        int attempts = 0;
        if (which == 0) /* cannot learn */
            SET(&opt, { { "rate", "0" }, { "skip", "off" }, { "steps", "400" } });
        else /* runs away */
            SET(&opt, { { "rate", "1e3" },
                        { "skip", "off" },
                        { "clip", "0" },
                        { "optimiser", "sgd" },
                        { "steps", "400" },
                        { "schedule", "fixed" } });
        npmd_options_watch(&opt, count_attempts, &attempts);
        assert_int_equal(npmd_fit(dom, pts, &opt, &m, &err), NPMD_ERR_NUMERIC);
        assert_null(m);
        print_message("    after %d attempts: %s\n", attempts, err.text);
        assert_int_equal(attempts, 3);
        assert_non_null(strstr(err.text, which == 0 ? "collapsed" : "ran away"));
    }
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

/* With a skip there is always something to keep: the convex start, and the model says so. */
static void a_skip_saves_the_fit(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T2");
    double *x = wrapped_normals(500, 2, 0.3, 5);
    npmd_points *pts = points_of(dom, x, 500);
    npmd_options opt = small_options();
    SET(&opt, { { "rate", "1e3" },
                { "skip", "on" },
                { "clip", "0" },
                { "optimiser", "sgd" },
                { "steps", "400" },
                { "schedule", "fixed" } });
    npmd_model *m = fitted(dom, pts, &opt);
    const fit_facts facts = m->facts;
    assert_int_equal(facts.restarts, 2);
    assert_true(facts.objective < 1.0);
    assert_int_equal(m->warnings, 1);
    assert_non_null(strstr(npmd_model_warning(m, 0), "linear start"));
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

/* Tight clusters ask for less smoothing than the usual tau = 5e-5: of six clusters of width 0.05 on the circle it smears
 * out about half, since tau v''^2 at v = -x^2/(2 0.05^2) would cost 5e-5 x 400^2 x (their share) = 8. Whatever is
 * chosen, of smooth data, too, has the least criterion of all that was compared but for higher frequencies, which must
 * be surely better. */
static void clusters_ask_for_a_lower_tau(void **state)
{
    (void)state;
    enum { N = 2000 };
    npmd_domain *dom = domain("T1");
    double *smooth = wrapped_normals(N, 1, 0.8, 8), *tight = wrapped_normals(N, 1, 0.05, 9);
    for (int i = 0; i < N; i++)
        tight[i] += i % 6;
    for (int which = 0; which < 2; which++) {
        npmd_points *pts = points_of(dom, which == 0 ? smooth : tight, N);
        npmd_options opt = small_options();
        SET(&opt, { { "tau", "auto" },
                    { "steps", "300" },
                    { "max-frequency", "60" },
                    { "features", "60" },
                    { "omega", "2.5" },
                    { "folds", "1" },
                    { "rivals", "off" } });
        npmd_model *m = fitted(dom, pts, &opt);
        const double tau = m->facts.tau;
        print_message("    %s data: tau %g\n", which == 0 ? "smooth" : "clustered", tau);
        assert_true(m->choice.rows >= 3); /* its start and both neighbours */
        for (int i = 0; i < m->choice.rows; i++) {
            assert_true(m->choice.row[i].difference >= 0.0);
            assert_true(!m->choice.row[i].kept || m->choice.row[i].tau == tau);
        }
        if (which == 1)
            assert_true(tau < 5e-5);
        npmd_model_free(m);
        npmd_points_free(pts);
    }
    npmd_domain_free(dom);
    free(smooth);
    free(tight);
}

/* Every point stands there twice. Held out apart, less smoothing gains, since the twins of held-out points are learnt
 * from; together the choice is a smoother one. An integral known to 0.1, none on the way to the choice, and few centres for its points will do. */
static void twins_are_held_out_together(void **state)
{
    (void)state;
    enum { N = 250 };
    npmd_domain *dom = domain("T4");
    double *x = wrapped_normals(N, 4, 0.8, 8), *twice = doubles(2 * N * 4);
    memcpy(twice, x, N * 4 * sizeof *x);
    memcpy(twice + N * 4, x, N * 4 * sizeof *x);
    npmd_points *twins = points_of(dom, twice, 2 * N);
    npmd_options opt = small_options();
    SET(&opt, { { "tau", "auto" },
                { "steps", "60" },
                { "width", "24" },
                { "features", "64" },
                { "q1", "256" },
                { "centres", "32" },
                { "criterion", "likelihood" },
                { "rivals", "off" }, /* a series of 6,561 functions would take longer than all else */
                { "accuracy", "0.1" } });
    double tau[2];
    for (int together = 0; together < 2; together++) {
        assert_int_equal(npmd_options_set(&opt, "ties", together ? "together" : "apart", NULL), NPMD_OK);
        npmd_model *m = fitted(dom, twins, &opt);
        tau[together] = m->facts.tau;
        print_message("    %s: tau %g\n", together ? "together" : "apart", tau[together]);
        npmd_model_free(m);
    }
    assert_true(tau[1] > tau[0]);
    npmd_points_free(twins);
    npmd_domain_free(dom);
    free(twice);
    free(x);
}

static int stop_at_30(const npmd_report *now, void *user)
{
    int64_t *last = user;
    *last = now->step;
    return now->step >= 30;
}

static void a_stopped_fit_is_a_model(void **state)
{
    (void)state;
    npmd_domain *dom = domain("T2");
    double *x = wrapped_normals(500, 2, 0.8, 6), log_f[500];
    npmd_points *pts = points_of(dom, x, 500);
    npmd_options opt = small_options();
    int64_t last = 0;
    SET(&opt, { { "steps", "5000" }, { "log-every", "10" } });
    npmd_options_watch(&opt, stop_at_30, &last);
    npmd_model *m = fitted(dom, pts, &opt);
    const fit_facts facts = m->facts;
    assert_int_equal(facts.interrupted, 1);
    assert_int_equal(facts.steps, last);
    assert_int_equal(last, 30);
    assert_int_equal(facts.restarts, 0);
    assert_true(m->warnings >= 1);
    assert_int_equal(npmd_log_density(m, x, 500, log_f, NULL), NPMD_OK);
    for (int i = 0; i < 500; i++)
        assert_true(isfinite(log_f[i]));
    char *json = NULL;
    assert_int_equal(npmd_model_describe(m, &json, NULL), NPMD_OK);
    npmd_text_free(json);
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
}

/* ---- changes that change nothing --------------------------------------------------------------------------------- */

/* A weight of 2 is a point that stands there twice. Means of a few hundred numbers of size at most 10 agree
 * to 1e-13. The noise differs by design: weights have an effective number of points. */
static void a_weight_is_a_repetition(void **state)
{
    (void)state;
    enum { N = 200, HALF = 100 };
    const field_case shape = { "S2 x S1", true, 8, 6, 3, true, 2.0, SCALE_UNIT };
    fixture f;
    npmd_options opt;
    npmd_error err = { 0 };
    uint64_t seed = 14;
    fixture_open(&shape, 43, &f);
    const size_t columns = (size_t)f.domain->columns;
    double *x = doubles((N + HALF) * columns), w[N], gain[2][3], data[2];
    fixture_points(f.domain, N, 1.0, &seed, x);
    memcpy(x + N * columns, x, HALF * columns * sizeof *x);
    double *coefficient[2], *gradient[2];
    for (int i = 0; i < N; i++)
        w[i] = i < HALF ? 2.0 : 1.0;
    for (int k = 0; k < 2; k++) {
        npmd_points *pts = points_of(f.domain, x, k == 0 ? N : N + HALF);
        objective o;
        point_source s;
        linear_gain possible = { 0 };
        if (k == 0)
            weigh(pts, w);
        options_init(&opt);
        SET(&opt, { { "tau", "1e-3" }, { "integral", "uniform" } });
        void *self = fixture_backend(&f, &BACKEND_REFERENCE, 1);
        gradient[k] = doubles(f.parameters);
        source_data(&s, pts, 0, pts->n, false, rng_key_make(1, RNG_BATCH, 0));
        data[k] = fixture_term(&f, &BACKEND_REFERENCE, self, TERM_DATA, &s, -1.0, gradient[k]);
        assert_int_equal(objective_open(&o, f.domain, pts, &opt.set, &err), NPMD_OK);
        assert_int_equal(linear_gain_open(&possible, &f.enc, &o, &err), NPMD_OK);
        gain[k][0] = possible.gain0;
        gain[k][1] = possible.gain;
        gain[k][2] = possible.constant;
        coefficient[k] = doubles((size_t)f.enc.features);
        memcpy(coefficient[k], possible.coefficient, (size_t)f.enc.features * sizeof(double));
        linear_gain_close(&possible);
        objective_close(&o);
        BACKEND_REFERENCE.close(self);
        npmd_points_free(pts);
    }
    check_below("data term", fabs(data[0] - data[1]), 1e-13);
    check_below("its gradient", relative_norm(gradient[0], gradient[1], f.parameters), 1e-12);
    for (int k = 0; k < 3; k++)
        check_below("gain0, gain, constant", fabs(gain[0][k] - gain[1][k]), 1e-13);
    assert_true(gain[0][0] > 0.0);
    check_below("coefficients", relative_norm(coefficient[0], coefficient[1], (size_t)f.enc.features), 1e-12);
    for (int k = 0; k < 2; k++) {
        free(coefficient[k]);
        free(gradient[k]);
    }
    free(x);
    fixture_close(&f);
}

/* Turning an angle by 2 pi and permuting rows change a point by 1e-15 and a sum by its rounding. Adam
 * divides a gradient by its size plus 1e-8, so an error of 1e-14 in a gradient moves a parameter by at most
 * rate x 1e-14 / 1e-8 = 1e-9 a step where the gradient is nil, by far less elsewhere: 10 steps, and v sums
 * some dozen of them: 1e-7. Differences of log f are compared, since the constant is known to its stated
 * error only. */
static void turns_and_permutations_change_nothing(void **state)
{
    (void)state;
    enum { N = 150 };
    npmd_domain *dom = domain("T2");
    double *x = wrapped_normals(N, 2, 0.9, 8), *y = doubles(2 * N), before[N], after[N];
    npmd_options opt = small_options();
    SET(&opt, { { "steps", "10" }, { "device", "reference" }, { "q1", "256" }, { "rate", "1e-3" } });
    npmd_points *pts = points_of(dom, x, N);
    npmd_model *m = fitted(dom, pts, &opt);
    npmd_compute exact = { .size = sizeof exact, .device = "reference" };
    assert_int_equal(npmd_evaluate_at(m, pts, NPMD_LOG_DENSITY, &exact, before, NULL), NPMD_OK);
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < N; i++)
            for (int d = 0; d < 2; d++)
                y[2 * i + d] = way == 0 ? x[2 * i + d] + PI2 * (i % 3 - 1) : x[2 * ((7 * i + 3) % N) + d];
        npmd_points *other = points_of(dom, y, N);
        npmd_model *again = fitted(dom, other, &opt);
        assert_int_equal(npmd_evaluate_at(again, pts, NPMD_LOG_DENSITY, &exact, after, NULL), NPMD_OK);
        double worst = 0.0;
        for (int i = 1; i < N; i++)
            worst = fmax(worst, fabs((after[i] - after[0]) - (before[i] - before[0])));
        check_below(way == 0 ? "angles turned by 2 pi" : "rows permuted", worst, 1e-7);
        const fit_facts a = m->facts, b = again->facts;
        check_below("    log integral", fabs(a.log_integral - b.log_integral),
                    1e-7 + 5.0 * hypot(a.log_integral_se, b.log_integral_se));
        npmd_model_free(again);
        npmd_points_free(other);
    }
    npmd_model_free(m);
    npmd_points_free(pts);
    npmd_domain_free(dom);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangular_rates_are_pytorchs),
        cmocka_unit_test(cosine_and_warm_up),
        cmocka_unit_test(a_step_is_the_sum_of_its_terms),
        cmocka_unit_test(a_series_has_the_moments_of_the_sample),
        cmocka_unit_test(a_huge_tau_gives_the_uniform_density),
        cmocka_unit_test(uniform_data_are_no_collapse),
        cmocka_unit_test(failures_are_seen),
        cmocka_unit_test(a_skip_saves_the_fit),
        cmocka_unit_test(clusters_ask_for_a_lower_tau),
        cmocka_unit_test(twins_are_held_out_together),
        cmocka_unit_test(a_stopped_fit_is_a_model),
        cmocka_unit_test(a_weight_is_a_repetition),
        cmocka_unit_test(turns_and_permutations_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
