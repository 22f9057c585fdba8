/* blend.c - models made of other models: values, spread, draws.
 *
 * With f_k the density of part k relative to the uniform measure and w_k its weight, sum 1, a blend is
 *     log mean:  v = sum_k w_k log f_k, renormalised by its own log integral
 *     mixture:   v = log sum_k w_k f_k, which integrates to one as its parts do
 * Jets of the first are sums of jets. Of the second, with shares p_k = w_k f_k / sum_j w_j f_j,
 *     grad v = sum_k p_k grad v_k,   lap v = sum_k p_k (lap v_k + |grad v_k|^2) - |grad v|^2 */
#include "estimators.h"

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
        npmd_model_free(m->part[k]);
    memory_free(m->part);
    memory_free(m->part_weight);
}

/* ---- values and jets ------------------------------------------------------------------------------------ */

static size_t row_length(const npmd_model *m, jet_rows rows)
{
    return rows == JET_VALUE ? 1 : (size_t)m->domain->dimension + 2;
}

npmd_status blend_log_mean(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                           jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t length = row_length(m, rows);
    double *jet = NULL;
    TRY(memory_new(&jet, n * length, err));
    memset(out, 0, n * length * sizeof *out);
    for (int k = 0; k < m->parts; k++) {
        const npmd_model *part = m->part[k];
        TRY(model_evaluate(part, how, x, n, rows, jet, err));
        for (size_t i = 0; i < n; i++) {
            jet[i * length] -= part->facts.log_integral;
            for (size_t j = 0; j < length; j++)
                out[i * length + j] += m->part_weight[k] * jet[i * length + j];
        }
    }
done:
    memory_free(jet);
    return st;
}

/* Adds w f_k to a mixture that stands scaled: sum[0] is the log of the largest term so far, sum[1] the sum of terms over
 * it, then the sums of terms times grad v_k, and of terms times (lap v_k + |grad v_k|^2). */
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

