/* spheres.c - icospheres. */
#include "spheres.h"

static const int32_t FACES[20][3] = {
    { 0, 11, 5 },  { 0, 5, 1 },  { 0, 1, 7 },  { 0, 7, 10 }, { 0, 10, 11 }, { 1, 5, 9 }, { 5, 11, 4 },
    { 11, 10, 2 }, { 10, 7, 6 }, { 7, 1, 8 },  { 3, 9, 4 },  { 3, 4, 2 },   { 3, 2, 6 }, { 3, 6, 8 },
    { 3, 8, 9 },   { 4, 9, 5 },  { 2, 4, 11 }, { 6, 2, 10 }, { 8, 6, 7 },   { 9, 8, 1 },
};

static void put_vertex(icosphere *s, double x, double y, double z, double radius)
{
    const double r = sqrt(x * x + y * y + z * z) / radius, at[3] = { x / r, y / r, z / r };
    memcpy(s->x + 3 * s->vertices++, at, sizeof at);
}

/* The middle of an edge, made when it is met first; met (faces x 3, 3): ends and middle of edges so far. */
static int32_t middle(icosphere *s, int32_t a, int32_t b, double radius, int32_t *met, size_t *count)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (size_t i = *count; i-- > 0;) /* the other face of an edge is near */
        if (met[3 * i] == low && met[3 * i + 1] == high)
            return met[3 * i + 2];
    const double *p = s->x + 3 * (size_t)low, *q = s->x + 3 * (size_t)high;
    const int32_t made[3] = { low, high, (int32_t)s->vertices };
    memcpy(met + 3 * (*count)++, made, sizeof made);
    put_vertex(s, p[0] + q[0], p[1] + q[1], p[2] + q[2], radius);
    return made[2];
}

static void refine(icosphere *s, double radius)
{
    int32_t *face = malloc(12 * s->faces * sizeof *face), *met = malloc(9 * s->faces * sizeof *met);
    size_t count = 0;
    assert_non_null(face);
    assert_non_null(met);
    for (size_t f = 0; f < s->faces; f++) {
        const int32_t a = s->face[3 * f], b = s->face[3 * f + 1], c = s->face[3 * f + 2];
        const int32_t ab = middle(s, a, b, radius, met, &count), bc = middle(s, b, c, radius, met, &count),
                      ca = middle(s, c, a, radius, met, &count);
        const int32_t made[12] = { a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca };
        memcpy(face + 12 * f, made, sizeof made);
    }
    free(met);
    free(s->face);
    s->face = face;
    s->faces *= 4;
}

icosphere icosphere_make(int refinements, double radius)
{
    const double p = 0.5 + 0.5 * sqrt(5.0);
    icosphere s = { .faces = 20 };
    size_t vertices = 10;
    for (int i = 0; i < refinements; i++)
        vertices *= 4;
    s.x = malloc(3 * (vertices + 2) * sizeof *s.x);
    s.face = malloc(sizeof FACES);
    assert_non_null(s.x);
    assert_non_null(s.face);
    memcpy(s.face, FACES, sizeof FACES);
    for (int i = 0; i < 12; i++) { /* (+-1, +-p, 0) and its turns */
        const double one = i % 2 ? 1.0 : -1.0, other = i % 4 < 2 ? p : -p;
        if (i < 4)
            put_vertex(&s, one, other, 0.0, radius);
        else if (i < 8)
            put_vertex(&s, 0.0, one, other, radius);
        else
            put_vertex(&s, other, 0.0, one, radius);
    }
    for (int i = 0; i < refinements; i++)
        refine(&s, radius);
    assert_int_equal(s.vertices, vertices + 2);
    return s;
}

void icosphere_free(icosphere *s)
{
    free(s->x);
    free(s->face);
    *s = (icosphere){ 0 };
}

double icosphere_edge(const icosphere *s)
{
    double longest = 0.0;
    for (size_t i = 0; i < 3 * s->faces; i++) {
        const double *a = s->x + 3 * (size_t)s->face[i], *b = s->x + 3 * (size_t)s->face[i / 3 * 3 + (i + 1) % 3];
        longest = fmax(longest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    }
    return longest;
}

char *icosphere_off(const icosphere *s)
{
    const size_t room = 80 * (s->vertices + s->faces + 1);
    char *text = malloc(room);
    assert_non_null(text);
    size_t at = (size_t)snprintf(text, room, "OFF\n%zu %zu 0\n", s->vertices, s->faces);
    for (size_t i = 0; i < s->vertices; i++)
        at += (size_t)snprintf(text + at, room - at, "%.17g %.17g %.17g\n", s->x[3 * i], s->x[3 * i + 1],
                               s->x[3 * i + 2]);
    for (size_t i = 0; i < s->faces; i++)
        at += (size_t)snprintf(text + at, room - at, "3 %d %d %d\n", s->face[3 * i], s->face[3 * i + 1],
                               s->face[3 * i + 2]);
    return text;
}
