/* circle.c - the circle S1 = R / 2 pi Z: one angle in radians, on any branch.
 *
 * Eigenfunctions: number 0 is the constant 1/sqrt(2 pi); 2k - 1 is cos(k x)/sqrt(pi), 2k is sin(k x)/sqrt(pi),
 * eigenvalue k^2. The tangent frame is d/dx. */
#include "geometry.h"
#include "maps.h"

static const char *circle_canonical(const manifold *self, double *x)
{
    (void)self;
    if (*x >= 0.0 && *x < TWO_PI)
        return NULL;
    if (!isfinite(*x))
        return "is not finite";
    *x = circle_wrap(*x);
    return NULL;
}

static const char *circle_from_degrees(const manifold *self, const double *in, double *x)
{
    if (!isfinite(*in))
        return "is not finite";
    *x = fmod(*in, 360.0) * (NPMD_PI / 180.0); /* reduced before the multiplication: 720 is exactly 0 */
    return circle_canonical(self, x);
}

static void circle_to_degrees(const manifold *self, const double *x, double *out)
{
    (void)self;
    *out = *x * (180.0 / NPMD_PI);
}

static void circle_uniform_point(const manifold *self, const double *u, double *x)
{
    (void)self;
    circle_uniform(u, x);
}

static double circle_ball(const manifold *self, const double *x, double radius, const double *u, double *y)
{
    (void)self;
    *y = circle_wrap(*x + radius * (2.0 * *u - 1.0));
    return radius / NPMD_PI;
}

static void circle_frame(const manifold *self, const double *x, double *frame)
{
    (void)self;
    (void)x;
    frame[0] = 1.0;
}

static int circle_functions(const manifold *self, int frequency)
{
    (void)self;
    return 2 * frequency + 1;
}

static int circle_frequency(const manifold *self, int function)
{
    (void)self;
    return (function + 1) / 2;
}

static double circle_eigenvalue(const manifold *self, int function)
{
    const double k = circle_frequency(self, function);
    return k * k;
}

/* cos x and sin x without a branch, so that points share vector instructions: x = k pi + r, |r| <= pi/2, then
 * the Taylor series of r, whose next terms are below 2e-17. Absolute error below 4e-16 + 2^-53 |x|. */
static void circle_wave(size_t m, const double *x, size_t stride, double *cosine, double *sine)
{
    const double round = 0x1.8p52, pi_rest = 1.2246467991473532e-16; /* pi - NPMD_PI */
    for (size_t i = 0; i < m; i++) {
        const double at = x[i * stride], k = at * (1.0 / NPMD_PI) + round - round, half = k * 0.5 + round - round,
                     odd = k - 2.0 * half, sign = 1.0 - 2.0 * odd * odd, r = (at - k * NPMD_PI) - k * pi_rest,
                     z = r * r;
        double c = 1.0, s = 1.0; /* Horner, from the term of r^20 or r^21 down */
        for (int n = 20; n > 0; n -= 2) {
            c = 1.0 - z * c * (1.0 / (n * (n - 1)));
            s = 1.0 - z * s * (1.0 / (n * (n + 1)));
        }
        cosine[i] = sign * c;
        sine[i] = sign * r * s;
    }
}

/* e^{ikx} by products e^{i(a+b)x} = e^{iax} e^{ibx} with a = k/2; measured error 1.3e-14 at k = 200. */
static void circle_jets(const manifold *self, size_t m, const double *x, size_t stride, int frequency, int parts,
                        double *jet)
{
    const double c0 = 1.0 / sqrt(TWO_PI), c1 = 1.0 / sqrt(NPMD_PI);
    const size_t functions = (size_t)circle_functions(self, frequency);
    double *slopes = jet + functions * m;
    for (size_t i = 0; i < m; i++)
        jet[i] = c0;
    if (frequency > 0)
        circle_wave(m, x, stride, jet + m, jet + 2 * m);
    for (size_t k = 2; k <= (size_t)frequency; k++) {
        const size_t a = k / 2, b = k - a;
        const double *ca = jet + (2 * a - 1) * m, *cb = jet + (2 * b - 1) * m;
        double *c = jet + (2 * k - 1) * m;
        for (size_t i = 0; i < m; i++) { /* a sine stands m behind its cosine */
            c[i] = ca[i] * cb[i] - ca[m + i] * cb[m + i];
            c[m + i] = ca[m + i] * cb[i] + ca[i] * cb[m + i];
        }
    }
    for (size_t i = m; i < functions * m; i++)
        jet[i] *= c1;
    for (size_t k = 0; parts > 1 && k <= (size_t)frequency; k++)
        for (size_t i = 0; i < m; i++)
            if (k == 0) {
                slopes[i] = 0.0;
            } else {
                slopes[(2 * k - 1) * m + i] = -(double)k * jet[2 * k * m + i];
                slopes[2 * k * m + i] = (double)k * jet[(2 * k - 1) * m + i];
            }
}

