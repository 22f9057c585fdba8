/* hemisphere.c - a cortical surface and the sphere that it is registered to, with the same vertices and faces. */
#include "tracts.h"

npmd_status hemisphere_open(const char *surface, const char *sphere, hemisphere *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *out = (hemisphere){ 0 };
    TRY(mesh_read(surface, &out->surface, err));
    if (sphere != NULL) {
        TRY(mesh_read(sphere, &out->sphere, err));
        TRY(registered_check(&out->surface, surface, &out->sphere, sphere, err));
    }
    TRY(locator_open(&out->surface, &out->near, err));
done:
    if (st != NPMD_OK)
        hemisphere_close(out);
    return st;
}

void hemisphere_close(hemisphere *h)
{
    locator_close(h->near);
    mesh_free(&h->surface);
    mesh_free(&h->sphere);
    *h = (hemisphere){ 0 };
}

/* x = (1 - u - v) s_a + u s_b + v s_c on the sphere's face, which lies below it: brought to unit length. */
void hemisphere_place(const hemisphere *h, const surface_point *at, double x[3])
{
    const bool round = h->sphere.vertices > 0;
    mesh_point(round ? &h->sphere : &h->surface, at->face, at->u, at->v, x);
    if (round) {
        const double r = hypot(hypot(x[0], x[1]), x[2]);
        for (int i = 0; i < 3; i++)
            x[i] /= r;
    }
}
