/* sphere.c - the unit sphere S2: a point is a unit vector in R^3.
 *
 * Nothing here uses longitude and latitude, except to read files: they are singular at the poles, and data may contain
 * a pole. The real spherical harmonic of degree l and order m is number l^2 + l + m; with a = |m|
 *
 *     Y = (-1)^a p_la(z) Re (x + i y)^a  for m >= 0,      Y = (-1)^a p_la(z) Im (x + i y)^a  for m < 0,
 *
 * where p_la is a multiple of the a-th derivative of the Legendre polynomial P_l: a polynomial, so values and gradients
 * are finite everywhere. Orthonormal with respect to area, with the Condon-Shortley sign. */
#include "geometry.h"
#include "maps.h"

#define SPHERE_MAX_DEGREE 128 /* p_la stays below 1e40 up to here */

static const char *sphere_canonical(const manifold *self, double *x)
{
    (void)self;
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        return "is not finite";
    const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    if (r == 0.0)
        return "is a zero vector where a unit vector was expected";
    if (fabs(r - 1.0) > 1e-3)
        return "is not a unit vector (its length is off by more than 1e-3)";
    for (int i = 0; i < 3; i++)
        x[i] /= r;
    return NULL;
}

static const char *sphere_from_latlon(const manifold *self, const double *in, double *x)
{
    (void)self;
    if (!isfinite(in[0]) || !isfinite(in[1]))
        return "is not finite";
    if (fabs(in[0]) > 90.0)
        return "has a latitude outside -90..90 degrees";
    const double latitude = in[0] * (NPMD_PI / 180.0), longitude = fmod(in[1], 360.0) * (NPMD_PI / 180.0);
    x[0] = cos(latitude) * cos(longitude);
    x[1] = cos(latitude) * sin(longitude);
    x[2] = sin(latitude);
    return NULL;
}

static void sphere_to_latlon(const manifold *self, const double *x, double *out)
{
    (void)self;
    out[0] = atan2(x[2], hypot(x[0], x[1])) * (180.0 / NPMD_PI);
    out[1] = atan2(x[1], x[0]) * (180.0 / NPMD_PI);
}

static int sphere_functions(const manifold *self, int degree)
{
    (void)self;
    return (degree + 1) * (degree + 1);
}

static int sphere_degree(const manifold *self, int function)
{
    (void)self;
    int l = (int)sqrt((double)function);
    while (l * l > function)
        l--;
    while ((l + 1) * (l + 1) <= function)
        l++;
    return l;
}

static double sphere_eigenvalue(const manifold *self, int function)
{
    const double l = sphere_degree(self, function);
    return l * (l + 1.0);
}

/* For one order a, column by column: p_la for l = a .. L from
 *     p_aa = sqrt((2a + 1)/(2a)) p_(a-1)(a-1),   p_00 = 1/sqrt(4 pi)
 *     p_la = c_l (z p_(l-1)a - p_(l-2)a / c_(l-1)),   c_l = sqrt((4 l^2 - 1)/(l^2 - a^2))
 * (orthonormal, without the factor sqrt 2 of the real functions of order a > 0). Its derivative is the next
 * order: p_la' = sqrt((l - a)(l + a + 1)) p_l(a+1), so orders run downwards and each leaves its column for
 * the one below. */
static void sphere_legendre(size_t m, const double *z, int L, int a, double p_aa,
                            double p[][JET_POINTS]) /* p[l][i] at point i */
{
    double c_above = 1.0; /* c_(l-1) */
    for (size_t i = 0; i < m; i++)
        p[a][i] = p_aa;
    for (int l = a + 1; l <= L; l++) {
        const double c = sqrt((4.0 * l * l - 1.0) / ((double)l * l - (double)a * a)),
                     above = l == a + 1 ? 0.0 : c / c_above;
        const double *p_1 = p[l - 1], *p_2 = p[l == a + 1 ? a : l - 2];
        for (size_t i = 0; i < m; i++)
            p[l][i] = c * (z[i] * p_1[i]) - above * p_2[i];
        c_above = c;
    }
}

static void sphere_uniform_point(const manifold *self, const double *u, double *x)
{
    (void)self;
    sphere_uniform(u, x);
}