npmd_status blend_mixture(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                          jet_rows rows, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t length = row_length(m, rows), directions = (size_t)m->domain->dimension,
                 sums = rows == JET_VALUE ? 0 : directions + 3;
    double *jet = NULL, *sum = NULL;
    TRY(memory_new(&jet, n * length, err));
    TRY(memory_new(&sum, n * sums + 1, err));
    for (size_t i = 0; i < n; i++)
        *(rows == JET_VALUE ? &out[i] : &sum[i * sums]) = -INFINITY;
    for (int k = 0; k < m->parts; k++) {
        const npmd_model *part = m->part[k];
        const double offset = part->facts.log_integral - log(m->part_weight[k]);
        TRY(model_evaluate(part, how, x, n, rows, jet, err));
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

/* ---- leaves ---------------------------------------------------------------------------------------------- */

/* Adds those of m to out where there is one; how many they are. */
static int leaves_add(const npmd_model *m, bool peaked, double weight, npmd_model *out)
{
    int count = 0;
    if (m->kind->evaluate != blend_mixture) {
        if ((m->kind->mean != NULL) != peaked)
            return 0;
        if (out != NULL) {
            out->part[out->parts] = (npmd_model *)m;
            out->part_weight[out->parts++] = weight;
        }
        return 1;
    }
    for (int k = 0; k < m->parts; k++)
        count += leaves_add(m->part[k], peaked, weight * m->part_weight[k], out);
    return count;
}

npmd_status blend_leaves(const npmd_model *m, bool peaked, npmd_model *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t count = (size_t)leaves_add(m, peaked, 1.0, NULL);
    *out = (npmd_model){ .kind = &ESTIMATOR_MIXTURE, .domain = m->domain };
    TRY(memory_new(&out->part, count + 1, err));
    TRY(memory_new(&out->part_weight, count + 1, err));
    leaves_add(m, peaked, 1.0, out);
done:
    return st;
}

void blend_leaves_close(npmd_model *m)
{
    memory_free(m->part);
    memory_free(m->part_weight);
}

/* ---- spread --------------------------------------------------------------------------------------------- */

/* Members that were fitted alike; those of a stack stand in for each other in all its parts at once. */
int blend_members(const npmd_model *m)
{
    int most = 1;
    if (m->options.estimator != NPMD_STACK)
        return m->parts > 0 ? m->parts : 1;
    for (int k = 0; k < m->parts; k++)
        most = m->part[k]->parts > most ? m->part[k]->parts : most;
    return most;
}

/* log_sum (members, n) <- log(exp log_sum + weight f_r), f_r the relative density of a part's r-th member, or of all
 * of it where it has none. */
static npmd_status replicates_add(const npmd_model *part, double weight, const npmd_compute *how,
                                  const double *x, size_t n, int members, double *v, double *log_sum,
                                  npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int own = part->parts > 0 ? part->parts : 1;
    for (int k = 0; k < own; k++) {
        const npmd_model *one = part->parts > 0 ? part->part[k] : part;
        const double offset = one->facts.log_integral - log(weight);
        TRY(model_values(one, how, x, n, v, err));
        for (int r = k; r < members; r += own)
            for (size_t i = 0; i < n; i++)
                log_sum[(size_t)r * n + i] = log_add(log_sum[(size_t)r * n + i], v[i] - offset);
    }
done:
    return st;
}

int blend_first(const npmd_model *m)
{
    return m->options.bootstrap ? 1 : 0; /* the first saw the points as they are */
}

npmd_status blend_replicates(const npmd_model *m, const npmd_compute *how, const double *x, size_t n,
                             double *log_density, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int members = blend_members(m);
    double *v = NULL;
    TRY(memory_new(&v, n, err));
    for (size_t i = 0; i < (size_t)members * n; i++)
        log_density[i] = -INFINITY;
    if (m->options.estimator == NPMD_STACK)
        for (int k = 0; k < m->parts; k++)
            TRY(replicates_add(m->part[k], m->part_weight[k], how, x, n, members, v, log_density, err));
    else
        TRY(replicates_add(m, 1.0, how, x, n, members, v, log_density, err));
done:
    memory_free(v);
    return st;
}

npmd_status blend_spread(const npmd_model *m, const npmd_compute *how, const double *x, size_t n, double *out,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int members = blend_members(m), first = blend_first(m);
    double *log_density = NULL;
    if (members - first < 2)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "--what spread: the model has %d member%s, a spread needs %d; fit with --members or "
                         "--bootstrap on",
                         members, members == 1 ? "" : "s", 2 + first);
    TRY(memory_new(&log_density, (size_t)members * n, err));
    TRY(blend_replicates(m, how, x, n, log_density, err));
    for (size_t i = 0; i < n; i++) {
        double mean = 0.0, square = 0.0;
        for (int r = first; r < members; r++)
            mean += log_density[(size_t)r * n + i] / (members - first);
        for (int r = first; r < members; r++)
            square += pow(log_density[(size_t)r * n + i] - mean, 2.0);
        out[i] = sqrt(square / (members - first - 1));
    }
done:
    memory_free(log_density);
    return st;
}

/* ---- draws ---------------------------------------------------------------------------------------------- */

/* Which part a row comes from, by its own random number; then every part draws its rows. */
npmd_status blend_draw(const npmd_model *m, const npmd_compute *how, uint64_t seed, size_t n, double *x,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = rng_key_make(seed, RNG_SAMPLE, UINT32_MAX);
    const size_t columns = (size_t)m->domain->columns;
    size_t *row = NULL;
    double *drawn = NULL, below = 0.0;
    TRY(memory_new(&row, n, err));
    TRY(memory_new(&drawn, n * columns, err));
    for (int k = 0; k < m->parts; k++) {
        const double above = k + 1 == m->parts ? 2.0 : below + m->part_weight[k];
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            const double u = rng_uniform(key, i, 0);
            if (below <= u && u < above)
                row[count++] = i;
        }
        below = above;
        if (count == 0)
            continue;
        TRY(model_sample(m->part[k], hash_word(seed, (uint64_t)k), count, how, drawn, err));
        for (size_t i = 0; i < count; i++)
            memcpy(x + row[i] * columns, drawn + i * columns, columns * sizeof *x);
    }
done:
    memory_free(row);
    memory_free(drawn);
    return st;
}

/* ---- files: model_file.c saves and loads the parts ----------------------------------------------------------------------------- */

npmd_status blend_load(npmd_model *m, const record *rec, const char *path, npmd_error *err)
{
    double sum = 0.0;
    (void)rec;
    for (int k = 0; k < m->parts; k++)
        sum += m->part_weight[k];
    if (m->parts < 1 || !(fabs(sum - 1.0) <= 1e-9))
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %d parts whose weights add up to %g, expected 1", path,
                         m->parts, sum);
    return NPMD_OK;
}

npmd_status blend_describe(const npmd_model *m, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *list = json_object_get(into, "parts");
    for (int k = 0; k < m->parts && st == NPMD_OK; k++) {
        json_t *one = json_incref(json_array_get(list, (size_t)k)); /* a share of it, to change it */
        if (m->part[k]->kind->describe != NULL)
            st = m->part[k]->kind->describe(m->part[k], one, err);
        json_decref(one);
    }
    return st;
}
