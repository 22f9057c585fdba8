/* option_rows.c - one table describes every option: its field, default, range and readers. Help, manual page,
 * configuration files, model files and bindings use it; a preset is a list of settings from it.
 *
 * A default that depends on the domain, on the number of points or on other settings is a function in the column
 * `usual`, here and nowhere else. */
#include "derive.h"

/* ---- What is usual ----------------------------------------------------------------------------------------------- */

#define LEAST_BATCH 1024
#define MOST_BATCH 131072 /* by then the noise of the integral is far larger than that of the data */

static bool low_dimension(const usual_case *w)
{
    return w->domain->dimension <= 2;
}

static double usual_tau(const usual_case *w)
{
    return low_dimension(w) ? 5e-5 : 1e-4;
}

/* Settings and weights are learnt from what is held out, not one number: that takes more. */
static double usual_holdout(const usual_case *w)
{
    if (settings_blend(w->set) || (w->set->estimator == FIT_FIELD && w->set->descent.stop == STOP_NONE))
        return w->set->folds > 0 ? fmin(0.2, 1.0 / w->set->folds) : 0.2;
    return 0.1;
}

static double usual_members(const usual_case *w)
{
    return w->set->bootstrap ? 16 : w->set->estimator == FIT_STACK ? 4 : 1;
}

/* The coordinates, of a circle the cosine and the sine of its angle, and nothing else: a sine network makes the higher
 * frequencies itself, and learns far less noise from a few inputs than from many. A series does not make them; on a
 * surface the lowest eigenfunctions may not tell its points apart; and where the number or the kind of features is given,
 * they are drawn. */
static double usual_encoding(const usual_case *w)
{
    return settings_open(w->set).encoding && !w->domain->surfaces ? FEATURES_COORDINATES : FEATURES_DRAWN;
}

static double usual_features(const usual_case *w)
{
    int coordinates = 0;
    for (int d = 0; d < w->domain->factors; d++)
        coordinates += w->domain->factor[d]->functions(w->domain->factor[d], 1) - 1;
    return w->set->encoding.from == FEATURES_COORDINATES ? coordinates : settings_wide_features(w->domain);
}

/* A field's power law rarely draws near the limit, so it may be generous; a series has every function up to it. */
static double usual_frequency(const usual_case *w)
{
    const bool circle = w->domain->factor[w->factor]->dimension == 1;
    if (w->set->estimator == FIT_SERIES || w->set->estimator == FIT_KDE)
        return circle ? w->domain->dimension == 1 ? 40 : 10 : w->domain->dimension == 2 ? 24 : 10;
    return circle ? 20 : w->domain->dimension == 2 ? 16 : 10;
}

static double usual_decay(const usual_case *w)
{
    return settings_wide_decay(w->domain);
}

static double usual_separable(const usual_case *w)
{
    return !(w->domain->torus && w->domain->factors >= 3);
}

/* Higher ones learn faster, and noise sooner. */
static double usual_omega(const usual_case *w)
{
    (void)w;
    return 2.5;
}

/* Does the data choose how long a field is trained, or its penalty? Then they choose the size of its network, too, and
 * begin with a small one. */
static bool is_chosen(const usual_case *w)
{
    const open_settings open = settings_open(w->set);
    return w->set->estimator == FIT_FIELD && (open.tau || open.length);
}

static double usual_width(const usual_case *w)
{
    return is_chosen(w) ? 64 : 128;
}

static double usual_depth(const usual_case *w)
{
    return low_dimension(w) || is_chosen(w) ? 3 : 4;
}

/* More steps lower the objective further but not the error: the optimum fits noise. Clusters on a sphere gain by them,
 * tori and many dimensions lose (docs/results.md). */
static double usual_steps(const usual_case *w)
{
    return low_dimension(w) && !w->domain->torus ? 1000 : 500;
}

/* A step sees few points: its noise is averaged over the hundreds of steps in which the rate falls, and for the same
 * work many small steps lead further than a few large ones. Of very many points it sees a share, since what they have to
 * tell is finer, too; a larger one in many dimensions, where a network has more to learn (docs/choosing.md). */
static double step_share(const usual_case *w)
{
    return floor((double)w->n / (low_dimension(w) ? 64.0 : 24.0));
}

static double usual_batch(const usual_case *w)
{
    const double n = (double)w->n;
    return n <= LEAST_BATCH ? n : fmin(fmax(LEAST_BATCH, step_share(w)), MOST_BATCH);
}