static void sphere_tangents(const manifold *self, const double *x, double *frame)
{
    (void)self;
    sphere_frame(x, frame);
}

/* Archimedes again: what the height lacks of 1 is uniform in [0, 1 - cos radius]. */
static double sphere_ball(const manifold *self, const double *x, double radius, const double *u, double *y)
{
    (void)self;
    const double half = sin(0.5 * radius), most = 2.0 * half * half, below = u[0] * most,
                 sine = sqrt(below * (2.0 - below)), angle = TWO_PI * u[1];
    double frame[6];
    sphere_frame(x, frame);
    for (int i = 0; i < 3; i++)
        y[i] = (1.0 - below) * x[i] + sine * (cos(angle) * frame[i] + sin(angle) * frame[3 + i]);
    return 0.5 * most;
}

/* The frame's derivatives of a function with this gradient in R^3. */
static inline void sphere_slopes(const double *frame, double x, double y, double z, double *along1, double *along2)
{
    *along1 = frame[0] * x + frame[1] * y + frame[2] * z;
    *along2 = frame[3] * x + frame[4] * y + frame[5] * z;
}

static void sphere_jets(const manifold *self, size_t m, const double *x, size_t stride, int L, int parts, double *jet)
{
    enum { ORDERS = SPHERE_MAX_DEGREE + 1 };
    const size_t part = (size_t)sphere_functions(self, L) * m;
    double z[JET_POINTS], frame[JET_POINTS][6], p_aa[ORDERS];
    double columns[2][ORDERS + 1][JET_POINTS];             /* of this order and the next */
    double re[ORDERS][JET_POINTS], im[ORDERS][JET_POINTS]; /* (x + i y)^a */
    assert(L <= SPHERE_MAX_DEGREE && m <= JET_POINTS);
    for (size_t i = 0; i < m; i++) {
        z[i] = x[i * stride + 2];
        re[0][i] = 1.0;
        im[0][i] = 0.0;
        sphere_frame(x + i * stride, frame[i]);
    }
    p_aa[0] = 1.0 / sqrt(4.0 * NPMD_PI);
    for (int a = 1; a <= L; a++) {
        p_aa[a] = sqrt((2.0 * a + 1.0) / (2.0 * a)) * p_aa[a - 1];
        for (size_t i = 0; i < m; i++) {
            const double *at = x + i * stride;
            re[a][i] = re[a - 1][i] * at[0] - im[a - 1][i] * at[1];
            im[a][i] = re[a - 1][i] * at[1] + im[a - 1][i] * at[0];
        }
    }
    for (int a = L; a >= 0; a--) {
        double(*p)[JET_POINTS] = columns[a % 2], (*p_next)[JET_POINTS] = columns[1 - a % 2];
        const double sign = (a % 2 ? -1.0 : 1.0) * (a > 0 ? sqrt(2.0) : 1.0);
        sphere_legendre(m, z, L, a, p_aa[a], p);
        for (int l = a; l <= L; l++) {
            double *cosine = jet + (size_t)(l * l + l + a) * m, *sine = jet + (size_t)(l * l + l - a) * m;
            for (size_t i = 0; i < m; i++)
                cosine[i] = sign * p[l][i] * re[a][i];
            for (size_t i = 0; a > 0 && i < m; i++)
                sine[i] = sign * p[l][i] * im[a][i];
            if (parts == 1)
                continue;
            const double next = l == a ? 0.0 : sign * sqrt((l - a) * (l + a + 1.0));
            for (size_t i = 0; i < m; i++) {
                /* the gradient in R^3 of q(z) Re (x+iy)^a, and of the imaginary part */
                const double aq = a * sign * p[l][i], dq = l == a ? 0.0 : next * p_next[l][i];
                const double slope_re = a == 0 ? 0.0 : aq * re[a - 1][i], slope_im = a == 0 ? 0.0 : aq * im[a - 1][i];
                sphere_slopes(frame[i], slope_re, -slope_im, dq * re[a][i], cosine + part + i, cosine + 2 * part + i);
                if (a > 0)
                    sphere_slopes(frame[i], slope_im, slope_re, dq * im[a][i], sine + part + i, sine + 2 * part + i);
            }
        }
    }
}

