/* options.c - one table describes every option: defaults, ranges, --help, the man page, --config, model files
 * and bindings read it. A preset is a list of settings from the same table. */
#include "core.h"
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <stdio.h>

typedef enum option_kind {
    OPTION_INT,
    OPTION_COUNT,
    OPTION_REAL,
    OPTION_SEED,
    OPTION_CHOICE,
    OPTION_LIST,
    OPTION_REALS,
    OPTION_TEXT,
    OPTION_PATH
} option_kind;

typedef struct choices {
    const char *text;          /* for people */
    const char *const name[8]; /* in the order of their numbers, then NULL */
} choices;

typedef struct option_row {
    const char *name, *group;
    option_kind kind;
    size_t field;
    const char *fallback; /* as a user would write it */
    double least, most;
    const choices *choice; /* CHOICE */
    bool shapes_answer;    /* goes into the model file */
    unsigned readers;      /* estimators that it means something to */
    const char *help;
} option_row;

/* Readers of an option: bits by npmd_estimator, and some for what only other options make them read. */
#define FIELD (1u << NPMD_FIELD)
#define SERIES (1u << NPMD_SERIES)
#define KDE (1u << NPMD_KDE)
#define PSNF (1u << NPMD_PSNF)
#define RELU (1u << NPMD_RELU)
#define STACK (1u << NPMD_STACK)
#define SGD (1u << 31)
#define STOPS (1u << 30) /* a field that stops early */
#define HEAT (1u << 29)  /* kernels on surfaces */
#define DESCENT (FIELD | SGD | PSNF | RELU)
#define ALL (~0u)

static const choices ON_OFF = { "on|off", { "off", "on", NULL } };
static const choices ON_OFF_AUTO = { "on|off|auto", { "off", "on", "auto", NULL } };
static const choices ESTIMATORS = { "field|series|kde|psnf|relu|stack|uniform",
                                    { "field", "series", "kde", "psnf", "relu", "stack", "uniform", NULL } };
static const choices COMBINES = { "log|mixture", { "log", "mixture", NULL } };
static const choices SOLVERS = { "newton|sgd", { "newton", "sgd", NULL } };
static const choices CONCENTRATIONS = { "common|factor", { "common", "factor", NULL } };
static const choices RULES = { "least-squares|likelihood|ise",
                               { "least-squares", "likelihood", "ise", NULL } };
static const choices CRITERIA = { "ise|likelihood", { "ise", "likelihood", NULL } };
static const choices BANDWIDTHS = { "fixed|adaptive|mixture", { "fixed", "adaptive", "mixture", NULL } };
static const choices OPTIMISERS = { "adam|sgd", { "adam", "sgd", NULL } };
static const choices SCHEDULES = { "cosine|fixed|triangular|triangular2",
                                   { "cosine", "fixed", "triangular", "triangular2", NULL } };
static const choices LAWS = { "power|uniform|ridge", { "power", "uniform", "ridge", NULL } };
static const choices SCALES = { "unit|orthonormal|none", { "unit", "orthonormal", "none", NULL } };
static const choices STARTS = { "unit|authors", { "unit", "authors", NULL } };
static const choices SKIP_STARTS = { "step|convex|zero", { "step", "convex", "zero", NULL } };
static const choices PENALTIES = { "laplacian|gradient|none", { "laplacian", "gradient", "none", NULL } };
static const choices INTEGRALS = { "auto|importance|uniform", { "auto", "importance", "uniform", NULL } };
static const choices PRECISIONS = { "fast|exact", { "fast", "exact", NULL } };
static const choices STOPS_BY = { "none|ise|snr", { "none", "ise", "snr", NULL } };
static const choices SEQUENCES = { "sobol|independent", { "sobol", "independent", NULL } };

#define AT(member) offsetof(npmd_options, member)
#define ANY 1e300

