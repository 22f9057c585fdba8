/* surface_views.c - the sides a surface is seen from.
 *
 * Coordinates of brains are RAS: x to the right, y to the front, z up. A hemisphere is seen upright from its lateral
 * and medial side, and lying from above and below, with the front at the left of both, so that four views fit into two
 * rows. For any other surface an axis points up, z by default, and a side is named by the axis on which the eye is. */
#include "brain.h"

#include <stdio.h>
#include <strings.h>

typedef struct side {
    const char *name;
    double eye[3], up[3];
    bool mirrored; /* of the right hemisphere: eye and up have the other sign of x */
} side;
static const side SIDES[] = {
    { "lateral", { -1, 0, 0 }, { 0, 0, 1 }, true },  { "medial", { 1, 0, 0 }, { 0, 0, 1 }, true },
    { "dorsal", { 0, 0, 1 }, { 1, 0, 0 }, true },    { "ventral", { 0, 0, -1 }, { -1, 0, 0 }, true },
    { "anterior", { 0, 1, 0 }, { 0, 0, 1 }, false }, { "posterior", { 0, -1, 0 }, { 0, 0, 1 }, false },
};
#define SIDE_COUNT (sizeof SIDES / sizeof *SIDES)

/* ---- which hemisphere -------------------------------------------------------------------------------------------- */

/* -1 left, 1 right, 0 not said, by the word that programs put into names: lh.white, white_left.gii, hemi-L. */
static int hemisphere_of_name(const char *path)
{
    static const struct {
        const char *word;
        int side;
    } WORDS[] = { { "lh", -1 }, { "left", -1 }, { "hemi-L", -1 }, { "hemi-left", -1 },
                  { "rh", 1 },  { "right", 1 }, { "hemi-R", 1 },  { "hemi-right", 1 } };
    const char *slash = strrchr(path, '/');
    for (const char *p = slash ? slash + 1 : path; *p != 0;) {
        const size_t size = strcspn(p, "._");
        for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
            if (strlen(WORDS[k].word) == size && strncmp(p, WORDS[k].word, size) == 0)
                return WORDS[k].side;
        p += size + (p[size] != 0);
    }
    return 0;
}

static npmd_status hemisphere_find(const npmd_plot_surfaces *ask, const char *file, int *out, npmd_error *err)
{
    const char *said = ask->hemisphere;
    if (said != NULL && strcmp(said, "left") != 0 && strcmp(said, "right") != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "the hemisphere is '%.40s', expected left or right", said);
    *out = said != NULL ? (*said == 'l' ? -1 : 1) : file != NULL ? hemisphere_of_name(file) : 0;
    return NPMD_OK;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

relief_view surface_view_towards(const double towards[3])
{
    const double z[3] = { 0.0, 0.0, 1.0 }, y[3] = { 0.0, 1.0, 0.0 };
    const double length = sqrt(dot3(towards, towards));
    return relief_view_make(towards, fabs(towards[2]) > 0.99 * length ? y : z);
}

static void view_add(surface_views *v, const double eye[3], const double up[3], const char *name)
{
    v->view[v->count] = relief_view_make(eye, up);
    snprintf(v->name[v->count], sizeof v->name[0], "%s", name);
    v->count++;
}

static void side_add(surface_views *v, const side *s, int half)
{
    const double flip = s->mirrored && half > 0 ? -1.0 : 1.0;
    const double eye[3] = { flip * s->eye[0], s->eye[1], s->eye[2] };
    char name[24];
    snprintf(name, sizeof name, "%s%s", half == 0 ? "" : half < 0 ? "left, " : "right, ", s->name);
    /* seen from above or below, the right hemisphere keeps its front at the left by showing its medial edge below */
    view_add(v, eye, s->up, name);
}

/* "+x", "-z" or "x": the eye on that axis. */
static bool axis_add(surface_views *v, const char *text, size_t size, int upright)
{
    const char *letter = text + (size == 2 && (*text == '+' || *text == '-'));
    double eye[3] = { 0.0 }, up[3] = { 0.0 };
    char name[24];
    if (size > 2 || letter + 1 != text + size || *letter < 'x' || *letter > 'z')
        return false;
    const int along = *letter - 'x';
    eye[along] = *text == '-' ? -1.0 : 1.0;
    up[along != upright ? upright : (upright + 2) % 3] = 1.0;
    snprintf(name, sizeof name, "from %s%c", *text == '-' ? "\xE2\x88\x92" : "+", *letter);
    view_add(v, eye, up, name);
    return true;
}

static npmd_status word_add(surface_views *v, const char *text, size_t size, int half, int upright, npmd_error *err)
{
    if (v->count == VIEWS_MOST)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "more than %d views", VIEWS_MOST);
    for (size_t k = 0; k < SIDE_COUNT; k++)
        if (strlen(SIDES[k].name) == size && strncasecmp(SIDES[k].name, text, size) == 0) {
            if (SIDES[k].mirrored && half == 0)
                return npmd_fail(err, NPMD_ERR_ARGUMENT,
                                 "'%s' is a side of a hemisphere: say which it is, left or right", SIDES[k].name);
            side_add(v, &SIDES[k], half);
            return NPMD_OK;
        }
    if (axis_add(v, text, size, upright))
        return NPMD_OK;
    return npmd_fail(err, NPMD_ERR_ARGUMENT,
                     "'%.*s' is no view: expected lateral, medial, dorsal, ventral, anterior, posterior, or an axis as "
                     "+x or -z",
                     (int)(size < 40 ? size : 40), text);
}

npmd_status surface_views_find(const npmd_plot_surfaces *ask, const char *file, surface_views *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    static const char *const AROUND[3] = { "+y,+z,-y,-z", "+z,+x,-z,-x", "-y,+x,+y,-x" };
    int half = 0;
    const char *axis_up = ask->up != NULL ? ask->up : "z";
    *out = (surface_views){ 0 };
    if (strlen(axis_up) != 1 || *axis_up < 'x' || *axis_up > 'z')
        TRY(npmd_fail(err, NPMD_ERR_ARGUMENT, "the axis that points up is '%.40s', expected x, y or z", axis_up));
    TRY(hemisphere_find(ask, file, &half, err));
    const char *text = ask->views != NULL ? ask->views
                       : half != 0        ? "lateral,medial,dorsal,ventral"
                                          : AROUND[*axis_up - 'x'];
    for (const char *p = text; *p != 0;) {
        const size_t size = strcspn(p, ", ");
        if (size > 0)
            TRY(word_add(out, p, size, half, *axis_up - 'x', err));
        p += size + (p[size] != 0);
    }
    if (out->count == 0)
        st = npmd_fail(err, NPMD_ERR_ARGUMENT, "the list of views is empty");
done:
    return st;
}
