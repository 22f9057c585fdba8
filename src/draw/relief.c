/* relief.c - renders a triangle mesh: which face is seen at each sample, then its light, then averages over pixels.
 *
 * The light of a sample is the colour of its value, interpolated on the face and looked up there, times
 *
 *     AMBIENT + (1 - AMBIENT) (n . l)_+ ,     at most 1
 *
 * in linear light, with n the normal interpolated between vertices and l a light near the eye. What faces the eye keeps
 * its colour to a tenth, so that it can be compared with the colour bar; what is turned away gets darker, which shows
 * the shape. The picture is made in bands of rows: each is the work of one thread, and goes through the faces in their
 * order. */
#include "relief.h"

enum { BAND = 16 * RELIEF_SIDE, RAMP = 1024 }; /* rows of samples; colours, more than the eye tells apart */
static const double AMBIENT = 0.34;
/* From the upper left, near the eye; of unit length in (right, up, toward). */
static const double LIGHT[3] = { -0.28, 0.40, 0.8726970836 };
/* Full light comes a little before a face looks into the light: wide parts of a picture keep their colours. */
static const double GAIN = 1.06;

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static void normalise(double *a)
{
    const double length = sqrt(dot3(a, a));
    for (int k = 0; k < 3 && length > 0.0; k++)
        a[k] /= length;
}

relief_view relief_view_make(const double toward[3], const double up[3])
{
    relief_view v;
    memcpy(v.toward, toward, sizeof v.toward);
    normalise(v.toward);
    cross3(up, v.toward, v.right);
    normalise(v.right);
    cross3(v.toward, v.right, v.up);
    return v;
}

void relief_extent(const double *x, size_t n, const relief_view *view, double *low, double *high)
{
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double at[2] = { dot3(view->right, x + 3 * i), dot3(view->up, x + 3 * i) };
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
}

relief_spot relief_project(const relief_view *view, const relief_window *window, const double *x)
{
    const double scale = window->scale * RELIEF_SIDE;
    return (relief_spot){ (dot3(view->right, x) - window->left) * scale, (window->top - dot3(view->up, x)) * scale,
                          dot3(view->toward, x) };
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

relief_light relief_linear(colour c)
{
    return (relief_light){ (float)srgb_decode(c.red), (float)srgb_decode(c.green), (float)srgb_decode(c.blue) };
}

/* Which of the RAMP colours a value has; what lies beyond an end of the scale has that end's. */
static int ramp_place(const shade *how, double value)
{
    const double t = axis_place(&how->scale, fmin(fmax(value, how->scale.from), how->scale.to));
    return (int)lrint(fmin(fmax(t, 0.0), 1.0) * (RAMP - 1)); /* of an empty range, t NaN: the first */
}

/* ---- What one picture is made from ------------------------------------------------------------------------------- */

typedef struct shading {
    const relief_scene *scene;
    const relief_view *view;
    const relief_window *window;
    relief_spot *at; /* (vertices) */
    float *normal;   /* (vertices, 3), in (right, up, toward), of unit length */
    relief_light *ramp, ground;
    relief_samples samples;
} shading;

/* Normals of vertices: the sum of those of their faces, each as long as twice the face's area. */
static void normals_find(shading *s)
{
    const relief_scene *m = s->scene;
    for (size_t f = 0; f < m->faces; f++) {
        const int32_t *c = m->face + 3 * f;
        const double *x0 = m->x + 3 * (size_t)c[0];
        double a[3], b[3], n[3];
        minus3(m->x + 3 * (size_t)c[1], x0, a);
        minus3(m->x + 3 * (size_t)c[2], x0, b);
        cross3(a, b, n);
        const double seen[3] = { dot3(n, s->view->right), dot3(n, s->view->up), dot3(n, s->view->toward) };
        for (int corner = 0; corner < 3; corner++)
            for (size_t k = 0; k < 3; k++)
                s->normal[3 * (size_t)c[corner] + k] += (float)seen[k];
    }
    for (size_t i = 0; i < m->vertices; i++) {
        float *n = s->normal + 3 * i;
        const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3 && length > 0.0F; k++)
            n[k] /= length;
    }
}

static npmd_status shading_open(shading *s, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const relief_scene *m = s->scene;
    s->samples.width = s->window->width * RELIEF_SIDE;
    s->samples.height = s->window->height * RELIEF_SIDE;
    const size_t samples = (size_t)s->samples.width * (size_t)s->samples.height;
    TRY(memory_new(&s->at, m->vertices, err));
    TRY(memory_new(&s->normal, 3 * m->vertices, err));
    TRY(memory_new(&s->ramp, RAMP, err));
    TRY(memory_new(&s->samples.face, samples, err));
    TRY(memory_new(&s->samples.depth, samples, err));
    for (size_t i = 0; i < m->vertices; i++)
        s->at[i] = relief_project(s->view, s->window, m->x + 3 * i);
    for (int i = 0; i < RAMP && m->how != NULL; i++)
        s->ramp[i] = relief_linear(map_colour(m->how->map, (double)i / (RAMP - 1)));
    s->ground = relief_linear(m->ground);
    normals_find(s);
done:
    return st;
}