static const option_row OPTIONS[] = {
    { "preset", "Choices", OPTION_TEXT, AT(preset), "default", 0, 0, NULL, true, ALL,
      "quick, default, best, paper-t2, paper-t4 or paper-s2s2: sets many options at once, others given beside it win" },
    { "estimator", "Choices", OPTION_CHOICE, AT(estimator), "field", 0, 0, &ESTIMATORS, true, ALL,
      "what is fitted: a sine network (field), a linear series of eigenfunctions, kernels, a squared family, a ReLU "
      "network; a stack: fields, series, kernels and the uniform density, mixed as held-out points ask for" },
    { "tau", "Choices", OPTION_REAL, AT(tau), "auto", -1, 1e12, NULL, true, FIELD | SERIES | SGD,
      "weight of the penalty, the mean over the domain; auto: from 5e-5 in one or two dimensions, else 1e-4, to what "
      "held-out points ask for, then fitted to all points" },
    { "holdout", "Choices", OPTION_REAL, AT(holdout), "0", 0, 0.9, NULL, true,
      FIELD | SGD | SERIES | KDE | RELU,
      "share of the points held out to choose by; 0: a tenth, in a stack a fifth" },
    { "criterion", "Choices", OPTION_CHOICE, AT(criterion), "ise", 0, 0, &CRITERIA, true, FIELD | SGD,
      "what held-out points choose tau by: the integrated squared error, or the likelihood" },
    { "penalty", "Choices", OPTION_CHOICE, AT(penalty), "laplacian", 0, 0, &PENALTIES, true,
      FIELD | SERIES | SGD, "what is penalised: mean (Laplacian v)^2, mean |gradient v|^2, or nothing" },
    { "seed", "Choices", OPTION_SEED, AT(seed), "1", 0, 0, NULL, true, ALL,
      "all random numbers follow from it" },
    { "members", "Choices", OPTION_INT, AT(members), "0", 0, 1000, NULL, true, ALL,
      "fits that differ in their seed, combined: far better than one; 0: one, 16 with --bootstrap, 4 in a stack" },
    { "combine", "Choices", OPTION_CHOICE, AT(combine), "log", 0, 0, &COMBINES, true, ALL,
      "members are averaged in log density and normalised again, or mixed" },
    { "bootstrap", "Choices", OPTION_CHOICE, AT(bootstrap), "off", 0, 0, &ON_OFF, true, ALL,
      "members from the second on see points drawn again from the points: density --what spread then says how sure the "
      "estimate is" },
    { "unordered", "Choices", OPTION_CHOICE, AT(unordered), "off", 0, 0, &ON_OFF, true, ALL,
      "on: a point is a pair whose order means nothing, f(x, y) = f(y, x); the domain has two equal factors" },
    { "folds", "Choices", OPTION_INT, AT(folds), "1", 1, 100, NULL, true, STACK,
      "stack: shares of the points held out in turn for its weights" },

    { "features", "Encoding", OPTION_INT, AT(features), "0", 0, 65536, NULL, true, FIELD,
      "K, random eigenfunctions in the first layer; 0: on tori the cosine and sine of every angle, else by the dimension" },
    { "max-frequency", "Encoding", OPTION_LIST, AT(max_frequency), "0", 0, 1024, NULL, true,
      FIELD | SERIES | SGD | HEAT,
      "highest frequency (degree on S2): one value, or one a factor separated by commas; 0: by the dimension" },
    { "spectrum-law", "Encoding", OPTION_CHOICE, AT(spectrum_law), "power", 0, 0, &LAWS, true, FIELD,
      "how eigenfunctions are drawn: probability ~ S = (1 + lambda)^-s, all alike as in the paper, or by its "
      "theorem: ~ S / (S + eps), with replacement, scaled by the root of S over that probability" },
    { "spectrum-decay", "Encoding", OPTION_REAL, AT(spectrum_decay), "0", 0, 100, NULL, true, FIELD,
      "s of the power law and the ridge law; 0: dimension / 2 + 1" },
    { "spectrum-ridge", "Encoding", OPTION_REAL, AT(spectrum_ridge), "0", 0, 1e6, NULL, true, FIELD,
      "eps of the ridge law; 0: such that the sum of S / (S + eps) over all eigenfunctions is half of --features" },
    { "separable", "Encoding", OPTION_CHOICE, AT(separable), "auto", 0, 0, &ON_OFF_AUTO, true, FIELD,
      "on: products of eigenfunctions; off: plane waves on tori, elsewhere random orthogonal combinations of products "
      "of one eigenvalue; auto: off on tori of three or more factors" },
    { "signs", "Encoding", OPTION_CHOICE, AT(signs), "on", 0, 0, &ON_OFF, true, FIELD,
      "plane waves with frequencies of both signs (off: positive only, as the authors; not a basis)" },
    { "constant", "Encoding", OPTION_CHOICE, AT(constant), "off", 0, 0, &ON_OFF, true, FIELD,
      "whether the constant function may be drawn" },
    { "scale", "Encoding", OPTION_CHOICE, AT(scale), "unit", 0, 0, &SCALES, true, FIELD | SGD,
      "features of mean square 1 (ridge: on average), orthonormal ones, or plain cosines and sines" },

    { "width", "Network", OPTION_INT, AT(width), "128", 1, 4096, NULL, true, FIELD | PSNF | RELU,
      "W, units in each sine layer" },
    { "depth", "Network", OPTION_INT, AT(depth), "0", 0, 31, NULL, true, FIELD | RELU,
      "L, affine layers, the linear output among them; 1 is the linear series; 0: by the dimension" },
    { "omega", "Network", OPTION_REAL, AT(omega), "10", 1e-6, 1e6, NULL, true, FIELD,
      "frequency of the sine" },
    { "skip", "Network", OPTION_CHOICE, AT(skip), "on", 0, 0, &ON_OFF, true, FIELD,
      "a linear path from the encoding to the output" },
    { "skip-start", "Network", OPTION_CHOICE, AT(skip_start), "step", 0, 0, &SKIP_STARTS, true, FIELD,
      "where the linear path starts: at the best point of its Newton step from the uniform density, at the "
      "optimum of the objective for the linear path alone (convex), or at zero" },
    { "start", "Network", OPTION_CHOICE, AT(start), "unit", 0, 0, &STARTS, true, FIELD | PSNF | RELU,
      "first layer U(+-sqrt(3/K)/omega), for features of mean square 1, or the authors' U(+-1/K)" },

    { "steps", "Training", OPTION_COUNT, AT(steps), "0", 0, 4e9, NULL, true, DESCENT,
      "optimisation steps; 0: 1000 on S2, else 500" },
    { "epochs", "Training", OPTION_COUNT, AT(epochs), "0", 0, 4e9, NULL, true, DESCENT,
      "passes through the data of n / batch steps each; the later of --steps and --epochs rules" },
    { "batch", "Training", OPTION_COUNT, AT(batch), "0", 0, 1e15, NULL, true, DESCENT,
      "data points a step; 0: by n" },
    { "q1", "Training", OPTION_COUNT, AT(q1), "0", 0, 4e9, NULL, true, FIELD | SGD | RELU,
      "points of the integral, fresh every step" },
    { "q2", "Training", OPTION_COUNT, AT(q2), "0", 0, 4e9, NULL, true, FIELD | SGD,
      "points of the penalty, fresh every step" },
    { "optimiser", "Training", OPTION_CHOICE, AT(optimiser), "adam", 0, 0, &OPTIMISERS, true, DESCENT,
      "how steps are taken" },
    { "rate", "Training", OPTION_REAL, AT(rate), "1e-3", 0, 1e6, NULL, true, DESCENT,
      "learning rate, at its highest" },
    { "rate-min", "Training", OPTION_REAL, AT(rate_min), "0", 0, 1e6, NULL, true, DESCENT,
      "learning rate, at its lowest" },
    { "schedule", "Training", OPTION_CHOICE, AT(schedule), "cosine", 0, 0, &SCHEDULES, true, DESCENT,
      "course of the rate" },
    { "warmup", "Training", OPTION_COUNT, AT(warmup), "100", 0, 4e9, NULL, true, DESCENT,
      "steps over which the rate rises" },
    { "cycle", "Training", OPTION_COUNT, AT(cycle), "2000", 1, 4e9, NULL, true, DESCENT,
      "half-cycle of the triangular schedules, steps" },
    { "layer-rates", "Training", OPTION_CHOICE, AT(layer_rates), "on", 0, 0, &ON_OFF, true,
      FIELD | SGD | PSNF, "layers of more than 128 inputs move at a smaller rate" },
    { "clip", "Training", OPTION_REAL, AT(clip), "2", 0, 1e6, NULL, true, DESCENT,
      "a gradient longer than this times its running length is shortened; 0: never" },
    { "integral", "Training", OPTION_CHOICE, AT(integral), "auto", 0, 0, &INTEGRALS, true, FIELD | SGD | RELU,
      "points of the integral: uniform, or kernels about data points and a uniform share; auto: uniform in one and two dimensions" },
    { "uniform-share", "Training", OPTION_REAL, AT(uniform_share), "0.2", 1e-3, 1, NULL, true,
      FIELD | SGD | RELU, "importance: the uniform share" },
    { "centres", "Training", OPTION_INT, AT(centres), "512", 1, 65536, NULL, true, FIELD | SGD | RELU,
      "importance: kernels in a step" },
    { "proposal-rho", "Training", OPTION_REAL, AT(proposal_rho), "0", 0, 0.999, NULL, true,
      FIELD | SGD | RELU, "importance: width of its Cauchy kernels, 0 wide .. 1 narrow; 0: by likelihood" },
    { "sequence", "Training", OPTION_CHOICE, AT(sequence), "sobol", 0, 0, &SEQUENCES, true,
      FIELD | SGD | RELU, "random points: scrambled Sobol or independent" },
    { "accuracy", "Training", OPTION_REAL, AT(accuracy), "0", 0, 1, NULL, true, FIELD | SGD | RELU,
      "standard error wanted of the log integral after training; 0: 1e-5 in one and two dimensions (surfaces aside), else 5e-4" },

    { "convex-gap", "Training", OPTION_CHOICE, AT(convex_gap), "auto", 0, 0, &ON_OFF_AUTO, true, FIELD,
      "after the fit, how far its objective is above the least one that any function has; in one and two "
      "dimensions; auto: where that takes little time beside the fit" },
    { "stop", "Training", OPTION_CHOICE, AT(stop), "none", 0, 0, &STOPS_BY, true, FIELD,
      "ends the fit once --patience looks brought no new minimum: of the ISE criterion on held-out points, whose best "
      "weights are kept, or of the signal-to-noise ratio of the gradients of data and integral" },
    { "start-from", "Training", OPTION_PATH, AT(start_from), "", 0, 0, NULL, false, FIELD,
      "a model to start from: a field of the same shape gives all weights and its encoding, a series the "
      "linear path" },
    { "encoding-from", "Training", OPTION_PATH, AT(encoding_from), "", 0, 0, NULL, false, FIELD,
      "a field whose encoding is used instead of a drawn one" },

    { "patience", "Other estimators", OPTION_COUNT, AT(patience), "0", 0, 4e9, NULL, true, RELU | STOPS,
      "relu, and field with --stop: looks without improvement before it stops; 0: 20, field 40" },
    { "solver", "Other estimators", OPTION_CHOICE, AT(solver), "newton", 0, 0, &SOLVERS, true, SERIES | SGD,
      "series: Newton's method to the optimum, or stochastic gradients as published" },
    { "kappa", "Other estimators", OPTION_REALS, AT(kappa), "0", 0, 1e8, NULL, true, KDE,
      "kde: concentration of the kernels, one value or one a factor; 0: chosen" },
    { "concentration", "Other estimators", OPTION_CHOICE, AT(concentration), "common", 0, 0, &CONCENTRATIONS,
      true, KDE, "kde: one chosen for all factors, or one a factor" },
    { "concentration-rule", "Other estimators", OPTION_CHOICE, AT(concentration_rule), "least-squares", 0, 0,
      &RULES, true, KDE,
      "kde: a fixed concentration is chosen by the exact least-squares criterion, by leave-one-out likelihood, or by five-fold ISE as published" },
    { "bandwidth", "Other estimators", OPTION_CHOICE, AT(bandwidth), "fixed", 0, 0, &BANDWIDTHS, true, KDE,
      "kde: one width, widths by the distance of near points, or a mixture of several widths weighted by held-out points" },
    { "neighbours", "Other estimators", OPTION_INT, AT(neighbours), "0", 0, 1000000, NULL, true, KDE,
      "kde, adaptive: the k-th nearest distinct point sets the width; 0: chosen from 8, 16, ... 128" },

    { "threads", "Machine", OPTION_INT, AT(threads), "0", 0, 4096, NULL, false, ALL,
      "0: all cores; never changes the answer" },
    { "device", "Machine", OPTION_TEXT, AT(device), "cpu", 0, 0, NULL, false, ALL,
      "cpu, cuda or cuda:k (the k-th NVIDIA card, counted from 0), or reference (double precision, slow)" },
    { "precision", "Machine", OPTION_CHOICE, AT(precision), "fast", 0, 0, &PRECISIONS, false, FIELD | SGD,
      "products on a card while it trains: TF32 (fast, 10 bits) or float32's own error (exact); the cpu is exact" },
    { "log-every", "Machine", OPTION_COUNT, AT(log_every), "0", 0, 4e9, NULL, false, DESCENT,
      "steps between reports; 0: 200 reports" },
    { "snr", "Machine", OPTION_CHOICE, AT(snr), "off", 0, 0, &ON_OFF, false, FIELD,
      "whether the log holds the signal-to-noise ratios of the gradients: snr_a, snr_b, snr_c" },
    { "checkpoint", "Machine", OPTION_PATH, AT(checkpoint), "", 0, 0, NULL, false, FIELD,
      "a file that keeps the state of the fit: after 1 s, then at intervals, and when the fit is interrupted" },
    { "resume", "Machine", OPTION_PATH, AT(resume), "", 0, 0, NULL, false, FIELD,
      "goes on from a checkpoint of the same fit, to the same bytes; a missing file is an error, unless --checkpoint "
      "names the same one" },
    { "checkpoint-every", "Machine", OPTION_REAL, AT(checkpoint_every), "10", 0, 1e9, NULL, false, FIELD,
      "seconds between checkpoints" },
};
#define OPTION_TOTAL ((int)(sizeof OPTIONS / sizeof *OPTIONS))

