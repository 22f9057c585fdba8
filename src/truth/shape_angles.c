/* shape_angles.c - the shapes "ridge" and "box" on circles, and "ring" on a sphere.
 *
 * ridge: x_along is von Mises about mean; given it, x_across is von Mises about a curve,
 *
 *     offset + amplitude sin(frequency x_along) + slope x_along,   frequency and slope whole, so that the curve closes.
 *
 * ring: t = x . axis has density exp(-(t - height)^2 / (2 width^2)) / Z on [-1, 1], and the angle about the axis is
 * uniform; relative to the uniform density, for which t is uniform on [-1, 1], that is 2 exp(...) / Z with
 *
 *     Z = width sqrt(pi / 2) (erf((1 - height) / (sqrt 2 width)) + erf((1 + height) / (sqrt 2 width))),
 *
 * where both terms are positive for a height in [-1, 1]: nothing cancels.
 *
 * box: uniform between lower and upper on each of its circles, zero elsewhere. */
#include "truth_shapes.h"
#include "maps.h"

#define KAPPA_MOST 1e8
#define WIDTH_LEAST 1e-4

/* ---- ridge ------------------------------------------------------------------------------------------------------- */

enum { ALONG, ACROSS, RIDGE_MEAN, KAPPA_ALONG, OFFSET, AMPLITUDE, FREQUENCY, SLOPE, KAPPA };
static const shape_field RIDGE_FIELDS[] = { { "along", SHAPE_ONE, NAN },   { "across", SHAPE_ONE, NAN },
                                            { "mean", SHAPE_ONE, 0.0 },    { "kappa_along", SHAPE_ONE, 0.0 },
                                            { "offset", SHAPE_ONE, 0.0 },  { "amplitude", SHAPE_ONE, 0.0 },
                                            { "frequency", SHAPE_ONE, 1 }, { "slope", SHAPE_ONE, 0.0 },
                                            { "kappa", SHAPE_ONE, NAN },   { 0 } };
static_assert(sizeof RIDGE_FIELDS / sizeof *RIDGE_FIELDS <= SHAPE_FIELDS_MOST, "room for the fields of a ridge");

static npmd_status ridge_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int along = 0, across = 0;
    TRY(shape_factor(dom, s, ALONG, 0, &CIRCLE, where, &along, err));
    TRY(shape_factor(dom, s, ACROSS, 0, &CIRCLE, where, &across, err));
    if (along == across) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: along and across are both %d, expected two circles", where,
                       along + 1);
        goto done;
    }
    TRY(shape_number(s, KAPPA_ALONG, 0, 0.0, KAPPA_MOST, false, where, err));
    TRY(shape_number(s, KAPPA, 0, 0.0, KAPPA_MOST, false, where, err));
    TRY(shape_number(s, FREQUENCY, 0, -1000.0, 1000.0, true, where, err));
    TRY(shape_number(s, SLOPE, 0, -1000.0, 1000.0, true, where, err));
    TRY(shape_number(s, AMPLITUDE, 0, -1000.0, 1000.0, false, where, err));
    s->made[0] = CIRCLE.log_kernel(&CIRCLE, *s->field[KAPPA_ALONG]) + CIRCLE.log_kernel(&CIRCLE, *s->field[KAPPA])
                 + 2.0 * log(TWO_PI);
    s->made[1] = dom->column[along];
    s->made[2] = dom->column[across];
done:
    return st;
}

static double ridge_curve(const truth_shape *s, double along)
{
    return *s->field[OFFSET] + *s->field[AMPLITUDE] * sin(*s->field[FREQUENCY] * along) + *s->field[SLOPE] * along;
}

static double ridge_log(const npmd_domain *dom, const truth_shape *s, const double *x)
{
    (void)dom;
    const double along = x[(int)s->made[1]], across = x[(int)s->made[2]];
    const double a = sin(0.5 * (along - *s->field[RIDGE_MEAN])), b = sin(0.5 * (across - ridge_curve(s, along)));
    return s->made[0] - 2.0 * *s->field[KAPPA_ALONG] * a * a - 2.0 * *s->field[KAPPA] * b * b;
}

/* A kernel about m; x is uniform already. */
static void von_mises_draw(double m, double kappa, rng_key key, uint64_t index, uint32_t slot, double *x)
{
    if (kappa > 1e-12)
        CIRCLE.kernel_draw(&CIRCLE, &m, kappa, key, index, slot, x);
}

static void ridge_draw(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x)
{
    (void)dom;
    double *along = x + (int)s->made[1], *across = x + (int)s->made[2];
    von_mises_draw(*s->field[RIDGE_MEAN], *s->field[KAPPA_ALONG], key, index, SHAPE_SLOT, along);
    von_mises_draw(ridge_curve(s, *along), *s->field[KAPPA], key, index, SHAPE_SLOT + KERNEL_SLOTS, across);
}

const shape_kind SHAPE_RIDGE = { "ridge", RIDGE_FIELDS, ridge_check, ridge_log, ridge_draw };

/* ---- ring -------------------------------------------------------------------------------------------------------- */

enum { FACTOR, AXIS, HEIGHT, WIDTH };
static const shape_field RING_FIELDS[] = { { "factor", SHAPE_ONE, 1.0 },
                                           { "axis", SHAPE_THREE, NAN },
                                           { "height", SHAPE_ONE, 0.0 },
                                           { "width", SHAPE_ONE, NAN },
                                           { 0 } };

