/* geometry.h - manifolds and their products.
 *
 * A manifold is one table of functions, each of which gets the table as self; a new one is a new file and a line in the
 * list of domain_parse.c. A jet of a function at a point is its value, its derivatives along an orthonormal tangent
 * frame, and its Laplacian; for an eigenfunction the Laplacian is -eigenvalue x value, so a jet of eigenfunctions
 * stores value and derivatives only.
 *
 * A triangulated surface is such a table with state (surface_factor.h).
 *
 * Eigenfunctions of a factor are numbered 0, 1, 2 ... by rising frequency; they are orthonormal with respect to
 * Riemannian volume. */
#ifndef NPMD_GEOMETRY_H
#define NPMD_GEOMETRY_H

#include "core.h"

#define MANIFOLD_MAX_COLUMNS 3
#define MANIFOLD_MAX_DIMENSION 2
#define JET_POINTS 16
#define KERNEL_SLOTS 1024
#define DOMAIN_MAX_COLUMNS (NPMD_MAX_FACTORS * MANIFOLD_MAX_COLUMNS)
#define DOMAIN_MAX_DIMENSION (NPMD_MAX_FACTORS * MANIFOLD_MAX_DIMENSION)

typedef struct manifold manifold;
struct manifold {
    const char *name;
    int columns, dimension;
    double volume; /* in the user's units */
    /* Eigenvalues and derivatives are those of the manifold enlarged by this factor: 1 on S1 and S2; on a surface its
     * area becomes that of the unit sphere. */
    double scale;
    int max_frequency; /* the highest frequency (degree) whose eigenfunctions are accurate */
    void *state;       /* immutable; shared by its owners and freed by the last release; NULL: none */
    void (*retain)(const manifold *self);
    void (*release)(const manifold *self);

    /* Brings x (columns) to canonical form; returns NULL, or why that is impossible. */
    const char *(*canonical)(const manifold *self, double *x);
    /* Where the user's columns are not those of the point: locate finds the closest point of the manifold and returns
     * its distance; position goes back. NULL: the columns are the same. A distance above reach is an error, unless the
     * domain allows it. */
    double (*locate)(const manifold *self, const double *in, double *x);
    void (*position)(const manifold *self, const double *x, double *out);
    double reach;
    /* A factor from the columns of a file in other coordinates (degrees; latitude and longitude), and back. */
    unsigned foreign_coords; /* the NPMD_COORDS bit of these coordinates */
    int foreign_columns;
    const char *(*from_foreign)(const manifold *self, const double *in, double *x);
    void (*to_foreign)(const manifold *self, const double *x, double *out);

    void (*uniform)(const manifold *self, const double *u, double *x); /* u in [0,1)^dimension to a uniform point */
    /* A uniform point y of the geodesic ball of this radius (up to pi) about x, from u in [0,1)^dimension; returns the
     * ball's share of the volume. NULL: not available. */
    double (*ball)(const manifold *self, const double *x, double radius, const double *u, double *y);
    /* (dimension, columns): orthonormal tangent vectors at x, such that the gradient in the user's units is the sum of
     * derivative times vector. */
    void (*frame)(const manifold *self, const double *x, double *frame);

    int (*functions)(const manifold *self, int frequency); /* number of eigenfunctions up to this frequency */
    int (*frequency)(const manifold *self, int function);  /* frequency of an eigenfunction */
    double (*eigenvalue)(const manifold *self, int function);
    /* Jets of the first functions(frequency) eigenfunctions at m <= JET_POINTS points, stride numbers apart: jet
     * (parts, functions, m); parts is 1 for values, or 1 + dimension. Several points at a time, so that inner loops run
     * over points. */
    void (*jets)(const manifold *self, size_t m, const double *x, size_t stride, int frequency, int parts, double *jet);

    /* A quadrature rule of resolution N: x (nodes, columns), weight (nodes) with sum 1. A spectral one converges faster
     * than any power of N for smooth functions. */
    bool spectral;
    size_t (*rule_nodes)(const manifold *self, size_t N);
    npmd_status (*rule)(const manifold *self, size_t N, double *x, double *weight, npmd_error *err);

    /* For proposals. embed: x as a unit vector e(x). cauchy: the conformal image of a uniform point; for uniform u, y
     * has density ((1 - rho^2)/(1 + rho^2 - 2 rho e(x) . e(y)))^dimension relative to the uniform measure. */
    int embedding;
    void (*embed)(const manifold *self, const double *x, double *e);
    void (*cauchy)(const manifold *self, const double *x, double rho, const double *u, double *y);
    /* For kernels, where e(x) . e(y) is the cosine of the distance; NULL: it is not. frame (dimension, embedding): the
     * derivatives of e along the tangent frame. */
    void (*embed_frame)(const manifold *self, const double *x, double *frame);
    /* -log of the integral over y of exp(kappa (e(x) . e(y) - 1)): normalises the kernel to a density per volume. */
    double (*log_kernel)(const manifold *self, double kappa);
    /* A draw from that kernel about x, with the KERNEL_SLOTS uniform numbers of this key and index from slot on. */
    void (*kernel_draw)(const manifold *self, const double *x, double kappa, rng_key key, uint64_t index, uint32_t slot,
                        double *y);
};