/* From the code that made the published numbers; the text of the paper differs in places. */
static const char *const PRESET_DEFAULT[] = { NULL };
static const char *const PRESET_QUICK[] = { "steps", "200", "warmup", "50", NULL };
static const char *const PRESET_BEST[] = { "estimator", "stack", "members", "8", NULL };
#define PAPER                                                                                                \
    "spectrum-law", "uniform", "start", "authors", "skip", "off", "omega", "10", "warmup", "0", "clip", "0", \
        "layer-rates", "off", "integral", "uniform"
/* clang-format off */
static const char *const PRESET_T2[] = {
    PAPER, "separable", "on", "features", "128", "max-frequency", "10", "constant", "on", "scale", "orthonormal",
    "width", "128", "depth", "3", "batch", "n/1", "q1", "1024", "q2", "1024", "schedule", "fixed", "rate", "1e-4",
    "epochs", "10000", "tau", "5.6e-5", NULL
};
static const char *const PRESET_T4[] = {
    PAPER, "separable", "off", "signs", "off", "features", "256", "max-frequency", "20", "scale", "none",
    "width", "128", "depth", "4", "batch", "n/2", "q1", "65536", "q2", "16384", "schedule", "triangular2",
    "rate", "1e-3", "rate-min", "1e-5", "cycle", "5000", "epochs", "10000", "tau", "1.05e-5", NULL
};
static const char *const PRESET_S2S2[] = {
    PAPER, "separable", "on", "features", "256", "max-frequency", "10", "constant", "on", "scale", "orthonormal",
    "width", "256", "depth", "6", "batch", "n/2", "q1", "100000", "q2", "10000", "sequence", "independent",
    "schedule", "triangular2", "rate", "1e-3", "rate-min", "1e-5", "cycle", "2000", "epochs", "10000",
    "tau", "1.4e-7", NULL
};
/* clang-format on */

