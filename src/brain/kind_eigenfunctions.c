/* kind_eigenfunctions.c - eigenfunctions of the Laplacian that share an eigenvalue: products over the factors, beside
 * other functions of the same eigenspace.
 *
 *   T2     lambda = a^2 + b^2: cos(a x1) cos(b x2), and plane waves cos(a x1 + b x2)
 *   S2     lambda = l (l + 1): harmonics of degree l about the axis z, and the same about another axis
 *   mesh   eigenvalues are usually simple: four functions from the one asked for
 *
 * All are orthonormal with respect to volume. */
#include "brain.h"

#include <stdio.h>

enum { SHOWN = 4, GRID = 256, BALL_STEPS = 90 };
#define X1 "x\xE2\x82\x81"
#define X2 "x\xE2\x82\x82"

/* ---- T2 ---------------------------------------------------------------------------------------------------------- */

typedef struct wave { /* amplitude times cos(k1 x1 + k2 x2), or cos(k1 x1) cos(k2 x2), or sin sin */
    int k1, k2;
    enum { WAVE_PLANE, WAVE_COSINES, WAVE_SINES } form;
} wave;

static double wave_at(const wave *w, double x1, double x2)
{
    if (w->form == WAVE_PLANE)
        return cos(w->k1 * x1 + w->k2 * x2) / (sqrt(2.0) * NPMD_PI);
    if (w->form == WAVE_COSINES)
        return cos(w->k1 * x1) * cos(w->k2 * x2) / NPMD_PI;
    return sin(w->k1 * x1) * sin(w->k2 * x2) / NPMD_PI;
}

static void angle_words(int k, const char *x, char text[24])
{
    if (k == 1)
        snprintf(text, 24, "%s", x);
    else
        snprintf(text, 24, "%d %s", k, x);
}

static void wave_words(const wave *w, char text[96])
{
    char a[24], b[24];
    angle_words(w->k1, X1, a);
    angle_words(abs(w->k2), X2, b);
    if (w->form == WAVE_PLANE)
        snprintf(text, 96, "cos(%s %s %s)", a, w->k2 < 0 ? "\xE2\x88\x92" : "+", b);
    else if (w->form == WAVE_COSINES)
        snprintf(text, 96, "cos %s cos %s", a, b);
    else
        snprintf(text, 96, "sin %s sin %s", a, b);
}

/* The first a <= b with a^2 + b^2 = lambda, both at least 1. */
static npmd_status frequencies_find(double lambda, int *a, int *b, npmd_error *err)
{
    for (int i = 1; 2.0 * i * i <= lambda && i < 1000; i++) {
        const int j = (int)lrint(sqrt(lambda - (double)i * i));
        if ((double)i * i + (double)j * j == lambda) {
            *a = i;
            *b = j;
            return NPMD_OK;
        }
    }
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "the eigenvalue %g of T2 is no a^2 + b^2 with whole a and b above 0, such as 2, 5, 13 or 20",
                     lambda);
}

static npmd_status wave_draw(figure *f, box at, const wave *w, const shade *how, unsigned parts, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const axis x = { AXIS_PI, 0.0, TWO_PI, X1 }, y = { AXIS_PI, 0.0, TWO_PI, X2 };
    unsigned char *rgba = NULL;
    char words[96];
    TRY(memory_new(&rgba, 4 * GRID * GRID, err));
    for (int j = 0; j < GRID; j++)
        for (int i = 0; i < GRID; i++) {
            const double value = wave_at(w, TWO_PI * (i + 0.5) / GRID, TWO_PI * (GRID - j - 0.5) / GRID);
            const colour c = shade_colour(how, value);
            const unsigned char pixel[4] = { c.red, c.green, c.blue, 255 };
            memcpy(rgba + 4 * (j * GRID + i), pixel, 4);
        }
    canvas_image(f->page, at, rgba, GRID, GRID);
    axes_draw(f->page, at, &x, &y, parts);
    wave_words(w, words);
    canvas_text(f->page, at.x + 0.5 * at.width, at.y - 4.0, TEXT_CENTRE, 0.0, &LETTER_NAME, words);
done:
    memory_free(rgba);
    return st;
}

