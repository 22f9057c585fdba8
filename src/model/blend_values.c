/* blend_values.c - models made of other models: values, leaves, spread, and the band that the true log density lies in.
 *
 * With f_k the density of part k relative to the uniform measure and w_k its weight, sum 1, a blend is
 *     log mean:  v = sum_k w_k log f_k, renormalised by its own log integral
 *     mixture:   v = log sum_k w_k f_k, which integrates to one as its parts do
 * Jets of the first are sums of jets. Of the second, with shares p_k = w_k f_k / sum_j w_j f_j,
 *     grad v = sum_k p_k grad v_k,   lap v = sum_k p_k (lap v_k + |grad v_k|^2) - |grad v|^2 */
#include "model.h"

npmd_status blend_open(npmd_model *m, int parts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(memory_new(&m->part, (size_t)parts, err));
    TRY(memory_new(&m->part_weight, (size_t)parts, err));
    m->parts = parts;
    for (int k = 0; k < parts; k++)
        m->part_weight[k] = 1.0 / parts;
done:
    return st;
}

void blend_close(npmd_model *m)
{
    for (int k = 0; k < m->parts; k++)
        model_free(m->part[k]);
    memory_free(m->part);
    memory_free(m->part_weight);
}

/* ---- values and jets --------------------------------------------------------------------------------------------- */

static size_t row_length(const npmd_domain *dom, jet_rows rows)
{
    return rows == JET_VALUE ? 1 : (size_t)dom->dimension + 2;
}

npmd_status blend_log_mean(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    const size_t length = row_length(m->domain, rows);
    double *jet = NULL;
    TRY(memory_new(&jet, n * length, err));
    memset(out, 0, n * length * sizeof *out);
    for (int k = 0; k < blend_counted(m); k++) {
        TRY(evaluate(&e->part[k], x, n, rows, jet, err));
        for (size_t i = 0; i < n; i++) {
            jet[i * length] -= m->part[k]->facts.log_integral;
            for (size_t j = 0; j < length; j++)
                out[i * length + j] += m->part_weight[k] * jet[i * length + j];
        }
    }
done:
    memory_free(jet);
    return st;
}

/* Adds w f_k to a mixture that stands scaled: sum[0] is the log of the largest term so far, sum[1] the sum of terms
 * over it, then the sums of terms times grad v_k, and of terms times (lap v_k + |grad v_k|^2). */
static void mixture_add(double log_term, const double *jet, size_t directions, double *sum)
{
    double square = 0.0;
    if (log_term > sum[0]) {
        const double shrink = exp(sum[0] - log_term); /* 0 the first time */
        sum[0] = log_term;
        for (size_t j = 1; j < directions + 3; j++)
            sum[j] *= shrink;
    }
    const double term = exp(log_term - sum[0]);
    sum[1] += term;
    for (size_t t = 1; t <= directions; t++) {
        sum[1 + t] += term * jet[t];
        square += jet[t] * jet[t];
    }
    sum[directions + 2] += term * (jet[directions + 1] + square);
}

static void mixture_jet(const double *sum, size_t directions, double *jet)
{
    double square = 0.0;
    jet[0] = sum[0] + log(sum[1]);
    for (size_t t = 1; t <= directions; t++) {
        jet[t] = sum[1 + t] / sum[1];
        square += jet[t] * jet[t];
    }
    jet[directions + 1] = sum[directions + 2] / sum[1] - square;
}

void mixture_of_two(const double *a, const double *b, size_t length, double *out)
{
    double sum[DOMAIN_MAX_DIMENSION + 3] = { -INFINITY };
    const double half = log(2.0);
    if (length == 1) { /* both orders of a and b give the same bits */
        out[0] = log_add(a[0], b[0]) - half;
        return;
    }
    mixture_add(a[0] - half, a, length - 2, sum);
    mixture_add(b[0] - half, b, length - 2, sum);
    mixture_jet(sum, length - 2, out);
}

/* Of these parts by their weights, which need not sum to one. */
static npmd_status mixture_values(const npmd_domain *dom, int parts, const evaluator *part, const double *weight,
                                  const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t length = row_length(dom, rows), directions = (size_t)dom->dimension,
                 sums = rows == JET_VALUE ? 0 : directions + 3;
    double *jet = NULL, *sum = NULL;
    TRY(memory_new(&jet, n * length, err));
    TRY(memory_new(&sum, n * sums + 1, err));
    for (size_t i = 0; i < n; i++)
        *(rows == JET_VALUE ? &out[i] : &sum[i * sums]) = -INFINITY;
    for (int k = 0; k < parts; k++) {
        const double offset = part[k].model->facts.log_integral - log(weight[k]);
        TRY(evaluate(&part[k], x, n, rows, jet, err));
        for (size_t i = 0; i < n; i++)
            if (rows == JET_VALUE)
                out[i] = log_add(out[i], jet[i] - offset);
            else
                mixture_add(jet[i * length] - offset, jet + i * length, directions, sum + i * sums);
    }
    for (size_t i = 0; rows != JET_VALUE && i < n; i++)
        mixture_jet(sum + i * sums, directions, out + i * length);
done:
    memory_free(jet);
    memory_free(sum);
    return st;
}