/* ---- Which face is seen ------------------------------------------------------------------------------------------ */

/* Barycentric coordinates of (x, y) in the projected face; false: it is seen edge-on. */
static bool barycentric(const shading *s, size_t face, double x, double y, double w[3])
{
    const int32_t *c = s->scene->face + 3 * face;
    const relief_spot a = s->at[c[0]], b = s->at[c[1]], d = s->at[c[2]];
    const double twice = (b.x - a.x) * (d.y - a.y) - (b.y - a.y) * (d.x - a.x);
    w[1] = ((x - a.x) * (d.y - a.y) - (y - a.y) * (d.x - a.x)) / twice;
    w[2] = ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / twice;
    w[0] = 1.0 - w[1] - w[2];
    return twice != 0.0;
}

static double least(double a, double b, double c)
{
    return fmin(a, fmin(b, c));
}

/* The samples of one face in rows first .. last - 1: those it covers nearer than what was there. */
static void face_draw(shading *s, size_t face, int first, int last)
{
    const int32_t *c = s->scene->face + 3 * face;
    const relief_spot a = s->at[c[0]], b = s->at[c[1]], d = s->at[c[2]];
    const double top = least(a.y, b.y, d.y), bottom = -least(-a.y, -b.y, -d.y);
    const double left = least(a.x, b.x, d.x), right = -least(-a.x, -b.x, -d.x);
    if (bottom < first || top > last || right < 0.0 || left > s->samples.width)
        return;
    const int y0 = (int)fmax(top - 0.5, first), y1 = (int)fmin(bottom + 1.0, last);
    const int x0 = (int)fmax(left - 0.5, 0.0), x1 = (int)fmin(right + 1.0, s->samples.width);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double w[3];
            if (!barycentric(s, face, x + 0.5, y + 0.5, w) || w[0] < 0.0 || w[1] < 0.0 || w[2] < 0.0)
                continue;
            const size_t k = (size_t)y * (size_t)s->samples.width + (size_t)x;
            const float depth = (float)(w[0] * a.z + w[1] * b.z + w[2] * d.z);
            if (depth > s->samples.depth[k]) {
                s->samples.depth[k] = depth;
                s->samples.face[k] = (int32_t)face;
            }
        }
}

static void band_cover(shading *s, int first, int last)
{
    const size_t width = (size_t)s->samples.width;
    for (size_t k = (size_t)first * width; k < (size_t)last * width; k++) {
        s->samples.face[k] = -1;
        s->samples.depth[k] = -INFINITY;
    }
    for (size_t f = 0; f < s->scene->faces; f++)
        face_draw(s, f, first, last);
}

/* ---- Its light --------------------------------------------------------------------------------------------------- */

typedef struct tint {
    double red, green, blue, alpha; /* linear light times alpha */
} tint;

static tint tint_over(tint front, tint back)
{
    const double through = 1.0 - front.alpha;
    return (tint){ front.red + through * back.red, front.green + through * back.green, front.blue + through * back.blue,
                   front.alpha + through * back.alpha };
}

static tint tint_of(relief_light l, double brightness, double alpha)
{
    const double a = alpha * brightness;
    return (tint){ a * (double)l.red, a * (double)l.green, a * (double)l.blue, alpha };
}

static relief_light value_light(const shading *s, const int32_t *corner, const double *w)
{
    const double *value = s->scene->value;
    if (value == NULL)
        return s->ground;
    double v = w[0] * value[corner[0]] + w[1] * value[corner[1]] + w[2] * value[corner[2]];
    if (s->scene->how->scale.kind == AXIS_LOG && !isnan(v)) { /* what is shown is the logarithm: that is interpolated */
        const double least = 1e-3 * s->scene->how->scale.from;
        double sum = 0.0;
        for (int k = 0; k < 3; k++)
            sum += w[k] * log(fmax(value[corner[k]], least));
        v = exp(sum);
    }
    return isnan(v) ? s->ground : s->ramp[ramp_place(s->scene->how, v)];
}

/* The surface at a sample. A translucent one is denser where it turns away from the eye, as glass is: its rim stays
 * visible. */
static tint surface_tint(const shading *s, size_t face, double x, double y)
{
    const int32_t *c = s->scene->face + 3 * face;
    double w[3], n[3];
    barycentric(s, face, x, y, w);
    for (size_t k = 0; k < 3; k++)
        n[k] = w[0] * (double)s->normal[3 * (size_t)c[0] + k] + w[1] * (double)s->normal[3 * (size_t)c[1] + k]
               + w[2] * (double)s->normal[3 * (size_t)c[2] + k];
    normalise(n);
    const double side = n[2] < 0.0 ? -1.0 : 1.0; /* faces may be oriented either way: the one seen faces the eye */
    const double lit = fmin(GAIN * fmax(side * dot3(n, LIGHT), 0.0), 1.0);
    const double away = 1.0 - fabs(n[2]);
    const double alpha = s->scene->opacity + (1.0 - s->scene->opacity) * away * away;
    return tint_of(value_light(s, c, w), AMBIENT + (1.0 - AMBIENT) * lit, alpha);
}