/* So do the integral and the penalty; of few points those of the data are the larger noise. In one and two dimensions
 * quasi-random points know the integral far better than as many of the data know theirs. */
static double usual_q1(const usual_case *w)
{
    return low_dimension(w) ? fmin(fmax(512.0, (double)w->n), 1024.0) : fmin(fmax(2048.0, step_share(w)), MOST_BATCH);
}

static double usual_q2(const usual_case *w)
{
    return floor(usual_q1(w) / 4.0);
}

/* Scrambled Sobol points on a surface integrate a smooth density better than any proposal; not so in more
 * dimensions. */
static double usual_integral(const usual_case *w)
{
    return low_dimension(w) ? INTEGRAL_UNIFORM : INTEGRAL_IMPORTANCE;
}

/* Kinks, and the jump at 2 pi, keep quadrature of a ReLU network from converging fast. */
static double usual_accuracy(const usual_case *w)
{
    if (w->set->estimator == FIT_RELU)
        return low_dimension(w) ? 1e-4 : 5e-4;
    return settings_accuracy(w->domain);
}

/* Of a field's 200 looks a fifth: where a rate is fixed, plateaus of the criterion are long. */
static double usual_patience(const usual_case *w)
{
    return w->set->estimator == FIT_RELU ? 20 : 40;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define FIELD (1u << FIT_FIELD)
#define SERIES (1u << FIT_SERIES)
#define KDE (1u << FIT_KDE)
#define PSNF (1u << FIT_PSNF)
#define RELU (1u << FIT_RELU)
#define STACK (1u << FIT_STACK | 1u << FIT_AUTO)
#define SGD READER_SGD
#define DESCENT (FIELD | SGD | PSNF | RELU)
#define ALL (~0u)

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* The names of a choice, for people and one by one. */
#define C2(a, b) a "|" b, NAMES(a, b)
#define C3(a, b, c) a "|" b "|" c, NAMES(a, b, c)
#define C4(a, b, c, d) a "|" b "|" c "|" d, NAMES(a, b, c, d)
#define ON_OFF "on|off", NAMES("off", "on") /* on is 1; people say it first */
#define ON_OFF_AUTO "on|off|auto", NAMES("off", "on", "auto")
#define C8(a, b, c, d, e, f, g, h) a "|" b "|" c "|" d "|" e "|" f "|" g "|" h, NAMES(a, b, c, d, e, f, g, h)

#define AT(member) offsetof(npmd_options, member)
#define ENCODING(member) offsetof(npmd_options, set.encoding.member)
#define NETWORK(member) offsetof(npmd_options, set.network.member)
#define DESCEND(member) offsetof(npmd_options, set.descent.member)
#define KERNELS(member) offsetof(npmd_options, set.kernels.member)
#define MACHINE(member) offsetof(npmd_options, set.machine.member)

static_assert(offsetof(npmd_options, set) == 0, "rows of settings hold for the settings alone as well");

/* clang-format off */
static const option_row OPTIONS[] = {
    { "preset", "Choices", OPTION_TEXT, AT(set.preset), "default", NULL, 0, 0, NULL, NULL, true, ALL,
      "quick, default, best, paper-t2, paper-t4 or paper-s2s2: sets many options at once, others given beside it win" },
    { "estimator", "Choices", OPTION_CHOICE, AT(set.estimator), "field", NULL, 0, 0,
      C8("field", "series", "kde", "psnf", "relu", "stack", "uniform", "auto"), true, ALL,
      "what is fitted: a sine network (field), a linear series of eigenfunctions, kernels, a squared family, a ReLU "
      "network; a stack: fields, series, kernels and the uniform density, mixed as held-out points ask for; auto: the "
      "best of these alone, or their stack" },
    { "tau", "Choices", OPTION_REAL, AT(set.tau), "auto", usual_tau, 0, 1e12, NULL, NULL, true, FIELD | SERIES | SGD,
      "weight of the penalty, the mean over the domain; auto: from its usual value to what held-out points ask for, "
      "then fitted to all points" },
    { "holdout", "Choices", OPTION_REAL, AT(set.holdout), "0", usual_holdout, 0, 0.9, NULL, NULL, true,
      FIELD | SGD | SERIES | READER_WIDTHS | RELU | STACK,
      "share of the points held out to choose by; 0: the usual one" },
    { "ties", "Choices", OPTION_CHOICE, AT(set.ties), "apart", NULL, 0, 0, C2("apart", "together"), true,
      FIELD | SGD | SERIES | KDE | RELU | STACK,
      "points that occur more than once are held out apart, each for itself as it was drawn, since new points of the "
      "same source repeat them, too; or together, where repeats are an artefact of the data" },
    { "criterion", "Choices", OPTION_CHOICE, AT(set.criterion), "likelihood", NULL, 0, 0, C2("ise", "likelihood"), true,
      FIELD | SERIES | SGD,
      "what held-out points choose tau by: the integrated squared error, or the likelihood" },
    { "penalty", "Choices", OPTION_CHOICE, AT(set.penalty), "laplacian", NULL, 0, 0,
      C3("laplacian", "gradient", "none"), true, FIELD | SERIES | SGD,
      "what is penalised: mean (Laplacian v)^2, mean |gradient v|^2, or nothing" },
    { "seed", "Choices", OPTION_SEED, AT(set.seed), "1", NULL, 0, 0, NULL, NULL, true, ALL,
      "all random numbers follow from it" },
    { "members", "Choices", OPTION_INT, AT(set.members), "0", usual_members, 0, 1000, NULL, NULL, true, ALL,
      "fits that differ in their seed, combined: far better than one; 0: one, more with bootstrap and in a stack" },
    { "combine", "Choices", OPTION_CHOICE, AT(set.combine), "log", NULL, 0, 0, C2("log", "mixture"), true, ALL,
      "members are averaged in log density and normalised again, or mixed" },
    { "bootstrap", "Choices", OPTION_CHOICE, AT(set.bootstrap), "off", NULL, 0, 0, ON_OFF, true, ALL,
      "members from the second on see points drawn again from the points: their spread then says how sure the estimate "
      "is" },
    { "unordered", "Choices", OPTION_CHOICE, AT(set.unordered), "off", NULL, 0, 0, ON_OFF, true, ALL,
      "on: a point is a pair whose order means nothing, f(x, y) = f(y, x); the domain has two equal factors" },
    { "folds", "Choices", OPTION_INT, AT(set.folds), "0", NULL, 0, 100, NULL, NULL, true, FIELD | SERIES | STACK,
      "shares of the points held out in turn; 0: one, of few points as many as it takes to judge by 2,000, at most 5" },
    { "rivals", "Choices", OPTION_CHOICE, AT(set.rivals), "on", NULL, 0, 0, ON_OFF, true, FIELD,
      "on: a series, where it is affordable, and kernels are fitted beside the field while its settings are chosen, and "
      "judged on the same held-out points" },
    { "stack-by", "Choices", OPTION_CHOICE, AT(set.stack_by), "likelihood", NULL, 0, 0, C2("ise", "likelihood"), true,
      STACK, "what held-out points choose a stack's weights by: the integrated squared error, or the likelihood" },
    { "base", "Choices", OPTION_PATH, AT(base), "auto", NULL, 0, 0, NULL, NULL, false, FIELD,
      "a density f0 that the field changes, f = f0 exp(v) / Z: the file of a model on the same domain; kde or series, "
      "fitted to the same points; uniform; none; auto: where tau and the length are left open, what held-out points "
      "prefer" },

    { "encoding", "Encoding", OPTION_CHOICE, ENCODING(from), "auto", usual_encoding, 0, 0,
      C3("drawn", "coordinates", "auto"), true, FIELD,
      "what the first layer sees: eigenfunctions drawn at random, or the first ones of every factor alone (of a circle "
      "the cosine and sine of its angle); auto: held-out points choose, where nothing else about it is asked for" },
    { "features", "Encoding", OPTION_INT, ENCODING(features), "0", usual_features, 0, 65536, NULL, NULL, true, FIELD,
      "K, random eigenfunctions in the first layer; 0: the usual number" },
    { "max-frequency", "Encoding", OPTION_LIST, ENCODING(max_frequency), "0", usual_frequency, 0, 1024, NULL, NULL, true,
      FIELD | SERIES | SGD | READER_HEAT,
      "highest frequency (degree on S2): one value, or one for each factor separated by commas; 0: the usual one" },
    { "spectrum-law", "Encoding", OPTION_CHOICE, ENCODING(law), "power", NULL, 0, 0,
      C3("power", "uniform", "ridge"), true, FIELD,
      "how eigenfunctions are drawn: probability ~ S = (1 + lambda)^-s, all alike as in the paper, or by its "
      "theorem: ~ S / (S + eps), with replacement, scaled by the root of S over that probability" },
    { "spectrum-decay", "Encoding", OPTION_REAL, ENCODING(decay), "0", usual_decay, 0, 100, NULL, NULL, true, FIELD,
      "s of the power law and the ridge law; 0: dimension / 2 + 1" },
    { "spectrum-ridge", "Encoding", OPTION_REAL, ENCODING(ridge), "0", NULL, 0, 1e6, NULL, NULL, true, FIELD,
      "eps of the ridge law; 0: such that the sum of S / (S + eps) over all eigenfunctions is half of the features" },
    { "separable", "Encoding", OPTION_CHOICE, ENCODING(separable), "auto", usual_separable, 0, 0, ON_OFF_AUTO, true,
      FIELD,
      "on: products of eigenfunctions; off: plane waves on tori, elsewhere random orthogonal combinations of products "
      "of one eigenvalue; auto: off on tori of three or more factors" },
    { "signs", "Encoding", OPTION_CHOICE, ENCODING(signs), "on", NULL, 0, 0, ON_OFF, true, FIELD,
      "plane waves with frequencies of both signs (off: positive only, as the authors; not a basis)" },
    { "constant", "Encoding", OPTION_CHOICE, ENCODING(constant), "off", NULL, 0, 0, ON_OFF, true, FIELD,
      "whether the constant function may be drawn" },
    { "scale", "Encoding", OPTION_CHOICE, ENCODING(scale), "unit", NULL, 0, 0,
      C3("unit", "orthonormal", "none"), true, FIELD | SGD,
      "features of mean square 1 (ridge: on average), orthonormal ones, or plain cosines and sines" },

    { "width", "Network", OPTION_INT, NETWORK(width), "0", usual_width, 0, 4096, NULL, NULL, true,
      FIELD | PSNF | RELU, "W, units in each hidden layer; 0: held-out points choose, where they choose the length" },
    { "depth", "Network", OPTION_INT, NETWORK(depth), "0", usual_depth, 0, 31, NULL, NULL, true, FIELD | RELU,
      "L, affine layers, the linear output among them; 1 is the linear series; 0: held-out "
      "points choose, where they choose the length" },
    { "omega", "Network", OPTION_REAL, NETWORK(omega), "0", usual_omega, 0, 1e6, NULL, NULL, true, FIELD,
      "frequency of the sine" },
    { "skip", "Network", OPTION_CHOICE, NETWORK(skip), "on", NULL, 0, 0, ON_OFF, true, FIELD,
      "a linear path from the encoding to the output" },
    { "skip-start", "Network", OPTION_CHOICE, NETWORK(skip_start), "step", NULL, 0, 0,
      C3("step", "convex", "zero"), true, FIELD,
      "where the linear path starts: at the best point of its Newton step from the uniform density, at the "
      "optimum of the objective for the linear path alone (convex), or at zero" },
    { "start", "Network", OPTION_CHOICE, NETWORK(start), "unit", NULL, 0, 0, C2("unit", "authors"), true,
      FIELD | PSNF | RELU,
      "first layer U(+-sqrt(3/K)/omega), for features of mean square 1, or the authors' U(+-1/K)" },

    { "steps", "Training", OPTION_COUNT, DESCEND(steps), "0", usual_steps, 0, 4e9, NULL, NULL, true, DESCENT,
      "optimisation steps; 0: the usual number" },
    { "epochs", "Training", OPTION_COUNT, DESCEND(epochs), "0", NULL, 0, 4e9, NULL, NULL, true, DESCENT,
      "passes through the data of n / batch steps each; the later of steps and epochs rules" },
    { "batch", "Training", OPTION_BATCH, DESCEND(batch), "0", usual_batch, 0, 1e15, NULL, NULL, true, DESCENT,
      "data points a step, or a share of all: n/2 is half of them; 0: by n" },
    { "q1", "Training", OPTION_COUNT, DESCEND(q1), "0", usual_q1, 0, 4e9, NULL, NULL, true, FIELD | SGD | RELU,
      "points of the integral, fresh every step" },
    { "q2", "Training", OPTION_COUNT, DESCEND(q2), "0", usual_q2, 0, 4e9, NULL, NULL, true, FIELD | SGD,
      "points of the penalty, fresh every step" },
    { "optimiser", "Training", OPTION_CHOICE, DESCEND(optimiser), "adam", NULL, 0, 0, C2("adam", "sgd"), true,
      DESCENT, "how steps are taken" },
    { "rate", "Training", OPTION_REAL, DESCEND(rate), "1e-3", NULL, 0, 1e6, NULL, NULL, true, DESCENT,
      "learning rate, at its highest" },
    { "rate-min", "Training", OPTION_REAL, DESCEND(rate_min), "0", NULL, 0, 1e6, NULL, NULL, true, DESCENT,
      "learning rate, at its lowest" },
    { "schedule", "Training", OPTION_CHOICE, DESCEND(schedule), "cosine", NULL, 0, 0,
      C4("cosine", "fixed", "triangular", "triangular2"), true, DESCENT, "course of the rate" },
    { "warmup", "Training", OPTION_COUNT, DESCEND(warmup), "100", NULL, 0, 4e9, NULL, NULL, true, DESCENT,
      "steps over which the rate rises" },
    { "cycle", "Training", OPTION_COUNT, DESCEND(cycle), "2000", NULL, 1, 4e9, NULL, NULL, true, DESCENT,
      "half-cycle of the triangular schedules, steps" },
    { "layer-rates", "Training", OPTION_CHOICE, DESCEND(layer_rates), "on", NULL, 0, 0, ON_OFF, true,
      FIELD | SGD | PSNF, "layers of more than 128 inputs move at a smaller rate" },
    { "clip", "Training", OPTION_REAL, DESCEND(clip), "2", NULL, 0, 1e6, NULL, NULL, true, DESCENT,
      "a gradient longer than this times its running length is shortened; 0: never" },
    { "integral", "Training", OPTION_CHOICE, DESCEND(integral), "auto", usual_integral, 0, 0,
      C3("auto", "importance", "uniform"), true, FIELD | SGD | RELU,
      "points of the integral: uniform, or kernels about data points and a uniform share; auto: uniform in one and two "
      "dimensions" },
    { "uniform-share", "Training", OPTION_REAL, DESCEND(uniform_share), "0.2", NULL, 1e-3, 1, NULL, NULL, true,
      FIELD | SGD | RELU, "importance: the uniform share" },
    { "centres", "Training", OPTION_INT, DESCEND(centres), "512", NULL, 1, 65536, NULL, NULL, true, FIELD | SGD | RELU,
      "importance: kernels in a step" },
    { "proposal-rho", "Training", OPTION_REAL, DESCEND(proposal_rho), "0", NULL, 0, 0.999, NULL, NULL, true,
      FIELD | SGD | RELU, "importance: width of its Cauchy kernels, 0 wide .. 1 narrow; 0: by likelihood" },
    { "sequence", "Training", OPTION_CHOICE, DESCEND(sequence), "sobol", NULL, 0, 0,
      C2("sobol", "independent"), true, FIELD | SGD | RELU, "random points: scrambled Sobol or independent" },
    { "accuracy", "Training", OPTION_REAL, DESCEND(accuracy), "0", usual_accuracy, 0, 1, NULL, NULL, true,
      FIELD | SGD | RELU | READER_HEAT,
      "standard error wanted of the log integral after training; 0: the usual one. An error above 0.05 nats, or above "
      "this where it is larger, is a failure: no model" },

    { "convex-gap", "Training", OPTION_CHOICE, DESCEND(convex_gap), "auto", NULL, 0, 0, ON_OFF_AUTO, true, FIELD,
      "after the fit, how far its objective is above the least one that any function has; in one and two "
      "dimensions; auto: where that takes little time beside the fit" },
    { "stop", "Training", OPTION_CHOICE, DESCEND(stop), "none", NULL, 0, 0, C3("none", "ise", "snr"), true, FIELD,
      "ends the fit once so many looks, its patience, brought no new minimum: of the ISE criterion on held-out points, "
      "whose best weights are kept, or of the signal-to-noise ratio of the gradients of data and integral" },
    { "start-from", "Training", OPTION_PATH, AT(start_from), "", NULL, 0, 0, NULL, NULL, false, FIELD,
      "a model to start from: a field of the same shape gives all weights and its encoding, a series the "
      "linear path" },
    { "encoding-from", "Training", OPTION_PATH, AT(encoding_from), "", NULL, 0, 0, NULL, NULL, false, FIELD,
      "a field whose encoding is used instead of a drawn one" },

    { "patience", "Other estimators", OPTION_COUNT, DESCEND(patience), "0", usual_patience, 0, 4e9, NULL, NULL, true,
      RELU | READER_STOPS,
      "relu, and a field that stops early: looks without improvement before it does; 0: the usual number" },
    { "solver", "Other estimators", OPTION_CHOICE, AT(set.solver), "newton", NULL, 0, 0, C2("newton", "sgd"), true,
      SERIES | SGD,
      "series: Newton's method to the optimum, or stochastic gradients as published" },
    { "kappa", "Other estimators", OPTION_REALS, KERNELS(kappa), "0", NULL, 0, 1e8, NULL, NULL, true, KDE,
      "kde: concentration of the kernels, one value or one for each factor; 0: chosen" },
    { "concentration", "Other estimators", OPTION_CHOICE, KERNELS(concentration), "common", NULL, 0, 0,
      C2("common", "factor"), true, KDE, "kde: one chosen for all factors, or one for each" },
    { "concentration-rule", "Other estimators", OPTION_CHOICE, KERNELS(rule), "least-squares", NULL, 0, 0,
      C3("least-squares", "likelihood", "ise"), true, KDE,
      "kde: a fixed concentration is chosen by the exact least-squares criterion, by leave-one-out likelihood, or by "
      "five-fold ISE as published" },
    { "bandwidth", "Other estimators", OPTION_CHOICE, KERNELS(bandwidth), "fixed", NULL, 0, 0,
      C3("fixed", "adaptive", "mixture"), true, KDE,
      "kde: one width, widths by the distance of near points, or a mixture of several widths weighted by held-out "
      "points" },
    { "neighbours", "Other estimators", OPTION_INT, KERNELS(neighbours), "0", NULL, 0, 1000000, NULL, NULL, true, KDE,
      "kde, adaptive: the k-th nearest distinct point sets the width; 0: chosen from 8, 16, ... 128" },

    { "threads", "Machine", OPTION_INT, MACHINE(threads), "0", NULL, 0, 4096, NULL, NULL, false, ALL,
      "0: all cores; never changes the answer" },
    { "device", "Machine", OPTION_TEXT, MACHINE(device), "cpu", NULL, 0, 0, NULL, NULL, false, ALL,
      "cpu, cuda or cuda:k (the k-th NVIDIA card, counted from 0), or reference (double precision, slow)" },
    { "precision", "Machine", OPTION_CHOICE, MACHINE(precision), "fast", NULL, 0, 0, C2("fast", "exact"), false,
      FIELD | SGD,
      "products on a card while it trains: TF32 (fast, 10 bits) or float32's own error (exact); the cpu is exact" },
    { "log-every", "Machine", OPTION_COUNT, AT(watch.log_every), "0", NULL, 0, 4e9, NULL, NULL, false, DESCENT,
      "steps between reports; 0: 200 reports" },
    { "snr", "Machine", OPTION_CHOICE, DESCEND(snr), "off", NULL, 0, 0, ON_OFF, false, FIELD,
      "whether the log holds the signal-to-noise ratios of the gradients: snr_a, snr_b, snr_c" },
    { "checkpoint", "Machine", OPTION_PATH, AT(watch.checkpoint), "", NULL, 0, 0, NULL, NULL, false, ALL,
      "a file that keeps the state of the fit: after 1 s, then at intervals, and when the fit is interrupted" },
    { "resume", "Machine", OPTION_PATH, AT(watch.resume), "", NULL, 0, 0, NULL, NULL, false, ALL,
      "goes on from a checkpoint of the same fit, to the same bytes; a missing file is an error, unless the fit keeps "
      "its checkpoint under the same name" },
    { "checkpoint-every", "Machine", OPTION_REAL, AT(watch.checkpoint_every), "10", NULL, 0, 1e9, NULL, NULL, false, ALL,
      "seconds between checkpoints" },
};
#define OPTION_TOTAL ((int)(sizeof OPTIONS / sizeof *OPTIONS))
static_assert(OPTION_TOTAL <= 64 * PLAN_GIVEN_WORDS, "a bit for each option");

/* From the code that made the published numbers; the text of the paper differs in places. */
#define PAPER                                                                                                \
    "spectrum-law", "uniform", "start", "authors", "skip", "off", "omega", "10", "warmup", "0", "clip", "0", \
        "layer-rates", "off", "integral", "uniform"
static const struct {
    const char *name;
    const char *const *setting;
} PRESETS[] = {
    { "default", (const char *const[]){ NULL } },
    { "quick", NAMES("steps", "200", "warmup", "50") },
    { "best", NAMES("estimator", "auto", "members", "8") },
    { "paper-t2", NAMES(PAPER, "separable", "on", "features", "128", "max-frequency", "10", "constant", "on",
                        "scale", "orthonormal", "width", "128", "depth", "3", "batch", "n/1", "q1", "1024",
                        "q2", "1024", "schedule", "fixed", "rate", "1e-4", "epochs", "10000", "tau", "5.6e-5") },
    { "paper-t4", NAMES(PAPER, "separable", "off", "signs", "off", "features", "256", "max-frequency", "20",
                        "scale", "none", "width", "128", "depth", "4", "batch", "n/2", "q1", "65536",
                        "q2", "16384", "schedule", "triangular2", "rate", "1e-3", "rate-min", "1e-5",
                        "cycle", "5000", "epochs", "10000", "tau", "1.05e-5") },
    { "paper-s2s2", NAMES(PAPER, "separable", "on", "features", "256", "max-frequency", "10", "constant", "on",
                          "scale", "orthonormal", "width", "256", "depth", "6", "batch", "n/2", "q1", "100000",
                          "q2", "10000", "sequence", "independent", "schedule", "triangular2", "rate", "1e-3",
                          "rate-min", "1e-5", "cycle", "2000", "epochs", "10000", "tau", "1.4e-7") },
};
/* clang-format on */

int option_count(void)
{
    return OPTION_TOTAL;
}

const option_row *option_at(int i)
{
    return i >= 0 && i < OPTION_TOTAL ? &OPTIONS[i] : NULL;
}

const option_row *option_find(const char *name)
{
    for (int i = 0; i < OPTION_TOTAL; i++)
        if (strcmp(OPTIONS[i].name, name) == 0)
            return &OPTIONS[i];
    return NULL;
}

const char *option_text(int i, int column)
{
    static const char *const VALUES[] = { [OPTION_INT] = "N",       [OPTION_COUNT] = "N",   [OPTION_BATCH] = "N|n/K",
                                          [OPTION_REAL] = "X",      [OPTION_SEED] = "N",    [OPTION_LIST] = "N,...",
                                          [OPTION_REALS] = "X,...", [OPTION_TEXT] = "NAME", [OPTION_PATH] = "FILE" };
    const option_row *row = option_at(i);
    if (row == NULL)
        return NULL;
    switch ((npmd_option_column)column) {
    case NPMD_OPTION_NAME:
        return row->name;
    case NPMD_OPTION_VALUES:
        return row->field == AT(set.tau) ? "X|auto" : row->values != NULL ? row->values : VALUES[row->kind];
    case NPMD_OPTION_FALLBACK:
        return row->fallback;
    case NPMD_OPTION_HELP:
        return row->help;
    case NPMD_OPTION_GROUP:
        return row->group;
    }
    return NULL;
}

unsigned option_estimators(const option_row *row)
{
    unsigned bits = row->readers;
    if (bits & READER_SGD)
        bits |= SERIES;
    if (bits & READER_STOPS)
        bits |= FIELD;
    if (bits & (READER_HEAT | READER_WIDTHS))
        bits |= KDE;
    if (bits & (FIELD | SERIES | KDE))
        bits |= STACK; /* which is made of these */
    return bits & ((1u << FIT_KINDS) - 1u);
}

const char *const *preset_settings(const char *name)
{
    for (size_t i = 0; i < sizeof PRESETS / sizeof *PRESETS; i++)
        if (strcmp(PRESETS[i].name, name) == 0)
            return PRESETS[i].setting;
    return NULL;
}

const char *estimator_name(const settings *set)
{
    return option_find("estimator")->choice[set->estimator];
}

int estimator_number(const char *name)
{
    const char *const *names = option_find("estimator")->choice;
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *settings_part_name(const settings *set)
{
    static const char *const KERNELS[] = {
        [BANDWIDTH_FIXED] = "kde fixed", [BANDWIDTH_ADAPTIVE] = "kde adaptive", [BANDWIDTH_MIXTURE] = "kde mixture"
    };
    return set->estimator == FIT_KDE ? KERNELS[set->kernels.bandwidth] : estimator_name(set);
}