static npmd_status ring_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int factor = 0;
    TRY(shape_factor(dom, s, FACTOR, 0, &SPHERE, where, &factor, err));
    TRY(shape_number(s, HEIGHT, 0, -1.0, 1.0, false, where, err));
    TRY(shape_number(s, WIDTH, 0, WIDTH_LEAST, 1e6, false, where, err));
    double *axis = s->field[AXIS];
    const double norm = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (!(fabs(norm - 1.0) <= 1e-3)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: axis has length %.6g, expected a unit vector to within 0.001", where,
                       norm);
        goto done;
    }
    for (int i = 0; i < 3 && fabs(norm - 1.0) > 1e-14; i++) /* an exact one is kept bit by bit */
        axis[i] /= norm;
    const double height = *s->field[HEIGHT], width = *s->field[WIDTH], unit = width * sqrt(2.0);
    s->made[0] = log(2.0)
                 - log(width * sqrt(0.5 * NPMD_PI) * (erf((1.0 - height) / unit) + erf((1.0 + height) / unit)));
    s->made[1] = dom->column[factor];
done:
    return st;
}

static double ring_log(const npmd_domain *dom, const truth_shape *s, const double *x)
{
    (void)dom;
    const double *p = x + (int)s->made[1], *axis = s->field[AXIS];
    const double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    const double t = (p[0] * axis[0] + p[1] * axis[1] + p[2] * axis[2]) / norm;
    const double z = (t - *s->field[HEIGHT]) / *s->field[WIDTH];
    return s->made[0] - 0.5 * z * z;
}

/* t by rejection: from the normal density where that is narrow, else from the uniform one; about half the tries are
 * kept or more, whatever height and width are. */
#define RING_TRIES 256
static double ring_height(double height, double width, rng_key key, uint64_t index)
{
    for (uint32_t i = 0; i < RING_TRIES; i++) {
        const uint32_t slot = SHAPE_SLOT + 4 * i;
        if (width < 0.8) {
            const double t = height + width * rng_normal(key, index, slot / 2);
            if (fabs(t) <= 1.0)
                return t;
        } else {
            const double t = 2.0 * rng_uniform(key, index, slot) - 1.0, z = (t - height) / width;
            if (rng_uniform(key, index, slot + 1) < exp(-0.5 * z * z))
                return t;
        }
    }
    return height;
}

static void ring_draw(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x)
{
    (void)dom;
    const double *axis = s->field[AXIS], t = ring_height(*s->field[HEIGHT], *s->field[WIDTH], key, index);
    const double angle = TWO_PI * rng_uniform(key, index, SHAPE_SLOT - 1), r = sqrt((1.0 - t) * (1.0 + t));
    double *p = x + (int)s->made[1], frame[6];
    sphere_frame(axis, frame);
    for (int i = 0; i < 3; i++)
        p[i] = t * axis[i] + r * (cos(angle) * frame[i] + sin(angle) * frame[3 + i]);
    SPHERE.canonical(&SPHERE, p);
}

const shape_kind SHAPE_RING = { "ring", RING_FIELDS, ring_check, ring_log, ring_draw };

/* ---- box --------------------------------------------------------------------------------------------------------- */

enum { FACTORS, LOWER, UPPER };
static const shape_field BOX_FIELDS[] = {
    { "factors", SHAPE_LIST, NAN }, { "lower", SHAPE_LIST, NAN }, { "upper", SHAPE_LIST, NAN }, { 0 }
};

static npmd_status box_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned seen = 0;
    if (s->length[FACTORS] == 0) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: factors is empty, expected one circle or more", where);
        goto done;
    }
    s->made[0] = 0.0;
    for (size_t i = 0; i < s->length[FACTORS]; i++) {
        const double side = s->field[UPPER][i] - s->field[LOWER][i];
        int d = 0;
        TRY(shape_factor(dom, s, FACTORS, i, &CIRCLE, where, &d, err));
        if (seen >> d & 1u) {
            st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: factors names circle %d twice", where, d + 1);
            goto done;
        }
        seen |= 1u << d;
        if (!(side >= 1e-6 && side <= TWO_PI && fabs(s->field[LOWER][i]) <= 1e6)) {
            st = npmd_fail(err, NPMD_ERR_FORMAT,
                           "%s: lower[%zu] is %g and upper[%zu] is %g, expected an angle and a larger one, by 2 pi at "
                           "most",
                           where, i, s->field[LOWER][i], i, s->field[UPPER][i]);
            goto done;
        }
        s->made[0] += log(TWO_PI / side);
    }
done:
    return st;
}

static double box_log(const npmd_domain *dom, const truth_shape *s, const double *x)
{
    for (size_t i = 0; i < s->length[FACTORS]; i++) {
        const double angle = x[dom->column[(int)s->field[FACTORS][i] - 1]];
        if (circle_wrap(angle - s->field[LOWER][i]) > s->field[UPPER][i] - s->field[LOWER][i])
            return -INFINITY;
    }
    return s->made[0];
}

static void box_draw(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x)
{
    for (size_t i = 0; i < s->length[FACTORS]; i++) {
        const double lower = s->field[LOWER][i], side = s->field[UPPER][i] - lower;
        x[dom->column[(int)s->field[FACTORS][i] - 1]] = circle_wrap(
            lower + side * rng_uniform(key, index, SHAPE_SLOT + (uint32_t)i));
    }
}

const shape_kind SHAPE_BOX = { "box", BOX_FIELDS, box_check, box_log, box_draw };