static npmd_status torus_draw(figure *f, double lambda, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const char *const HEADS[2] = { "not separable", "separable" };
    int a = 0, b = 0;
    TRY(frequencies_find(lambda, &a, &b, err));
    const wave waves[SHOWN] = {
        { a, b, WAVE_PLANE }, { a, b, WAVE_COSINES }, { b, -a, WAVE_PLANE }, { b, a, WAVE_SINES }
    };
    const shade how = { .map = MAP_BALANCED, .scale = { AXIS_LINEAR, -1.0 / NPMD_PI, 1.0 / NPMD_PI, "eigenfunction" } };
    const double width = figure_width(f, 120.0), left = 38.0, top = figure_top(f) + 32.0;
    const double side = (width - left - 20.0 - 56.0) / 2.0;
    const panel_grid grid = { left, top, side, side, 20.0, 22.0, 2 };
    TRY(figure_room(f, width, 2, side, 24.0, err));
    TRY(figure_page(f, width, top + 2.0 * side + 22.0 + 30.0, err));
    for (int k = 0; k < SHOWN; k++) {
        const unsigned parts = (k % 2 == 1 ? AXES_NO_Y_LABELS | AXES_NO_Y_NAME : 0)
                               | (k < 2 ? AXES_NO_X_LABELS | AXES_NO_X_NAME : 0);
        TRY(wave_draw(f, panel_box(&grid, k), &waves[k], &how, parts, err));
        if (k < 2)
            canvas_text(f->page, panel_box(&grid, k).x + 0.5 * side, top - 20.0, TEXT_CENTRE, 0.0, &LETTER_TITLE,
                        HEADS[k]);
    }
    bar_draw(f->page, (box){ left + 2.0 * side + 32.0, top, 7.0, 2.0 * side + 22.0 }, &how);
    figure_shows(f, SHOWN, &how.scale);
done:
    return st;
}

/* ---- on surfaces ------------------------------------------------------------------------------------------------- */

/* Four functions on one mesh, on one scale. value[k] (vertices). */
static npmd_status functions_draw(figure *f, const mesh *m, double *const value[SHOWN], const relief_view *side,
                                  const char *const *names, const char *const *titles, npmd_error *err)
{
    relief_scene scene[SHOWN];
    relief_panel panel[SHOWN];
    double most = 0.0;
    for (int k = 0; k < SHOWN; k++)
        for (size_t i = 0; i < m->vertices; i++)
            most = fmax(most, fabs(value[k][i]));
    const shade how = { .map = MAP_BALANCED,
                        .scale = { AXIS_LINEAR, -most, most > 0.0 ? most : 1.0, "eigenfunction" } };
    const surface_scene plain = { .m = m };
    for (int k = 0; k < SHOWN; k++) {
        scene[k] = surface_scene_relief(&plain, value[k], &how);
        panel[k] = (relief_panel){ .scene = &scene[k], .view = *side, .name = names[k] };
    }
    const relief_page page = { .rows = 2,
                               .columns = 2,
                               .panel = panel,
                               .cell = (figure_width(f, 120.0) - 80.0) / 2.0,
                               .titles = titles,
                               .bars = &how,
                               .bar_count = 1,
                               .head = figure_top(f) };
    return surface_page_draw(f, &page, err);
}

/* The harmonic of degree l and order a >= 0 that is even in y, at a unit vector: with q the degree that runs,
 *     p_aa = sqrt((2a + 1)/(2a)) p_(a-1)(a-1),   p_00 = 1/sqrt(4 pi)
 *     p_qa = c_q (z p_(q-1)a - p_(q-2)a / c_(q-1)),   c_q = sqrt((4 q^2 - 1)/(q^2 - a^2))
 *     Y = (-1)^a sqrt 2 p_la Re (x + i y)^a, of order 0 without the sqrt 2. */
static double harmonic_at(int l, int a, const double x[3])
{
    double p = 1.0 / sqrt(4.0 * NPMD_PI), before = 0.0, c_before = 1.0, re = 1.0, im = 0.0;
    for (int k = 1; k <= a; k++) {
        const double turned = re * x[0] - im * x[1];
        im = re * x[1] + im * x[0];
        re = turned;
        p *= sqrt((2.0 * k + 1.0) / (2.0 * k));
    }
    for (int q = a + 1; q <= l; q++) {
        const double c = sqrt((4.0 * q * q - 1.0) / ((double)q * q - (double)a * a)),
                     next = c * (x[2] * p) - (q == a + 1 ? 0.0 : c / c_before) * before;
        before = p;
        p = next;
        c_before = c;
    }
    return (a % 2 ? -1.0 : 1.0) * (a > 0 ? sqrt(2.0) : 1.0) * p * re;
}

static void harmonics_values(const mesh *ball, int degree, int order, const double turn[3][3], double *out)
{
    for (size_t i = 0; i < ball->vertices; i++) {
        const double *x = ball->x + 3 * i;
        double y[3];
        for (int k = 0; k < 3; k++)
            y[k] = turn[k][0] * x[0] + turn[k][1] * x[1] + turn[k][2] * x[2];
        out[i] = harmonic_at(degree, order, y);
    }
}

