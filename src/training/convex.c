/* convex.c - the linear part of a field at the optimum of its own objective.
 *
 *     f(c) = -mean_i w_i v(x_i) + log mean exp v + tau sum_k rough_k c_k^2,   v = sum_k c_k phi_k,
 *
 * phi_k the features at mean square 1; rough, the penalty of phi_k, is lambda^2 or lambda. This is the objective with
 * the constant of v solved for, strictly convex in K numbers: Newton's method, with the Hessian Cov phi + 2 tau
 * diag(rough) as a matrix. The mean over the domain is taken over one set of points like those of the fit's steps, many
 * more than there are features, so that K numbers cannot over-fit it.
 *
 * The order of summation does not depend on the number of threads. */
#include "training.h"

#define CONVEX_POINTS ((size_t)65536)    /* points of the integral */
#define CONVEX_NUMBERS ((size_t)1 << 23) /* most numbers in the table of points and features: 64 MiB */
#define CONVEX_DATA ((size_t)1 << 20)    /* data points; with more, the noise of the integral's points is larger */
#define CONVEX_TARGET 1e-7               /* Newton decrement, nats */
#define CONVEX_STEPS 100
#define FLOOR 1e-9 /* on the diagonal of the Hessian, where tau is 0 and a feature has no variance */
#define ROWS_AT_ONCE 48
#define POINTS_AT_ONCE 256

typedef struct design { /* distinct functions at the points of the integral */
    size_t functions, ld, points;
    int *feature; /* (functions): the first feature that is this function */
    int *number;  /* (K): which function a feature is; -1: the constant, which is not fitted */
    double *phi;  /* (points, ld): padded with zeros */
    double *weight;
} design;

static size_t padded(size_t functions)
{
    return (functions + PANEL - 1) / PANEL * PANEL;
}

/* A power of two, since Sobol points are best then. */
static size_t convex_points(size_t ld)
{
    size_t points = CONVEX_POINTS;
    while (points * ld > CONVEX_NUMBERS)
        points /= 2;
    return points;
}

size_t convex_bytes(int features)
{
    const size_t ld = padded((size_t)features), points = convex_points(ld);
    return (points * (ld + 4) + ld * (ld + 8 + LANES + CHOLESKY_BLOCK)) * sizeof(double);
}

static bool same_function(const encoding *enc, int a, int b)
{
    const size_t D = (size_t)enc->domain->factors;
    const int vectors = enc->waves ? enc->vectors : enc->features;
    return a / vectors == b / vectors /* cosine and cosine, sine and sine */
           && memcmp(enc->function + (size_t)(a % vectors) * D, enc->function + (size_t)(b % vectors) * D,
                     D * sizeof *enc->function)
                  == 0;
}

static void design_close(design *d)
{
    memory_free(d->feature);
    memory_free(d->number);
    memory_free(d->phi);
    memory_free(d->weight);
}

/* Features that are one function, drawn again, are one number to be found. */
static npmd_status design_functions(design *d, const encoding *enc, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(memory_new(&d->feature, enc->features, err));
    TRY(memory_new(&d->number, enc->features, err));
    for (int k = 0; k < enc->features; k++) {
        size_t j = d->functions;
        d->number[k] = -1;
        if (enc->lambda[k] == 0.0)
            continue;
        if (enc->copies != NULL && enc->copies[k] > 1)
            for (j = 0; j < d->functions && !same_function(enc, d->feature[j], k);)
                j++;
        if (j == d->functions)
            d->feature[d->functions++] = k;
        d->number[k] = (int)j;
    }
    d->ld = padded(d->functions);
done:
    return st;
}

/* A row of phi from the features at a point. */
static void design_row(const design *d, const encoding *enc, const double *eta, double *row)
{
    for (size_t j = 0; j < d->functions; j++)
        row[j] = feature_unit(enc, d->feature[j]) * eta[d->feature[j]];
}