static const struct {
    const char *name;
    const char *const *setting;
} PRESETS[] = { { "default", PRESET_DEFAULT }, { "quick", PRESET_QUICK }, { "best", PRESET_BEST },
                { "paper-t2", PRESET_T2 },     { "paper-t4", PRESET_T4 }, { "paper-s2s2", PRESET_S2S2 } };

int npmd_option_count(void)
{
    return OPTION_TOTAL;
}

npmd_option_text npmd_option_describe(int i)
{
    static const char *const KIND[] = { "N", "N", "X", "N", NULL, "N,...", "X,...", "NAME", "FILE" };
    if (i < 0 || i >= OPTION_TOTAL)
        return (npmd_option_text){ 0 };
    const option_row *row = &OPTIONS[i];
    const char *values = KIND[row->kind];
    if (row->choice != NULL)
        values = row->choice->text;
    if (row->field == AT(tau))
        values = "X|auto";
    unsigned estimators = row->readers;
    if (estimators & SGD)
        estimators |= SERIES;
    if (estimators & STOPS)
        estimators |= FIELD;
    if (estimators & HEAT)
        estimators |= KDE;
    if (estimators & (FIELD | SERIES | KDE))
        estimators |= STACK; /* which is made of these */
    estimators &= (2u << NPMD_UNIFORM) - 1u;
    return (npmd_option_text){ row->name, values, row->fallback, row->help, row->group, estimators };
}