npmd_status blend_mixture(const evaluator *e, const double *x, size_t n, jet_rows rows, double *out, npmd_error *err)
{
    const npmd_model *m = e->model;
    return mixture_values(m->domain, blend_counted(m), e->part, m->part_weight, x, n, rows, out, err);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* Writes those of m where there is room for them; how many they are. */
static int leaves_list(const npmd_model *m, bool peaked, double weight, const npmd_model **leaf, double *weights)
{
    int count = 0;
    if (m->kind->evaluate != blend_mixture) {
        if ((m->kind->mean != NULL) != peaked)
            return 0;
        if (leaf != NULL) {
            *leaf = m;
            *weights = weight;
        }
        return 1;
    }
    for (int k = 0; k < blend_counted(m); k++)
        count += leaves_list(m->part[k], peaked, weight * m->part_weight[k], leaf == NULL ? NULL : leaf + count,
                             leaf == NULL ? NULL : weights + count);
    return count;
}

npmd_status blend_leaves(const npmd_model *m, bool peaked, const npmd_compute *how, blend_parts *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int count = leaves_list(m, peaked, 1.0, NULL, NULL);
    const npmd_model **leaf = NULL;
    *out = (blend_parts){ .domain = m->domain };
    TRY(memory_new(&leaf, count + 1, err));
    TRY(memory_new(&out->part, count + 1, err));
    TRY(memory_new(&out->weight, count + 1, err));
    leaves_list(m, peaked, 1.0, leaf, out->weight);
    for (; out->parts < count; out->parts++)
        TRY(evaluator_open(&out->part[out->parts], leaf[out->parts], how, err));
done:
    memory_free(leaf);
    return st;
}

void blend_leaves_close(blend_parts *p)
{
    for (int k = 0; k < p->parts; k++)
        evaluator_close(&p->part[k]);
    memory_free(p->part);
    memory_free(p->weight);
}

npmd_status blend_leaves_values(const blend_parts *p, const double *x, size_t n, double *out, npmd_error *err)
{
    return mixture_values(p->domain, p->parts, p->part, p->weight, x, n, JET_VALUE, out, err);
}

/* ---- spread ------------------------------------------------------------------------------------------------------ */

/* The parts that the density is made of; what stands behind them, with weight 0, is the pair of the band. */
int blend_counted(const npmd_model *m)
{
    int counted = m->parts;
    while (counted > 0 && m->part_weight[counted - 1] == 0.0)
        counted--;
    return counted;
}

/* Members that were fitted alike; those of a stack stand in for each other in all its parts at once. */
int blend_members(const npmd_model *m)
{
    int most = 1;
    if (m->set.estimator != FIT_STACK)
        return m->parts > 0 ? blend_counted(m) : 1;
    for (int k = 0; k < m->parts; k++)
        most = blend_counted(m->part[k]) > most ? blend_counted(m->part[k]) : most;
    return most;
}

int blend_first(const npmd_model *m)
{
    return m->set.bootstrap ? 1 : 0; /* the first saw the points as they are */
}

static int paired(const npmd_model *m)
{
    return m->parts - blend_counted(m);
}

/* Rows that blend_replicates adds to those of the members. */
static int blend_pair(const npmd_model *m)
{
    int most = 0;
    if (m->set.estimator != FIT_STACK)
        return paired(m);
    for (int k = 0; k < m->parts; k++)
        most = paired(m->part[k]) > most ? paired(m->part[k]) : most;
    return most;
}

bool blend_knows_bias(const npmd_model *m)
{
    if (m->set.estimator != FIT_STACK)
        return paired(m) > 0;
    for (int k = 0; k < m->parts; k++)
        if (m->part[k]->set.estimator != FIT_UNIFORM && paired(m->part[k]) == 0)
            return false;
    return true;
}

int blend_rows(const npmd_model *m)
{
    return blend_members(m) + blend_pair(m);
}

/* log_sum (n) <- log(exp log_sum + weight f), f the relative density of one model. */
static npmd_status replicate_add(const evaluator *one, double weight, const double *x, size_t n, double *v,
                                 double *log_sum, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const double offset = one->model->facts.log_integral - log(weight);
    TRY(evaluate(one, x, n, JET_VALUE, v, err));
    for (size_t i = 0; i < n; i++)
        log_sum[i] = log_add(log_sum[i], v[i] - offset);
done:
    return st;
}

/* The same for every row (members + pair, n): f is the part's r-th member, or all of it where it has none; in the pair
 * all of it where it has no pair of its own. */
static npmd_status replicates_add(const evaluator *part, double weight, const double *x, size_t n, int members,
                                  int pair, double *v, double *log_sum, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int own = part->model->parts > 0 ? blend_counted(part->model) : 0;
    for (int r = 0; r < members; r++)
        TRY(replicate_add(own > 0 ? &part->part[r % own] : part, weight, x, n, v, log_sum + (size_t)r * n, err));
    for (int r = 0; r < pair; r++)
        TRY(replicate_add(paired(part->model) > 0 ? &part->part[own + r] : part, weight, x, n, v,
                          log_sum + (size_t)(members + r) * n, err));
done:
    return st;
}

npmd_status blend_replicates(const evaluator *e, const double *x, size_t n, double *log_density, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    const int members = blend_members(m), pair = blend_pair(m);
    double *v = NULL;
    TRY(memory_new(&v, n, err));
    for (size_t i = 0; i < (size_t)(members + pair) * n; i++)
        log_density[i] = -INFINITY;
    if (m->set.estimator == FIT_STACK)
        for (int k = 0; k < m->parts; k++)
            TRY(replicates_add(&e->part[k], m->part_weight[k], x, n, members, pair, v, log_density, err));
    else
        TRY(replicates_add(e, 1.0, x, n, members, pair, v, log_density, err));
done:
    memory_free(v);
    return st;
}

/* ---- band -------------------------------------------------------------------------------------------------------- */

/* The standard deviation of what members say; value (rows), stride apart. */
static double spread_of(const npmd_model *m, const double *value, size_t stride)
{
    const int first = blend_first(m), members = blend_members(m);
    double mean = 0.0, square = 0.0;
    for (int r = first; r < members; r++)
        mean += value[(size_t)r * stride] / (members - first);
    for (int r = first; r < members; r++)
        square += pow(value[(size_t)r * stride] - mean, 2.0);
    return sqrt(square / (members - first - 1));
}

#define NORMAL_95 1.9599639845400545 /* the normal law's quantile of 97.5 % */

/* Student's quantile of 97.5 %: in closed form for 1 and 2 degrees of freedom, else by Cornish and Fisher's series
 * about the normal one (Abramowitz and Stegun 26.7.5), which is right to 4e-3 with 3 degrees and to 1e-4 with 6. */
static double student_95(int freedom)
{
    const double z = NORMAL_95;
    if (freedom == 1)
        return 12.706204736174698;
    if (freedom == 2)
        return 4.3026527299112747;
    const double v = freedom, z2 = z * z;
    return z
           + z / v
                 * ((z2 + 1.0) / 4.0 + ((5.0 * z2 + 16.0) * z2 + 3.0) / (96.0 * v)
                    + (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / (384.0 * v * v)
                    + ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / (92160.0 * v * v * v));
}

/* See blend_values.h. With m resampled members beside the first, s their standard deviation and b half the difference
 * between the pair:
 *
 *     half = sqrt(t^2 s^2 (1 + m / (m + 1)^2) + z^2 b^2)
 *
 * t^2 and not z^2: s is known from m members only. m / (m + 1)^2: the estimate is the mean of all of them, and these few
 * resamples move it by so much. b^2: smoothing biases all members alike, which s does not see. To first order the bias
 * is the change of the estimate when the penalty, or the squared width of kernels, grows by a factor of e: both bias in
 * proportion to themselves. A root of a sum of squares, since what is wanted is cover over the mass, where the bias has
 * either sign (Nychka 1988). */
double blend_half_95(const npmd_model *m, const double *value, size_t stride)
{
    const double z = NORMAL_95;
    const int all = blend_members(m), resampled = all - blend_first(m);
    const double s = spread_of(m, value, stride), t = student_95(resampled - 1);
    const double bias = blend_pair(m) == 2 ? 0.5 * (value[(size_t)all * stride] - value[((size_t)all + 1) * stride])
                                           : 0.0;
    return sqrt(t * t * s * s * (1.0 + (double)resampled / ((double)all * all)) + z * z * bias * bias);
}

/* out (n): what of (rows) gives, from the log densities of all rows at each point. */
static npmd_status of_replicates(const evaluator *e, const double *x, size_t n,
                                 double (*of)(const npmd_model *m, const double *value, size_t stride), double *out,
                                 npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_model *m = e->model;
    double *log_density = NULL;
    TRY(memory_new(&log_density, (size_t)blend_rows(m) * n, err));
    TRY(blend_replicates(e, x, n, log_density, err));
    for (size_t i = 0; i < n; i++)
        out[i] = of(m, log_density + i, n);
done:
    memory_free(log_density);
    return st;
}

npmd_status blend_spread(const evaluator *e, const double *x, size_t n, double *out, npmd_error *err)
{
    const int members = blend_members(e->model), first = blend_first(e->model);
    if (members - first < 2)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`what` spread: the model has %d member%s, a spread needs %d; fit with `members` or "
                         "`bootstrap` on",
                         members, members == 1 ? "" : "s", 2 + first);
    return of_replicates(e, x, n, spread_of, out, err);
}

bool blend_has_band(const npmd_model *m)
{
    return m->set.bootstrap && blend_members(m) >= 3;
}

npmd_status blend_band(const evaluator *e, const double *x, size_t n, double *out, npmd_error *err)
{
    if (!blend_has_band(e->model))
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`what` band: the model has no members on resampled points; fit with `bootstrap` on");
    return of_replicates(e, x, n, blend_half_95, out, err);
}