/* N Gauss-Legendre heights, 2 N longitudes on each: exact up to degree 2 N - 1. */
static size_t sphere_rule_nodes(const manifold *self, size_t N)
{
    (void)self;
    return 2 * N * N;
}

static npmd_status sphere_rule(const manifold *self, size_t N, double *x, double *weight, npmd_error *err)
{
    (void)self;
    (void)err;
    double *z = weight, *share = weight + N; /* the first 2 N weights hold heights and their shares until the end */
    quadrature_legendre(N, z, share);
    for (size_t i = N; i-- > 0;) /* from the back, so that nothing is overwritten before it is used */
        for (size_t j = 0; j < 2 * N; j++) {
            const double r = sqrt((1.0 - z[i]) * (1.0 + z[i])), angle = NPMD_PI * ((double)j + 0.5) / (double)N;
            double *at = x + 3 * (i * 2 * N + j);
            at[0] = r * cos(angle);
            at[1] = r * sin(angle);
            at[2] = z[i];
        }
    for (size_t i = N; i-- > 1;)
        for (size_t j = 0; j < 2 * N; j++)
            weight[i * 2 * N + j] = share[i] / (2.0 * (double)N);
    const double first = share[0] / (2.0 * (double)N);
    for (size_t j = 0; j < 2 * N; j++)
        weight[j] = first;
    return NPMD_OK;
}

static void sphere_embed(const manifold *self, const double *x, double *e)
{
    (void)self;
    memcpy(e, x, 3 * sizeof *e);
}

/* von Mises-Fisher: kappa / (4 pi sinh kappa) exp(kappa) = kappa / (2 pi (1 - exp(-2 kappa))); nothing overflows. */
static double sphere_log_kernel(const manifold *self, double kappa)
{
    (void)self;
    if (kappa == 0.0)
        return -log(2.0 * TWO_PI);
    return log(kappa / (-TWO_PI * expm1(-2.0 * kappa)));
}

/* The height above the axis x has density ~ exp(kappa h) on [-1, 1]: by inversion, 1 - h = -log(1 - u (1 - exp(-2
 * kappa))) / kappa. */
static void sphere_kernel_draw(const manifold *self, const double *x, double kappa, rng_key key, uint64_t index,
                               uint32_t slot, double *y)
{
    const double below = fmin(2.0, -log1p(rng_uniform(key, index, slot) * expm1(-2.0 * kappa)) / kappa);
    const double sine = sqrt(below * (2.0 - below)), angle = TWO_PI * rng_uniform(key, index, slot + 1);
    double frame[6];
    sphere_frame(x, frame);
    for (int i = 0; i < 3; i++)
        y[i] = (1.0 - below) * x[i] + sine * (cos(angle) * frame[i] + sin(angle) * frame[3 + i]);
    sphere_canonical(self, y);
}

static void sphere_cauchy_draw(const manifold *self, const double *x, double rho, const double *u, double *y)
{
    (void)self;
    sphere_cauchy(x, rho, u, y);
}

const manifold SPHERE = {
    .name = "S2",
    .columns = 3,
    .dimension = 2,
    .volume = 4.0 * NPMD_PI,
    .scale = 1.0,
    .max_frequency = SPHERE_MAX_DEGREE,
    .canonical = sphere_canonical,
    .foreign_coords = NPMD_COORDS_LATLON,
    .foreign_columns = 2,
    .from_foreign = sphere_from_latlon,
    .to_foreign = sphere_to_latlon,
    .uniform = sphere_uniform_point,
    .ball = sphere_ball,
    .frame = sphere_tangents,
    .functions = sphere_functions,
    .frequency = sphere_degree,
    .eigenvalue = sphere_eigenvalue,
    .jets = sphere_jets,
    .spectral = true,
    .rule_nodes = sphere_rule_nodes,
    .rule = sphere_rule,
    .embedding = 3,
    .embed = sphere_embed,
    .embed_frame = sphere_tangents,
    .log_kernel = sphere_log_kernel,
    .kernel_draw = sphere_kernel_draw,
    .cauchy = sphere_cauchy_draw,
};