static json_t *option_json(const npmd_options *opt, const option_row *row);

static const option_row *option_find(const char *name)
{
    for (int i = 0; i < OPTION_TOTAL; i++)
        if (strcmp(OPTIONS[i].name, name) == 0)
            return &OPTIONS[i];
    return NULL;
}

/* A host program may have set a locale that writes a half as 0,5; options write 0.5 in every one. Both ways go without
 * memory of their own, since defaults are read where nothing may fail. */
typedef struct real_text {
    char text[512];
} real_text;

/* The text of a number, for strtod in this locale; "" if it cannot be one. */
static real_text real_localise(const char *text)
{
    real_text out = { "" };
    const char *mark = nl_langinfo(RADIXCHAR);
    const size_t size = strlen(text), whole = strcspn(text, "."), wide = strlen(mark);
    const bool foreign = strcmp(mark, ".") != 0 && strstr(text, mark) != NULL;
    if (foreign || size + wide >= sizeof out.text)
        return out;
    memcpy(out.text, text, size + 1);
    if (whole < size) {
        memcpy(out.text + whole, mark, wide);
        memcpy(out.text + whole + wide, text + whole + 1, size - whole);
    }
    return out;
}

/* A number with all its digits, and a point. */
static real_text real_write(double value)
{
    real_text out;
    const char *mark = nl_langinfo(RADIXCHAR);
    snprintf(out.text, sizeof out.text, "%.17g", value);
    char *at = strstr(out.text, mark);
    if (at != NULL) {
        *at = '.';
        memmove(at + 1, at + strlen(mark), strlen(at + strlen(mark)) + 1);
    }
    return out;
}

static npmd_status parse_real(const option_row *row, const char *text, double *out, npmd_error *err)
{
    char *end = NULL;
    const real_text local = real_localise(text);
    const double value = strtod(local.text, &end);
    if (end == local.text || *end != '\0' || !isfinite(value))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: \"%.40s\" was found where a number was expected",
                         row->name, text);
    *out = value;
    return NPMD_OK;
}

static npmd_status parse_range(const option_row *row, const char *text, bool whole, double *out,
                               npmd_error *err)
{
    double value = 0.0;
    const npmd_status st = parse_real(row, text, &value, err);
    if (st != NPMD_OK)
        return st;
    if (whole && value != floor(value))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: %s was found where a whole number was expected",
                         row->name, text);
    if (value < row->least || value > row->most)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: %s lies outside %g .. %g", row->name, text,
                         row->least, row->most);
    *out = value;
    return NPMD_OK;
}

static npmd_status parse_choice(const option_row *row, const char *text, int *out, npmd_error *err)
{
    char known[128] = "";
    for (int j = 0; row->choice->name[j] != NULL; j++) {
        if (strcmp(row->choice->name[j], text) == 0) {
            *out = j;
            return NPMD_OK;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", j == 0 ? "" : ", ", row->choice->name[j]);
    }
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: \"%.40s\" was found where one of %s was expected",
                     row->name, text, known);
}

