/* shape_bump.c - the shape "bump" on a triangulated surface: a density proportional to
 * exp(-|p - centre|^2 / (2 width^2)), p the position in space.
 *
 * Relative to the uniform density it is exp(-(|p - centre|^2 - d^2) / (2 width^2)) area / I, d the distance of the
 * centre from the surface, and I the integral of the exponential: by a rule of degree 5 on every face, whose edges are
 * halved until I stands still. Draws are uniform points, kept with that exponential as their probability. */
#include "truth_shapes.h"
#include "surface_factor.h"

enum { FACTOR, CENTRE, WIDTH };
enum { COLUMN, NEAREST2, LOG_RELATIVE }; /* made */
static const shape_field FIELDS[] = {
    { "factor", SHAPE_ONE, 1.0 }, { "centre", SHAPE_THREE, NAN }, { "width", SHAPE_ONE, NAN }, { 0 }
};

#define BUMP_TOLERANCE 1e-6
#define BUMP_PIECES_MOST 256 /* along an edge */
#define BUMP_NEGLIGIBLE 60.0 /* exp(-60) is 1e-26 */
#define BUMP_KEPT_LEAST 1e-4 /* share of uniform points that are kept */
#define BUMP_TRIES 2000000   /* at that share all of them fail once in e^200 */

/* Radon's rule of degree 5 on a triangle: barycentric coordinates u, v, and weight. */
#define RADON_A 0.10128650732345633
#define RADON_B 0.47014206410511509
static const double RADON[7][3] = {
    { 1.0 / 3.0, 1.0 / 3.0, 0.225 },
    { RADON_A, RADON_A, 0.12593918054482715 },
    { 1.0 - 2.0 * RADON_A, RADON_A, 0.12593918054482715 },
    { RADON_A, 1.0 - 2.0 * RADON_A, 0.12593918054482715 },
    { RADON_B, RADON_B, 0.13239415278850618 },
    { 1.0 - 2.0 * RADON_B, RADON_B, 0.13239415278850618 },
    { RADON_B, 1.0 - 2.0 * RADON_B, 0.13239415278850618 },
};

static const surface *bump_surface(const npmd_domain *dom, const truth_shape *s)
{
    return surface_of(dom->factor[(int)*s->field[FACTOR] - 1]);
}

static double distance2(const double *a, const double *b)
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* The exponent at a point of a face. */
static double bump_log(const truth_shape *s, const mesh *m, size_t face, double u, double v)
{
    const double width = *s->field[WIDTH];
    double p[3];
    mesh_point(m, face, u, v, p);
    return -0.5 * (distance2(p, s->field[CENTRE]) - s->made[NEAREST2]) / (width * width);
}

/* The mean of the exponential over a face whose edges are cut into so many pieces. */
static double face_mean(const truth_shape *s, const mesh *m, size_t face, int pieces)
{
    double sum = 0.0;
    for (int i = 0; i < pieces; i++)
        for (int j = 0; i + j < pieces; j++)
            for (int turned = 0; turned < (i + j + 1 < pieces ? 2 : 1); turned++)
                for (int k = 0; k < 7; k++) {
                    const double a = turned ? 1.0 - RADON[k][0] : RADON[k][0],
                                 b = turned ? 1.0 - RADON[k][1] : RADON[k][1];
                    sum += RADON[k][2] * exp(bump_log(s, m, face, (i + a) / pieces, (j + b) / pieces));
                }
    return sum / ((double)pieces * pieces);
}

static double bump_integral(const truth_shape *s, const mesh *m, int pieces)
{
    const double width = *s->field[WIDTH];
    double sum = 0.0;
    for (size_t f = 0; f < m->faces; f++) {
        double middle[3], reach = 0.0;
        mesh_point(m, f, 1.0 / 3.0, 1.0 / 3.0, middle);
        for (int c = 0; c < 3; c++)
            reach = fmax(reach, sqrt(distance2(middle, m->x + 3 * m->face[3 * f + (size_t)c])));
        const double near = fmax(0.0, sqrt(distance2(middle, s->field[CENTRE])) - reach);
        if (near * near - s->made[NEAREST2] < 2.0 * BUMP_NEGLIGIBLE * width * width)
            sum += mesh_face_area(m, f) * face_mean(s, m, f, pieces);
    }
    return sum;
}

static double longest_edge(const mesh *m)
{
    double most = 0.0;
    for (size_t i = 0; i < 3 * m->faces; i++) {
        const size_t next = i % 3 == 2 ? i - 2 : i + 1;
        most = fmax(most, distance2(m->x + 3 * m->face[i], m->x + 3 * m->face[next]));
    }
    return sqrt(most);
}

static npmd_status bump_check(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    int factor = 0, pieces = 1;
    surface_point nearest = { 0 };
    TRY(shape_factor(dom, s, FACTOR, 0, NULL, where, &factor, err));
    TRY(shape_number(s, WIDTH, 0, 1e-100, 1e100, false, where, err));
    const mesh *m = &bump_surface(dom, s)->mesh;
    const double width = *s->field[WIDTH],
                 away = locator_nearest(bump_surface(dom, s)->locator, s->field[CENTRE], &nearest);
    s->made[COLUMN] = dom->column[factor];
    s->made[NEAREST2] = away * away;
    const double edge = longest_edge(m);
    while (pieces < BUMP_PIECES_MOST && edge > 2.0 * width * pieces) /* coarser, two sums could agree by missing it */
        pieces *= 2;
    double before = -1.0, now = 0.0;
    for (; pieces <= BUMP_PIECES_MOST; pieces *= 2) {
        now = bump_integral(s, m, pieces);
        if (now > 0.0 && fabs(now - before) <= BUMP_TOLERANCE * now)
            break;
        before = now;
    }
    if (pieces > BUMP_PIECES_MOST || !(now >= BUMP_KEPT_LEAST * m->area)) {
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s: width %g is so small for this surface (area %g, longest edge %g) that %s", where, width,
                       m->area, edge,
                       pieces > BUMP_PIECES_MOST ? "its integral is not found" : "draws would take too long");
        goto done;
    }
    s->made[LOG_RELATIVE] = log(m->area / now);
done:
    return st;
}

static double bump_relative(const npmd_domain *dom, const truth_shape *s, const double *x)
{
    const double *p = x + (int)s->made[COLUMN];
    return s->made[LOG_RELATIVE] + bump_log(s, &bump_surface(dom, s)->mesh, (size_t)p[0], p[1], p[2]);
}

static void bump_draw(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x)
{
    const manifold *factor = dom->factor[(int)*s->field[FACTOR] - 1];
    const mesh *m = &bump_surface(dom, s)->mesh;
    double *p = x + (int)s->made[COLUMN];
    for (uint32_t i = 0; i < BUMP_TRIES; i++) {
        const uint32_t slot = SHAPE_SLOT + 3 * i;
        const double u[2] = { rng_uniform(key, index, slot), rng_uniform(key, index, slot + 1) };
        factor->uniform(factor, u, p);
        if (rng_uniform(key, index, slot + 2) < exp(bump_log(s, m, (size_t)p[0], p[1], p[2])))
            return;
    }
}

const shape_kind SHAPE_BUMP = { "bump", FIELDS, bump_check, bump_relative, bump_draw };