static npmd_status design_open(design *d, const encoding *enc, objective *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int T = threads_wanted(o->opt->machine.threads);
    const size_t K = (size_t)enc->features, room = encoding_work(enc) + K;
    double *work = NULL, total = 0.0;
    point_source s;
    TRY(design_functions(d, enc, err));
    d->points = convex_points(d->ld);
    TRY(memory_new(&d->phi, d->points * d->ld, err));
    TRY(memory_new(&d->weight, d->points, err));
    TRY(memory_new(&work, (size_t)T * room, err));
    TRY(objective_integral_points(o, 0, d->points, &s, err));
#pragma omp parallel for schedule(static) num_threads(T)
    for (size_t i = 0; i < d->points; i++) {
        double x[DOMAIN_MAX_COLUMNS], *eta = work + (size_t)omp_get_thread_num() * room;
        source_fill(&s, i, 1, x, &d->weight[i]);
        encoding_jet(enc, x, 1, eta + K, eta);
        design_row(d, enc, eta, d->phi + i * d->ld);
    }
    for (size_t i = 0; i < d->points; i++)
        total += d->weight[i];
    for (size_t i = 0; i < d->points; i++)
        d->weight[i] /= total;
done:
    memory_free(work);
    return st;
}

/* mean (ld): of every function over the data by their weights; rows of a shuffled order where there are
 * many. */
