/* surface_factor.c - a closed triangulated surface as a factor of a domain.
 *
 * A point is a face and two barycentric coordinates. The user's files and rows have positions in space: the closest
 * point is found once, on reading, and never during training. Eigenfunctions are finite elements: on a face
 *
 *     psi = sum_c N_c(u, v) phi_c,   linear N = (L0, L1, L2),   L = (1 - u - v, u, v),
 *     quadratic N = (L_i (2 L_i - 1); 4 L0 L1, 4 L1 L2, 4 L2 L0),
 *
 * with derivatives along the face's own orthonormal frame: its first vector points from corner a to b. With b = (l, 0)
 * and c = (p, q) in that frame, u = (x - p y / q) / l and v = y / q. All lengths are those of the surface scaled to the
 * area 4 pi. */
#include "surface_factor.h"

#include <stdio.h>

const surface *surface_of(const manifold *m)
{
    return m->locate == NULL ? NULL : m->state;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static const char *surface_canonical(const manifold *self, double *x)
{
    const surface *s = self->state;
    const double tiny = 1e-9;
    if (!(x[0] >= 0.0 && x[0] < (double)s->mesh.faces && x[0] == floor(x[0])))
        return "names a face that is not there";
    if (!(x[1] >= -tiny && x[2] >= -tiny && x[1] + x[2] <= 1.0 + tiny))
        return "has barycentric coordinates outside of its face";
    x[1] = fmax(0.0, x[1]);
    x[2] = fmax(0.0, x[2]);
    const double over = fmax(1.0, x[1] + x[2]);
    x[1] /= over;
    x[2] /= over;
    return NULL;
}

static double surface_locate(const manifold *self, const double *in, double *x)
{
    const surface *s = self->state;
    surface_point at = { 0 };
    if (!isfinite(in[0]) || !isfinite(in[1]) || !isfinite(in[2]))
        return NAN;
    const double distance = locator_nearest(s->locator, in, &at);
    x[0] = (double)at.face;
    x[1] = at.u;
    x[2] = at.v;
    surface_canonical(self, x); /* rounding may have left the face */
    return distance;
}

static void surface_position(const manifold *self, const double *x, double *out)
{
    const surface *s = self->state;
    double at[3];
    mesh_point(&s->mesh, (size_t)x[0], x[1], x[2], at);
    memcpy(out, at, sizeof at); /* x may be out */
}

static const double *surface_corner(const surface *s, size_t face, int i)
{
    return s->mesh.x + 3 * (size_t)s->mesh.face[3 * face + (size_t)i];
}

/* The edges ab and ac of a face: the unit vectors e1 along ab and e2 across, and l, p, q. */
static void surface_edges(const surface *s, size_t face, double e[6], double lpq[3])
{
    const double *a = surface_corner(s, face, 0), *b = surface_corner(s, face, 1), *c = surface_corner(s, face, 2);
    double l = 0.0, p = 0.0, q = 0.0;
    for (int i = 0; i < 3; i++)
        l += (b[i] - a[i]) * (b[i] - a[i]);
    l = sqrt(l);
    for (int i = 0; i < 3; i++) {
        e[i] = (b[i] - a[i]) / l;
        p += (c[i] - a[i]) * e[i];
    }
    for (int i = 0; i < 3; i++) {
        e[3 + i] = c[i] - a[i] - p * e[i];
        q += e[3 + i] * e[3 + i];
    }
    q = sqrt(q);
    for (int i = 0; i < 3; i++)
        e[3 + i] /= q;
    lpq[0] = l;
    lpq[1] = p;
    lpq[2] = q;
}

static void surface_frame(const manifold *self, const double *x, double *frame)
{
    double lpq[3];
    surface_edges(self->state, (size_t)x[0], frame, lpq);
    for (int i = 0; i < 6; i++)
        frame[i] *= self->scale;
}

/* ---- eigenfunctions ---------------------------------------------------------------------------------------------- */

static int surface_functions(const manifold *self, int frequency)
{
    (void)self;
    return (frequency + 1) * (frequency + 1);
}

static int surface_frequency(const manifold *self, int function)
{
    int f = (int)sqrt((double)function);
    (void)self;
    while (f * f > function)
        f--;
    while ((f + 1) * (f + 1) <= function)
        f++;
    return f;
}

/* Beyond the last one that was computed, by Weyl's law. */
static double surface_eigenvalue(const manifold *self, int function)
{
    const surface *s = self->state;
    const double f = surface_frequency(self, function);
    const double stretched = s->mesh.area / (4.0 * NPMD_PI);
    if (function >= s->pairs)
        return f * (f + 1.0);
    return function == 0 ? 0.0 : s->lambda[function] * stretched;
}

/* out[k m] = sum_c N_c phi_c[k], k < functions: the rows of the table lie side by side, those of a jet do not. */
static void surface_sum(const double *N, int corners, const float *const *phi, size_t functions, size_t m, double *out)
{
    if (corners == 3)
        for (size_t k = 0; k < functions; k++)
            out[k * m] = N[0] * (double)phi[0][k] + N[1] * (double)phi[1][k] + N[2] * (double)phi[2][k];
    else
        for (size_t k = 0; k < functions; k++)
            out[k * m] = N[0] * (double)phi[0][k] + N[1] * (double)phi[1][k] + N[2] * (double)phi[2][k]
                         + N[3] * (double)phi[3][k] + N[4] * (double)phi[4][k] + N[5] * (double)phi[5][k];
}

static void surface_jets(const manifold *self, size_t m, const double *x, size_t stride, int frequency, int parts,
                         double *jet)
{
    const surface *s = self->state;
    const size_t functions = (size_t)surface_functions(self, frequency);
    const int corners = s->at.corners;
    assert((int)functions <= s->pairs);
    for (size_t i = 0; i < m; i++) {
        const double *at = x + i * stride;
        const int32_t *node = s->at.node + (size_t)at[0] * (size_t)corners;
        const float *phi[SURFACE_CORNERS];
        double N[SURFACE_CORNERS];
        for (int c = 0; c < corners; c++)
            phi[c] = s->phi + (size_t)node[c] * (size_t)s->pairs;
        for (int t = 0; t < parts; t++) {
            surface_shape(s->metric[(size_t)at[0]], corners, at[1], at[2], t, N);
            surface_sum(N, corners, phi, functions, m, jet + (size_t)t * functions * m + i);
        }
    }
}

/* ---- the sphere that stands for the surface ---------------------------------------------------------------------- */

static void surface_uniform(const manifold *self, const double *u, double *x)
{
    const surface *s = self->state;
    surface_map_from(&s->map, u, x);
}

static void surface_embed(const manifold *self, const double *x, double *e)
{
    const surface *s = self->state;
    surface_map_embed(&s->map, x, e);
}

static void surface_cauchy(const manifold *self, const double *x, double rho, const double *u, double *y)
{
    const surface *s = self->state;
    surface_map_cauchy(&s->map, x, rho, u, y);
}

/* The direction of the first three eigenfunctions that are not constant: on a sphere, where it is. */
static void surface_centroid(const surface *s, size_t face, double *square)
{
    const double middle[3] = { (double)face, 1.0 / 3.0, 1.0 / 3.0 };
    double psi[SURFACE_LEAST_PAIRS], e[3] = { 0.0, 0.0, 1.0 };
    surface_jets(&s->table, 1, middle, 0, 1, 1, psi);
    const double length = sqrt(psi[1] * psi[1] + psi[2] * psi[2] + psi[3] * psi[3]);
    for (int i = 0; length > 0.0 && i < 3; i++)
        e[i] = psi[1 + i] / length;
    sphere_square(e, square);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void surface_retain(const manifold *self)
{
    surface *s = self->state;
    atomic_fetch_add(&s->owners, 1);
}

static void surface_free(surface *s)
{
    if (s == NULL)
        return;
    locator_close(s->locator);
    surface_map_close(&s->map);
    mesh_free(&s->mesh);
    fem_nodes_free(&s->at);
    memory_free(s->lambda);
    memory_free(s->phi);
    memory_free(s->metric);
    memory_free(s);
}

static void surface_release(const manifold *self)
{
    surface *s = self->state;
    if (atomic_fetch_sub(&s->owners, 1) == 1)
        surface_free(s);
}

static manifold surface_table(surface *s)
{
    return (manifold){
        .name = s->name,
        .columns = 3,
        .dimension = 2,
        .volume = s->mesh.area,
        .scale = sqrt(4.0 * NPMD_PI / s->mesh.area),
        .max_frequency = (int)sqrt((double)s->pairs) - 1,
        .state = s,
        .retain = surface_retain,
        .release = surface_release,
        .canonical = surface_canonical,
        .locate = surface_locate,
        .position = surface_position,
        .reach = 1e-3 * sqrt(s->mesh.area),
        .uniform = surface_uniform,
        .frame = surface_frame,
        .functions = surface_functions,
        .frequency = surface_frequency,
        .eigenvalue = surface_eigenvalue,
        .jets = surface_jets,
        .rule_nodes = surface_rule_nodes,
        .rule = surface_rule,
        .embedding = 3,
        .embed = surface_embed,
        .cauchy = surface_cauchy,
    };
}

static npmd_status surface_map_make(surface *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t faces = s->mesh.faces;
    double *centroid = NULL, *area = NULL;
    TRY(memory_new(&centroid, 2 * faces, err));
    TRY(memory_new(&area, faces, err));
    for (size_t i = 0; i < faces; i++) {
        double e[6], lpq[3];
        surface_edges(s, i, e, lpq);
        area[i] = 0.5 * lpq[0] * lpq[2];
        s->metric[i][0] = 1.0 / (s->table.scale * lpq[0]);
        s->metric[i][1] = -lpq[1] / (s->table.scale * lpq[0] * lpq[2]);
        s->metric[i][2] = 1.0 / (s->table.scale * lpq[2]);
        surface_centroid(s, i, centroid + 2 * i);
    }
    TRY(surface_map_open(&s->map, faces, centroid, area, err));
done:
    memory_free(centroid);
    memory_free(area);
    return st;
}

npmd_status surface_make(mesh *m, fem_nodes *at, int pairs, double *lambda, float *phi, const manifold **out,
                         npmd_error *err)
{
    npmd_status st = NPMD_OK;
    surface *s = NULL;
    assert(pairs >= SURFACE_LEAST_PAIRS);
    TRY(memory_new(&s, 1, err));
    atomic_init(&s->owners, 1);
    s->mesh = *m;
    s->at = *at;
    s->lambda = lambda;
    *m = (mesh){ 0 };
    *at = (fem_nodes){ 0 };
    s->phi = phi;
    s->pairs = pairs;
    lambda = NULL;
    phi = NULL;
    TRY(memory_new(&s->metric, s->mesh.faces, err));
    TRY(locator_open(&s->mesh, &s->locator, err));
    snprintf(s->name, sizeof s->name, "mesh:%016llx", (unsigned long long)s->mesh.hash);
    s->table = surface_table(s);
    TRY(surface_map_make(s, err));
    *out = &s->table;
    s = NULL;
done:
    surface_free(s);
    mesh_free(m);
    fem_nodes_free(at);
    memory_free(lambda);
    memory_free(phi);
    return st;
}