static npmd_status sphere_draw(figure *f, double lambda, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const char *const TITLES[2] = { "about another axis", "about the axis z" };
    static const double ITSELF[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    /* by 50 degrees about x, then by 35 about y: an axis between all three */
    static const double TURNED[3][3] = { { 0.8191520443, 0.4393852345, 0.3686876968 },
                                         { 0.0, 0.6427876097, -0.7660444431 },
                                         { -0.5735764364, 0.6275068716, 0.5265407845 } };
    const double eye[3] = { 1.0, -1.4, 0.75 };
    const int degree = (int)lrint(0.5 * (sqrt(1.0 + 4.0 * lambda) - 1.0));
    const int orders[2] = { degree > 1 ? (degree + 1) / 2 : degree, degree > 2 ? degree - 1 : 0 };
    mesh ball = { 0 };
    double *value[SHOWN] = { NULL };
    char words[2][32];
    if (degree < 1 || degree > 64 || (double)degree * (degree + 1) != lambda)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "the eigenvalue %g of S2 is no l (l + 1), such as 2, 6, 12 or 20",
                      lambda));
    TRY(ball_make(BALL_STEPS, &ball, err));
    for (int k = 0; k < SHOWN; k++) {
        TRY(memory_new(&value[k], ball.vertices, err));
        harmonics_values(&ball, degree, orders[k / 2], k % 2 == 0 ? TURNED : ITSELF, value[k]);
    }
    for (int k = 0; k < 2; k++)
        snprintf(words[k], sizeof words[k], "degree %d, order %d", degree, orders[k]);
    const char *const names[SHOWN] = { words[0], words[0], words[1], words[1] };
    const relief_view side = surface_view_towards(eye);
    TRY(functions_draw(f, &ball, value, &side, names, TITLES, err));
done:
    for (int k = 0; k < SHOWN; k++)
        memory_free(value[k]);
    mesh_free(&ball);
    return st;
}

static npmd_status mesh_draw(figure *f, const char *path, int first, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_surface *surface = NULL;
    mesh m = { 0 };
    surface_views views;
    double *lambda = NULL, *phi = NULL, *value[SHOWN] = { NULL };
    char words[SHOWN][64];
    compute_part part = { f->how, "picture", 0.0, 1.0 };
    const npmd_compute own = compute_of_part(&part);
    const size_t pairs = (size_t)(first + SHOWN);
    TRY(surface_views_find(f->ask->surfaces, path, &views, err));
    TRY(npmd_surface_read(path, &surface, err));
    TRY(mesh_of_surface(surface, &m, err));
    if (first < 0 || first > 10000)
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "the number of an eigenfunction is %d, expected 0 to 10000", first));
    TRY(memory_new(&lambda, pairs, err));
    TRY(memory_new(&phi, m.vertices * pairs, err));
    TRY(npmd_surface_eigen(surface, 1, (int)pairs, &own, lambda, phi, NULL, err));
    for (int k = 0; k < SHOWN; k++) {
        TRY(memory_new(&value[k], m.vertices, err));
        for (size_t i = 0; i < m.vertices; i++)
            value[k][i] = phi[i * pairs + (size_t)(first + k)];
        snprintf(words[k], sizeof words[k], "number %d, eigenvalue %.4g", first + k, lambda[first + k]);
    }
    const char *const names[SHOWN] = { words[0], words[1], words[2], words[3] };
    TRY(functions_draw(f, &m, value, &views.view[0], names, NULL, err));
done:
    for (int k = 0; k < SHOWN; k++)
        memory_free(value[k]);
    memory_free_all(lambda, phi);
    mesh_free(&m);
    npmd_surface_free(surface);
    return st;
}

/* ---- the kind ---------------------------------------------------------------------------------------------------- */

static npmd_status eigenfunctions_draw(figure *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_plot_surfaces *ask = f->ask->surfaces;
    const double lambda = ask->eigenvalue > 0.0 ? ask->eigenvalue : 20.0;
    npmd_domain *dom = NULL;
    if (strncmp(ask->domain, "mesh:", 5) == 0)
        return mesh_draw(f, ask->domain + 5, ask->function > 0 ? ask->function : 9, err);
    TRY(npmd_domain_parse(ask->domain, &dom, err));
    const char *text = npmd_domain_text(dom);
    if (strcmp(text, "S1^2") == 0)
        TRY(torus_draw(f, lambda, err));
    else if (strcmp(text, "S2") == 0)
        TRY(sphere_draw(f, lambda, err));
    else
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "eigenfunctions are drawn on S1^2, on S2 and on mesh:FILE, not on %s",
                       text);
done:
    npmd_domain_free(dom);
    return st;
}

static bool eigenfunctions_takes(const figure *f)
{
    return f->ask->surfaces != NULL && f->ask->surfaces->domain != NULL;
}

const figure_kind KIND_EIGENFUNCTIONS = { .name = "eigenfunctions",
                                          .help = "eigenfunctions of one eigenvalue, separable and not",
                                          .fits = eigenfunctions_takes,
                                          .wants = "`domain`",
                                          .takes = eigenfunctions_takes,
                                          .draw = eigenfunctions_draw };