static npmd_status parse_list(const option_row *row, const char *text, bool whole, double *value, int *values,
                              npmd_error *err)
{
    int count = 0;
    for (const char *at = text; at != NULL;) {
        const char *comma = strchr(at, ',');
        const size_t size = comma == NULL ? strlen(at) : (size_t)(comma - at);
        char item[32];
        double number = 0.0;
        if (count == NPMD_MAX_FACTORS || size >= sizeof item)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: \"%.40s\" has too many values; at most %d",
                             row->name, text, NPMD_MAX_FACTORS);
        memcpy(item, at, size);
        item[size] = '\0';
        const npmd_status st = parse_range(row, item, whole, &number, err);
        if (st != NPMD_OK)
            return st;
        value[count++] = number;
        at = comma == NULL ? NULL : comma + 1;
    }
    *values = count;
    return NPMD_OK;
}

static npmd_status parse_seed(const option_row *row, const char *text, uint64_t *out, npmd_error *err)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "--%s: \"%.40s\" was found where a whole number from 0 to 2^64 - 1 was expected",
                         row->name, text);
    *out = value;
    return NPMD_OK;
}

static npmd_status option_set(npmd_options *opt, const option_row *row, const char *value, npmd_error *err);

static npmd_status preset_apply(npmd_options *opt, const char *name, npmd_error *err)
{
    for (size_t p = 0; p < sizeof PRESETS / sizeof *PRESETS; p++) {
        if (strcmp(PRESETS[p].name, name) != 0)
            continue;
        for (const char *const *s = PRESETS[p].setting; *s != NULL; s += 2) {
            if (strncmp(s[1], "n/", 2) == 0) { /* a share of n, resolved when n is known */
                opt->batch = -(int64_t)(s[1][2] - '0');
                continue;
            }
            const npmd_status st = option_set(opt, option_find(s[0]), s[1], err);
            assert(st == NPMD_OK);
            if (st != NPMD_OK)
                return st;
        }
        snprintf(opt->preset, sizeof opt->preset, "%s", name);
        return NPMD_OK;
    }
    return npmd_fail(
        err, NPMD_ERR_ARGUMENT,
        "--preset: \"%.40s\" was found where quick, default, best, paper-t2, paper-t4 or paper-s2s2 was expected",
        name);
}

/* A caller may have written into the struct: every field is held to its row again. */
npmd_status options_check(const npmd_options *opt, npmd_error *err)
{
    for (int i = 0; i < OPTION_TOTAL; i++) {
        const option_row *row = &OPTIONS[i];
        const char *field = (const char *)opt + row->field;
        double value = row->least;
        int named = 0;
        switch (row->kind) {
        case OPTION_INT:
            value = *(const int *)(const void *)field;
            break;
        case OPTION_COUNT: /* a preset's batch may be a share of n, below 0 */
            value = (double)*(const int64_t *)(const void *)field;
            value = row->field == AT(batch) && value >= -9.0 ? fmax(0.0, value) : value;
            break;
        case OPTION_REAL:
            value = *(const double *)(const void *)field;
            value = row->field == AT(tau) && value < 0.0 ? -1.0 : value;
            break;
        case OPTION_CHOICE:
            while (row->choice->name[named] != NULL)
                named++;
            value = *(const int *)(const void *)field;
            if (!(value >= 0.0 && value < named))
                return npmd_fail(err, NPMD_ERR_ARGUMENT, "option %s: choice %g is none of %d", row->name,
                                 value, named);
            continue;
        case OPTION_LIST:
            for (int d = 0; d < NPMD_MAX_FACTORS; d++)
                if (opt->max_frequency[d] < row->least || opt->max_frequency[d] > row->most)
                    value = opt->max_frequency[d];
            if (opt->max_frequencies < 0 || opt->max_frequencies > NPMD_MAX_FACTORS)
                value = row->most + 1.0;
            break;
        case OPTION_REALS:
            for (int d = 0; d < NPMD_MAX_FACTORS; d++)
                if (!(opt->kappa[d] >= row->least && opt->kappa[d] <= row->most))
                    value = opt->kappa[d];
            if (opt->kappas < 0 || opt->kappas > NPMD_MAX_FACTORS)
                value = row->most + 1.0;
            break;
        default:
            continue;
        }
        if (!(value >= row->least && value <= row->most))
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "option %s: %g lies outside %g .. %g", row->name, value,
                             row->least, row->most);
    }
    return NPMD_OK;
}

