/* shape_known.c - the shapes "uniform", "kernel" and "normal". The last two are mixtures of one component, of the kinds
 * that mixture.c has. */
#include "truth_shapes.h"

/* ---- uniform ----------------------------------------------------------------------------------------------------- */

static npmd_status uniform_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    (void)dom, (void)s, (void)where, (void)err;
    return NPMD_OK;
}

static double uniform_log(const npmd_domain *dom, const truth_shape *s, const double *x)
{
    (void)dom, (void)s, (void)x;
    return 0.0;
}

static void uniform_draw(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x)
{
    (void)dom, (void)s, (void)key, (void)index, (void)x; /* it is one already */
}

static const shape_field NO_FIELDS[] = { { 0 } };
const shape_kind SHAPE_UNIFORM = { "uniform", NO_FIELDS, uniform_check, uniform_log, uniform_draw };

/* ---- kernel and normal ------------------------------------------------------------------------------------------- */

enum { MEAN, SPREAD }; /* kappa or covariance */
static const shape_field KERNEL_FIELDS[] = { { "mean", SHAPE_COLUMNS, NAN }, { "kappa", SHAPE_FACTORS, NAN }, { 0 } };
static const shape_field NORMAL_FIELDS[] = { { "mean", SHAPE_COLUMNS, NAN },
                                             { "covariance", SHAPE_SQUARE, NAN },
                                             { 0 } };

static npmd_status known_check(const npmd_domain *dom, truth_shape *s, truth_kind kind, const char *where,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_domain *copy = NULL;
    TRY(domain_copy(dom, &copy, err));
    TRY(mixture_new(kind, copy, 1, &s->known, err)); /* takes the copy over */
    s->known->weight[0] = 1.0;
    memcpy(s->known->mean, s->field[MEAN], s->length[MEAN] * sizeof(double));
    memcpy(kind == TRUTH_WRAPPED_NORMAL ? s->known->covariance : s->known->kappa, s->field[SPREAD],
           s->length[SPREAD] * sizeof(double));
    TRY(mixture_prepare(s->known, where, err));
    memcpy(s->field[MEAN], s->known->mean, s->length[MEAN] * sizeof(double)); /* unit vectors made exact */
done:
    return st;
}

static npmd_status kernel_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    if (dom->surfaces)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: a kernel needs factors S1 and S2, the domain is %s", where,
                         dom->text);
    return known_check(dom, s, TRUTH_VON_MISES_FISHER, where, err);
}

static npmd_status normal_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    if (!dom->torus)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: a normal needs a torus, the domain is %s", where, dom->text);
    return known_check(dom, s, TRUTH_WRAPPED_NORMAL, where, err);
}

static double known_log(const npmd_domain *dom, const truth_shape *s, const double *x)
{
    return mixture_log_density(s->known, x) + log(dom->volume);
}

static void known_draw(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x)
{
    (void)dom;
    mixture_draw(s->known, key, index, x);
}

const shape_kind SHAPE_KERNEL = { "kernel", KERNEL_FIELDS, kernel_check, known_log, known_draw };
const shape_kind SHAPE_NORMAL = { "normal", NORMAL_FIELDS, normal_check, known_log, known_draw };