static size_t circle_rule_nodes(const manifold *self, size_t N)
{
    (void)self;
    return N;
}

static npmd_status circle_rule(const manifold *self, size_t N, double *x, double *weight, npmd_error *err)
{
    (void)self;
    (void)err;
    quadrature_torus(1, &N, false, 0, N, x);
    for (size_t i = 0; i < N; i++)
        weight[i] = 1.0 / (double)N;
    return NPMD_OK;
}

static void circle_embed(const manifold *self, const double *x, double *e)
{
    (void)self;
    e[0] = cos(*x);
    e[1] = sin(*x);
}

static void circle_embed_frame(const manifold *self, const double *x, double *frame)
{
    (void)self;
    frame[0] = -sin(*x);
    frame[1] = cos(*x);
}

/* exp(-x) I_0(x). Up to 20 the power series sum (x^2/4)^k / (k!)^2, all terms positive (DLMF 10.25.2); above,
 * the asymptotic series sum ((2k-1)!!)^2 / (k! (8x)^k) / sqrt(2 pi x) (DLMF 10.40.1), whose smallest term,
 * near k = 2x, is about exp(-2x) < 1e-17. */
double bessel_i0e(double x)
{
    assert(x >= 0.0);
    double term = 1.0, sum = 1.0;
    if (x <= 20.0) {
        for (int k = 1; term > 1e-18 * sum; k++) {
            term *= 0.25 * x * x / ((double)k * k);
            sum += term;
        }
        return sum * exp(-x);
    }
    for (int k = 1; k < 40 && term > 1e-18; k++) {
        term *= (2.0 * k - 1.0) * (2.0 * k - 1.0) / (8.0 * k * x);
        sum += term;
    }
    return sum / sqrt(TWO_PI * x);
}

static double circle_log_kernel(const manifold *self, double kappa) /* von Mises */
{
    (void)self;
    return -log(TWO_PI * bessel_i0e(kappa));
}

/* Best and Fisher (1979): proposals are wrapped Cauchy with the rho that suits kappa. Written with 1 - rho, r - 1 and
 * 1 - cos, which keep their digits when kappa is large. Two thirds are accepted or more, so the slots never end. */
static void circle_kernel_draw(const manifold *self, const double *x, double kappa, rng_key key, uint64_t index,
                               uint32_t slot, double *y)
{
    const double root = sqrt(1.0 + 4.0 * kappa * kappa), tau = 1.0 + root;
    const double rest = (sqrt(2.0 * tau) - 1.0 - 1.0 / (root + 2.0 * kappa)) / (2.0 * kappa); /* 1 - rho */
    const double above = kappa < 1e-4 ? 1.0 / kappa : rest * rest / (2.0 * (1.0 - rest));     /* r - 1 */
    double half = 1.0;                                                                        /* (1 - cos) / 2 */
    for (uint32_t at = slot; at + 3 <= slot + KERNEL_SLOTS; at += 3) {
        const double s = sin(0.5 * NPMD_PI * rng_uniform(key, index, at)), from_one = 2.0 * s * s;
        const double near = above * from_one / (above + 2.0 - from_one), c = kappa * (above + near),
                     u = rng_uniform(key, index, at + 1);
        half = 0.5 * near;
        if (c * (2.0 - c) > u || log(c / u) + 1.0 - c >= 0.0)
            break;
    }
    const double angle = 2.0 * asin(sqrt(fmin(half, 1.0)));
    *y = *x + (rng_uniform(key, index, slot + 2) < 0.5 ? -angle : angle);
    circle_canonical(self, y);
}

static void circle_cauchy_draw(const manifold *self, const double *x, double rho, const double *u, double *y)
{
    (void)self;
    circle_cauchy(x, rho, u, y);
}

const manifold CIRCLE = {
    .name = "S1",
    .columns = 1,
    .dimension = 1,
    .volume = TWO_PI,
    .scale = 1.0,
    .max_frequency = 1024,
    .canonical = circle_canonical,
    .foreign_coords = NPMD_COORDS_DEGREES,
    .foreign_columns = 1,
    .from_foreign = circle_from_degrees,
    .to_foreign = circle_to_degrees,
    .uniform = circle_uniform_point,
    .ball = circle_ball,
    .frame = circle_frame,
    .functions = circle_functions,
    .frequency = circle_frequency,
    .eigenvalue = circle_eigenvalue,
    .jets = circle_jets,
    .spectral = true,
    .rule_nodes = circle_rule_nodes,
    .rule = circle_rule,
    .embedding = 2,
    .embed = circle_embed,
    .embed_frame = circle_embed_frame,
    .log_kernel = circle_log_kernel,
    .kernel_draw = circle_kernel_draw,
    .cauchy = circle_cauchy_draw,
};