static tint sample_tint(const shading *s, const relief_over *over, int x, int y)
{
    const size_t k = (size_t)y * (size_t)s->samples.width + (size_t)x;
    const size_t o = (size_t)(y - over->first) * (size_t)s->samples.width + (size_t)x;
    const int32_t face = s->samples.face[k];
    const tint nothing = { 0.0, 0.0, 0.0, 0.0 };
    const tint line = over->cover[o] ? tint_of(over->light[o], 1.0, 1.0) : nothing;
    if (face < 0 || over->cover[o] == 1)
        return line;
    return tint_over(surface_tint(s, (size_t)face, x + 0.5, y + 0.5), line);
}

/* Pixels of one row from their samples. */
static void row_resolve(const shading *s, const relief_over *over, int row, relief_image *out)
{
    const double share = 1.0 / (RELIEF_SIDE * RELIEF_SIDE);
    for (int column = 0; column < out->width; column++) {
        tint sum = { 0.0, 0.0, 0.0, 0.0 };
        for (int k = 0; k < RELIEF_SIDE * RELIEF_SIDE; k++) {
            const tint t = sample_tint(s, over, column * RELIEF_SIDE + k % RELIEF_SIDE,
                                       row * RELIEF_SIDE + k / RELIEF_SIDE);
            sum.red += t.red, sum.green += t.green, sum.blue += t.blue, sum.alpha += t.alpha;
        }
        unsigned char *p = out->rgba + 4 * ((size_t)row * (size_t)out->width + (size_t)column);
        const double one = sum.alpha > 0.0 ? 1.0 / sum.alpha : 0.0;
        p[0] = srgb_encode(one * sum.red), p[1] = srgb_encode(one * sum.green), p[2] = srgb_encode(one * sum.blue);
        p[3] = (unsigned char)lrint(255.0 * fmin(share * sum.alpha, 1.0));
    }
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* Room for what lies over one band, one for each thread. */
static npmd_status overs_open(int threads, int width, relief_over **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t samples = (size_t)BAND * (size_t)width;
    TRY(memory_new(out, threads, err));
    for (int t = 0; t < threads; t++) {
        TRY(memory_new(&(*out)[t].cover, samples, err));
        TRY(memory_new(&(*out)[t].depth, samples, err));
        TRY(memory_new(&(*out)[t].light, samples, err));
    }
done:
    return st;
}

static void overs_close(relief_over *overs, int threads)
{
    for (int t = 0; overs != NULL && t < threads; t++) {
        memory_free_all(overs[t].cover, overs[t].depth, overs[t].light);
    }
    memory_free(overs);
}

static void band_resolve(const shading *s, relief_over *over, int first, relief_image *out)
{
    const int last = first + BAND < s->samples.height ? first + BAND : s->samples.height;
    over->first = first;
    over->rows = last - first;
    memset(over->cover, 0, (size_t)over->rows * (size_t)s->samples.width);
    relief_over_draw(s->scene, s->view, s->window, &s->samples, over);
    for (int row = first / RELIEF_SIDE; row < last / RELIEF_SIDE; row++)
        row_resolve(s, over, row, out);
}

npmd_status relief_render(const relief_scene *scene, const relief_view *view, const relief_window *window, int threads,
                          relief_image *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    shading s = { .scene = scene, .view = view, .window = window };
    relief_image image = { .width = window->width, .height = window->height };
    relief_over *overs = NULL;
    const int T = threads_wanted(threads);
    assert(window->width > 0 && window->height > 0 && window->scale > 0.0);
    TRY(shading_open(&s, err));
    TRY(overs_open(T, s.samples.width, &overs, err));
    TRY(memory_new(&image.rgba, 4 * (size_t)image.width * (size_t)image.height, err));
    const int bands = (s.samples.height + BAND - 1) / BAND;
#pragma omp parallel for schedule(dynamic, 1) num_threads(T)
    for (int b = 0; b < bands; b++)
        band_cover(&s, b * BAND, (b + 1) * BAND < s.samples.height ? (b + 1) * BAND : s.samples.height);
#pragma omp parallel for schedule(dynamic, 1) num_threads(T)
    for (int b = 0; b < bands; b++)
        band_resolve(&s, &overs[omp_get_thread_num()], b * BAND, &image);
    *out = image;
    image.rgba = NULL;
done:
    relief_image_free(&image);
    overs_close(overs, T);
    memory_free_all(s.at, s.normal, s.ramp, s.samples.face, s.samples.depth);
    return st;
}

void relief_image_free(relief_image *image)
{
    memory_free(image->rgba);
    image->rgba = NULL;
}