static npmd_status option_set(npmd_options *opt, const option_row *row, const char *value, npmd_error *err)
{
    double number = 0.0, list[NPMD_MAX_FACTORS] = { 0 };
    npmd_status st = NPMD_OK;
    char *field = (char *)opt + row->field;
    switch (row->kind) {
    case OPTION_INT:
        if ((st = parse_range(row, value, true, &number, err)) == NPMD_OK)
            *(int *)(void *)field = (int)number;
        return st;
    case OPTION_COUNT:
        if ((st = parse_range(row, value, true, &number, err)) == NPMD_OK)
            *(int64_t *)(void *)field = (int64_t)number;
        if (st == NPMD_OK && row->field == AT(steps))
            opt->epochs = 0; /* the later of steps and epochs rules */
        return st;
    case OPTION_REAL:
        if (row->field == AT(tau) && strcmp(value, "auto") == 0)
            value = "-1";
        if ((st = parse_range(row, value, false, &number, err)) == NPMD_OK)
            *(double *)(void *)field = number;
        return st;
    case OPTION_SEED:
        return parse_seed(row, value, (uint64_t *)(void *)field, err);
    case OPTION_CHOICE:
        return parse_choice(row, value, (int *)(void *)field, err);
    case OPTION_LIST:
        if ((st = parse_list(row, value, true, list, &opt->max_frequencies, err)) == NPMD_OK)
            for (int d = 0; d < NPMD_MAX_FACTORS; d++)
                opt->max_frequency[d] = (int)list[d];
        return st;
    case OPTION_REALS:
        if ((st = parse_list(row, value, false, list, &opt->kappas, err)) == NPMD_OK)
            memcpy(opt->kappa, list, sizeof list);
        return st;
    case OPTION_TEXT:
        if (row->field == AT(preset))
            return preset_apply(opt, value, err);
        if (strlen(value) >= sizeof opt->device)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: \"%.40s...\" is too long", row->name, value);
        snprintf(field, sizeof opt->device, "%s", value);
        return NPMD_OK;
    case OPTION_PATH:
        if (strlen(value) >= NPMD_MAX_PATH)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "--%s: a path of %zu bytes; at most %d", row->name,
                             strlen(value), NPMD_MAX_PATH - 1);
        snprintf(field, NPMD_MAX_PATH, "%s", value);
        return NPMD_OK;
    }
    return st;
}

static_assert(OPTION_TOTAL <= 64 * NPMD_OPTION_WORDS, "a bit an option");

npmd_status npmd_options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err)
{
    const option_row *row = option_find(name);
    if (row == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "unknown option --%.40s", name);
    const npmd_status st = option_set(opt, row, value, err);
    if (st == NPMD_OK)
        opt->given[(row - OPTIONS) / 64] |= (uint64_t)1 << (row - OPTIONS) % 64;
    return st;
}

static bool option_given(const npmd_options *opt, int i)
{
    return opt->given[i / 64] >> i % 64 & 1u;
}

int options_unused(const npmd_options *opt, bool surfaces, char *names, size_t size)
{
    unsigned reader = opt->estimator == NPMD_SERIES && opt->solver == NPMD_STOCHASTIC ? SGD
                                                                                      : 1u << opt->estimator;
    if (opt->estimator == NPMD_STACK)
        reader |= FIELD | SERIES | KDE;
    if (reader & KDE && surfaces)
        reader |= HEAT;
    if (reader & FIELD && opt->stop != NPMD_STOP_NONE)
        reader |= STOPS;
    int unused = 0;
    size_t used = 0;
    names[0] = '\0';
    for (int i = 0; i < OPTION_TOTAL; i++)
        if (option_given(opt, i) && (OPTIONS[i].readers & reader) == 0) {
            const size_t room = used < size ? size - used : 0;
            used += (size_t)snprintf(room > 0 ? names + used : NULL, room, "%s--%s", unused == 0 ? "" : ", ",
                                     OPTIONS[i].name);
            unused++;
        }
    if (used >= size)
        memcpy(names + size - 4, "...", 4);
    return unused;
}

static void option_copy(npmd_options *opt, const npmd_options *from, const option_row *row)
{
    static const size_t SIZE[] = { [OPTION_INT] = sizeof(int),
                                   [OPTION_COUNT] = sizeof(int64_t),
                                   [OPTION_REAL] = sizeof(double),
                                   [OPTION_CHOICE] = sizeof(int),
                                   [OPTION_LIST] = sizeof opt->max_frequency };
    assert(row->kind < sizeof SIZE / sizeof *SIZE && SIZE[row->kind] > 0);
    memcpy((char *)opt + row->field, (const char *)from + row->field, SIZE[row->kind]);
    if (row->kind == OPTION_LIST)
        opt->max_frequencies = from->max_frequencies;
}

npmd_status options_take_encoding(npmd_options *opt, const npmd_options *from, const char *path,
                                  npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *asked = NULL, *found = NULL;
    for (int i = 0; i < OPTION_TOTAL; i++) {
        const option_row *row = &OPTIONS[i];
        char text[2][64] = { "", "" };
        if (strcmp(row->group, "Encoding") != 0)
            continue;
        if (!option_given(opt, i)) {
            option_copy(opt, from, row);
            continue;
        }
        asked = option_json(opt, row);
        found = option_json(from, row);
        if (asked == NULL || found == NULL) {
            st = npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to compare --%s", row->name);
            goto done;
        }
        if (!json_equal(asked, found)) {
            const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(6);
            json_print(asked, flags, text[0], sizeof text[0]);
            json_print(found, flags, text[1], sizeof text[1]);
            st = npmd_fail(err, NPMD_ERR_SHAPE, "%s: its encoding has --%s %s, this fit was asked for %s",
                           path, row->name, text[1], text[0]);
            goto done;
        }
        json_decref(asked);
        json_decref(found);
        asked = found = NULL;
    }
done:
    json_decref(asked);
    json_decref(found);
    return st;
}