static npmd_status data_means(const design *d, const encoding *enc, const objective *o, double *mean, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_points *pts = o->points;
    const int T = threads_wanted(o->opt->machine.threads);
    const bool all = pts->n <= CONVEX_DATA;
    const size_t K = (size_t)enc->features, room = encoding_work(enc) + K + d->ld, n = all ? pts->n : CONVEX_DATA;
    const rng_key key = rng_key_make(o->opt->seed, RNG_TUNE, 3);
    double *sums = NULL, *work = NULL, weight[LANES] = { 0 }, total = 0.0;
    TRY(memory_new(&sums, LANES * d->ld, err));
    TRY(memory_new(&work, (size_t)T * room, err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(T)
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t i = lane; i < n; i += LANES) {
            double x[DOMAIN_MAX_COLUMNS], *eta = work + (size_t)omp_get_thread_num() * room, *row = eta + K;
            const size_t at = all ? i : (size_t)rng_permute(key, i, pts->n);
            const double w = points_weight(pts, at);
            encoding_jet(enc, points_rows(pts, at, 1, x), 1, row + d->ld, eta);
            design_row(d, enc, eta, row);
            for (size_t j = 0; j < d->functions; j++)
                sums[lane * d->ld + j] += w * row[j];
            weight[lane] += w;
        }
    for (size_t lane = 0; lane < LANES; lane++) {
        total += weight[lane];
        for (size_t j = 0; j < d->functions; j++)
            mean[j] += sums[lane * d->ld + j];
    }
    for (size_t j = 0; j < d->functions; j++)
        mean[j] /= total;
done:
    memory_free(sums);
    memory_free(work);
    return st;
}

typedef struct newton {
    const design *d;
    const kernels *kern;
    int threads;
    double *mean, *curb;          /* (ld); curb: 2 tau rough */
    double *c, *gradient, *along; /* (ld); along: the direction */
    double *v, *change, *p;       /* (points): v, what the direction adds to it, probabilities */
    double *H, *room, *scaled;    /* (ld, ld); room: for its factor; scaled: a block of rows for each thread */
    double value, log_mass;
} newton;

/* f at c + step x along, and log mean exp v there. */
static double newton_value(const newton *s, double step, double *log_mass)
{
    const design *d = s->d;
    double top = -INFINITY, mass = 0.0, value = 0.0;
    for (size_t i = 0; i < d->points; i++)
        top = fmax(top, s->v[i] + step * s->change[i]);
    for (size_t i = 0; i < d->points; i++)
        mass += d->weight[i] * exp(s->v[i] + step * s->change[i] - top);
    for (size_t j = 0; j < d->functions; j++) {
        const double c = s->c[j] + step * s->along[j];
        value += (0.5 * s->curb[j] * c - s->mean[j]) * c;
    }
    *log_mass = top + log(mass);
    return value + *log_mass;
}

/* Rows first .. first + rows - 1 of the Hessian up to the diagonal; expected: E phi. */
static void newton_rows(const newton *s, const double *expected, size_t first, size_t rows, double *scaled)
{
    const design *d = s->d;
    for (size_t at = 0; at < d->points; at += POINTS_AT_ONCE) {
        const size_t some = d->points - at < POINTS_AT_ONCE ? d->points - at : POINTS_AT_ONCE;
        for (size_t i = 0; i < some; i++)
            for (size_t j = 0; j < rows; j++)
                scaled[i * ROWS_AT_ONCE + j] = s->p[at + i] * d->phi[(at + i) * d->ld + first + j];
        s->kern->product_double(rows, first + rows, some, (strided_double){ scaled, 1, ROWS_AT_ONCE },
                                d->phi + at * d->ld, d->ld, s->H + first * d->ld, d->ld, at > 0);
    }
    for (size_t i = first; i < first + rows; i++) {
        for (size_t j = 0; j <= i; j++)
            s->H[i * d->ld + j] -= expected[i] * expected[j];
        s->H[i * d->ld + i] += s->curb[i] + FLOOR;
    }
}

/* H = L L' in place, then along = -H^-1 gradient. False: H is not positive, by rounding. */
static bool newton_direction(const newton *s)
{
    const size_t n = s->d->ld; /* what it is filled up with stands alone */
    if (cholesky_factor(s->kern, n, n, s->threads, s->room, s->H, NULL) < n)
        return false;
    cholesky_solve(n, n, s->H, s->gradient, s->along);
    for (size_t i = 0; i < n; i++)
        s->along[i] = -s->along[i];
    return true;
}

/* Gradient, direction and what it adds to v, where we are. Returns the decrement; below 0: no direction. */
static double newton_look(const newton *s, double *expected)
{
    const design *d = s->d;
    const size_t blocks = (d->ld + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    double slope = 0.0;
    memset(expected, 0, d->ld * sizeof *expected);
    for (size_t i = 0; i < d->points; i++) {
        s->p[i] = d->weight[i] * exp(s->v[i] - s->log_mass);
        for (size_t j = 0; j < d->functions; j++)
            expected[j] += s->p[i] * d->phi[i * d->ld + j];
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (size_t k = 0; k < blocks; k++) {
        const size_t first = (blocks - 1 - k) * ROWS_AT_ONCE, left = d->ld - first; /* the longest first */
        newton_rows(s, expected, first, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE,
                    s->scaled + (size_t)omp_get_thread_num() * POINTS_AT_ONCE * ROWS_AT_ONCE);
    }
    for (size_t j = 0; j < d->functions; j++)
        s->gradient[j] = expected[j] - s->mean[j] + s->curb[j] * s->c[j];
    if (!newton_direction(s))
        return -1.0;
    for (size_t j = 0; j < d->functions; j++)
        slope += s->gradient[j] * s->along[j];
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (size_t i = 0; i < d->points; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < d->functions; j++)
            sum += s->along[j] * d->phi[i * d->ld + j];
        s->change[i] = sum;
    }
    return -0.5 * slope;
}

/* Every step lowers f, so that whatever ends the search leaves something better than its start, c = 0. */
static void newton_run(newton *s, double *expected)
{
    const design *d = s->d;
    for (int i = 0; i < CONVEX_STEPS; i++) {
        const double decrement = newton_look(s, expected);
        double step = 1.0, value = INFINITY, log_mass = 0.0;
        if (!(decrement > CONVEX_TARGET))
            return;
        for (; step > 1e-8; step *= 0.5) {
            value = newton_value(s, step, &log_mass);
            if (value <= s->value - 1e-4 * step * 2.0 * decrement)
                break;
        }
        if (step <= 1e-8)
            return;
        for (size_t j = 0; j < d->functions; j++)
            s->c[j] += step * s->along[j];
        for (size_t k = 0; k < d->points; k++)
            s->v[k] += step * s->change[k];
        s->value = value;
        s->log_mass = log_mass;
    }
}

npmd_status convex_start(linear_gain *out, const encoding *enc, objective *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const settings *opt = o->opt;
    design d = { 0 };
    newton s = { .d = &d, .kern = kernels_select(NULL), .threads = threads_wanted(opt->machine.threads) };
    double *expected = NULL;
    assert(enc->features <= CONVEX_FEATURES);
    TRY(design_open(&d, enc, o, err));
    TRY(memory_new(&s.mean, d.ld, err));
    TRY(memory_new(&s.curb, d.ld, err));
    TRY(memory_new(&s.c, d.ld, err));
    TRY(memory_new(&s.gradient, d.ld, err));
    TRY(memory_new(&s.along, d.ld, err));
    TRY(memory_new(&expected, d.ld, err));
    TRY(memory_new(&s.v, d.points, err));
    TRY(memory_new(&s.change, d.points, err));
    TRY(memory_new(&s.p, d.points, err));
    TRY(memory_new(&s.H, d.ld * d.ld, err));
    TRY(memory_new(&s.room, d.ld * CHOLESKY_BLOCK, err));
    TRY(memory_new(&s.scaled, (size_t)s.threads * POINTS_AT_ONCE * ROWS_AT_ONCE, err));
    TRY(data_means(&d, enc, o, s.mean, err));
    for (size_t j = 0; j < d.functions; j++)
        s.curb[j] = 2.0 * penalty_weight(opt) * penalty_rough(opt, enc->lambda[d.feature[j]]);
    newton_run(&s, expected);
    for (int k = 0; k < enc->features; k++) {
        const double copies = enc->copies == NULL ? 1.0 : enc->copies[k];
        out->coefficient[k] = d.number[k] < 0 ? 0.0 : feature_unit(enc, k) * s.c[d.number[k]] / copies;
    }
    out->constant = -s.log_mass;
    out->reached = -s.value;
done:
    design_close(&d);
    memory_free(s.mean);
    memory_free(s.curb);
    memory_free(s.c);
    memory_free(s.gradient);
    memory_free(s.along);
    memory_free(expected);
    memory_free(s.v);
    memory_free(s.change);
    memory_free(s.p);
    memory_free(s.H);
    memory_free(s.room);
    memory_free(s.scaled);
    return st;
}

npmd_status linear_constant(const encoding *enc, objective *o, const double *coefficient, double *constant,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t points = convex_points(1);
    double *work = NULL, *eta = NULL, *v = NULL, *weight = NULL, top = -INFINITY, mass = 0.0, total = 0.0;
    point_source s;
    TRY(memory_new(&work, encoding_work(enc), err));
    TRY(memory_new(&eta, enc->features, err));
    TRY(memory_new(&v, points, err));
    TRY(memory_new(&weight, points, err));
    TRY(objective_integral_points(o, 0, points, &s, err));
    for (size_t i = 0; i < points; i++) {
        double x[DOMAIN_MAX_COLUMNS];
        source_fill(&s, i, 1, x, &weight[i]);
        encoding_jet(enc, x, 1, work, eta);
        for (int k = 0; k < enc->features; k++)
            v[i] += coefficient[k] * eta[k];
        top = fmax(top, v[i]);
    }
    for (size_t i = 0; i < points; i++) {
        mass += weight[i] * exp(v[i] - top);
        total += weight[i];
    }
    *constant = -(top + log(mass / total));
done:
    memory_free(work);
    memory_free(eta);
    memory_free(v);
    memory_free(weight);
    return st;
}