extern const manifold CIRCLE, SPHERE;
double bessel_i0e(double x); /* exp(-x) I_0(x), x >= 0 */

struct npmd_domain {
    int factors, columns, dimension;
    const manifold *factor[NPMD_MAX_FACTORS];
    int column[NPMD_MAX_FACTORS];    /* first column of a factor in a point */
    int direction[NPMD_MAX_FACTORS]; /* first tangent direction of a factor */
    double volume;
    bool torus;          /* all factors are circles */
    bool surfaces;       /* some factor is a triangulated surface */
    double max_distance; /* largest distance of a point read from its surface; 0: each surface's own reach */
    char text[512];
};

/* Finds a surface; the caller releases *out. spelling: the text after "mesh:". */
typedef npmd_status (*surface_finder)(void *user, const char *spelling, const manifold **out, npmd_error *err);
npmd_status domain_parse(const char *text, surface_finder find, void *user, npmd_domain **out, npmd_error *err);
void manifold_retain(const manifold *m);
void manifold_release(const manifold *m);
void domain_add(npmd_domain *dom, const manifold *m);
void domain_spell(npmd_domain *dom); /* sets its text; runs of equal factors become powers */
int domain_number(const char **at);  /* reads digits; 0 if there are none or the number is above 99 */
/* A row from the domain's coordinates to the user's, in place. */
void domain_position(const npmd_domain *dom, double *x);
/* Are integrals over it computed by quadrature rules that converge faster than any power of their resolution? */
static inline bool domain_has_rules(const npmd_domain *dom)
{
    return dom->dimension <= 2 && !dom->surfaces;
}
/* The factor from a Laplacian to the user's units; 1 where the factors' scales differ, since then there is none. */
double domain_laplacian_unit(const npmd_domain *dom);
/* An error if some factor is a surface; what, for the message: "kernels are". */
npmd_status domain_refuse_surfaces(const npmd_domain *dom, const char *what, npmd_error *err);

void domain_uniform_point(const npmd_domain *dom, const double *u, double *x); /* u (dimension) */
/* The unit vectors of all factors side by side: their length; e (embedding); and its jet (dimension + 2, embedding),
 * whose last row is the Laplacian. */
int domain_embedding(const npmd_domain *dom);
void domain_embed(const npmd_domain *dom, const double *x, double *e);
void domain_embed_jet(const npmd_domain *dom, const double *x, double *jet);
/* domain_read: the domain of a text, with the surfaces of its files; how may be NULL. */
typedef struct surface_request {
    int elements;      /* 1 linear (also 0), 2 quadratic */
    int max_frequency; /* 0: usual */
    /* (frequencies): one for each factor instead, of which those of surfaces are read; NULL: none */
    const int *frequency;
    int frequencies;
    const char *cache; /* a folder that keeps eigenpairs; NULL: none */
    npmd_progress progress;
    void *user;
} surface_request;
npmd_status domain_read(const char *text, const surface_request *how, npmd_domain **out, npmd_error *err);
void domain_free(npmd_domain *dom);
npmd_status domain_within(const npmd_domain *dom, double max_distance, npmd_domain **out, npmd_error *err);
npmd_status domain_part(const npmd_domain *dom, unsigned factors, npmd_domain **out, npmd_error *err);
npmd_status factors_parse(const char *text, const npmd_domain *dom, unsigned *factors, npmd_error *err);
npmd_status domain_uniform(const npmd_domain *dom, const double *u, size_t n, double *x, npmd_error *err);
npmd_status domain_copy(const npmd_domain *dom, npmd_domain **out, npmd_error *err);
/* Brings x to canonical form; returns NULL, or why its factor *factor is no point. */
const char *domain_canonical(const npmd_domain *dom, double *x, int *factor);

/* ---- quadrature.c: nodes ----------------------------------------------------------------------------------------- */

/* Rows first .. first + n - 1 of a product grid on the torus: side[d] nodes along coordinate d, at 2 pi i / side, or,
 * when closed, at 2 pi i / (side - 1), so that both ends are nodes. */
void quadrature_torus(int dimension, const size_t *side, bool closed, size_t first, size_t n, double *x);
/* Gauss-Legendre nodes in (-1, 1) and weights that sum to 1. */
void quadrature_legendre(size_t n, double *z, double *weight);

#endif