void npmd_options_init(npmd_options *opt)
{
    *opt = (npmd_options){ 0 };
    for (int i = 0; i < OPTION_TOTAL; i++) {
        const npmd_status st = option_set(opt, &OPTIONS[i], OPTIONS[i].fallback, NULL);
        assert(st == NPMD_OK);
        (void)st;
    }
}

npmd_options *npmd_options_new(void)
{
    npmd_options *opt = NULL;
    if (memory_new(&opt, 1, NULL) == NPMD_OK)
        npmd_options_init(opt);
    return opt;
}

void npmd_options_watch(npmd_options *opt, npmd_progress progress, void *user)
{
    opt->progress = progress;
    opt->user = user;
}

void npmd_options_free(npmd_options *opt)
{
    memory_free(opt);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

/* NULL: no memory. */
static json_t *option_json(const npmd_options *opt, const option_row *row)
{
    const char *field = (const char *)opt + row->field;
    switch (row->kind) {
    case OPTION_INT:
        return json_integer(*(const int *)(const void *)field);
    case OPTION_COUNT:
        return json_integer(*(const int64_t *)(const void *)field);
    case OPTION_REAL:
        return json_real(*(const double *)(const void *)field);
    case OPTION_SEED: { /* JSON integers end at 2^63 */
        const uint64_t seed = *(const uint64_t *)(const void *)field;
        char text[24];
        snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
        return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(text);
    }
    case OPTION_CHOICE:
        return json_string(row->choice->name[*(const int *)(const void *)field]);
    case OPTION_LIST:
    case OPTION_REALS: {
        const bool whole = row->kind == OPTION_LIST;
        json_t *list = json_array();
        for (int d = 0; d < (whole ? opt->max_frequencies : opt->kappas); d++)
            if (json_append(list, whole ? json_integer(opt->max_frequency[d]) : json_real(opt->kappa[d]),
                            NULL)
                != NPMD_OK) {
                json_decref(list);
                return NULL;
            }
        return list;
    }
    case OPTION_TEXT:
    case OPTION_PATH:
        return json_string(field);
    }
    return NULL;
}

npmd_status options_to_json(const npmd_options *opt, struct json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = json_object();
    for (int i = 0; i < OPTION_TOTAL; i++)
        if (OPTIONS[i].shapes_answer)
            TRY(json_put(object, OPTIONS[i].name, option_json(opt, &OPTIONS[i]), err));
    *out = object;
    object = NULL;
done:
    json_decref(object);
    return st;
}

/* A JSON value as a user would type it. */
static bool value_to_text(const json_t *value, char *text, size_t size)
{
    text[0] = '\0';
    if (json_is_string(value))
        return (size_t)snprintf(text, size, "%s", json_string_value(value)) < size;
    if (json_is_integer(value))
        return (size_t)snprintf(text, size, "%lld", (long long)json_integer_value(value)) < size;
    if (json_is_real(value))
        return (size_t)snprintf(text, size, "%s", real_write(json_real_value(value)).text) < size;
    if (json_is_boolean(value))
        return (size_t)snprintf(text, size, "%s", json_is_true(value) ? "on" : "off") < size;
    if (!json_is_array(value) || json_array_size(value) == 0)
        return false;
    for (size_t i = 0, used = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (!json_is_number(item))
            return false;
        used += json_is_integer(item)
                    ? (size_t)snprintf(text + used, size - used, "%s%lld", i == 0 ? "" : ",",
                                       (long long)json_integer_value(item))
                    : (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ",",
                                       real_write(json_real_value(item)).text);
        if (used >= size)
            return false;
    }
    return true;
}

static npmd_status option_from_json(npmd_options *opt, const char *name, const json_t *value,
                                    const char *where, npmd_error *err)
{
    char text[NPMD_MAX_PATH];
    npmd_error inner = { 0 };
    if (!value_to_text(value, text, sizeof text))
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: \"%.40s\" is neither a number, a text, a switch nor a list of numbers", where,
                         name);
    if (npmd_options_set(opt, name, text, &inner) != NPMD_OK)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %.300s", where, inner.text);
    return NPMD_OK;
}

npmd_status options_from_json(npmd_options *opt, const struct json_t *object, const char *where,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *preset = json_object_get(object, "preset");
    if (preset != NULL && (st = option_from_json(opt, "preset", preset, where, err)) != NPMD_OK)
        return st;
    for (size_t i = 0; i < json_object_size(object); i++) {
        const char *name = json_object_key(object, i);
        if (strcmp(name, "preset") != 0
            && (st = option_from_json(opt, name, json_object_value(object, i), where, err)) != NPMD_OK)
            return st;
    }
    return NPMD_OK;
}
