/* truth_mesh.c - the surface of truths that are made, not read: a torus whose tube is thinner and thicker on its way,
 *
 *     ((1 + r cos v) cos u, (1 + r cos v) sin u, r sin v),    r = 0.4 (1 + 0.25 cos 3u),
 *
 * of 48 x 24 vertices, two triangles a cell. */
#include "surface_factor.h"
#include "truth.h"

#include <stdio.h>

enum { AROUND = 48, ABOUT = 24 };

static npmd_status torus_make(mesh *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double *x = NULL;
    int32_t *face = NULL;
    TRY(memory_new(&x, 3 * AROUND * ABOUT, err));
    TRY(memory_new(&face, 6 * AROUND * ABOUT, err));
    for (int i = 0; i < AROUND; i++)
        for (int j = 0; j < ABOUT; j++) {
            const double u = TWO_PI * i / AROUND, v = TWO_PI * j / ABOUT, r = 0.4 * (1.0 + 0.25 * cos(3.0 * u));
            const int32_t a = i * ABOUT + j, b = (i + 1) % AROUND * ABOUT + j, c = i * ABOUT + (j + 1) % ABOUT,
                          d = (i + 1) % AROUND * ABOUT + (j + 1) % ABOUT;
            const int32_t two[6] = { a, b, d, a, d, c };
            x[3 * a] = (1.0 + r * cos(v)) * cos(u);
            x[3 * a + 1] = (1.0 + r * cos(v)) * sin(u);
            x[3 * a + 2] = r * sin(v);
            memcpy(face + 6 * a, two, sizeof two);
        }
    st = mesh_make(AROUND * ABOUT, x, 2 * AROUND * ABOUT, face, "the torus", out, err);
    x = NULL; /* both taken over */
    face = NULL;
done:
    memory_free(x);
    memory_free(face);
    return st;
}

static npmd_status torus_find(void *user, const char *spelling, const manifold **out, npmd_error *err)
{
    (void)user, (void)spelling;
    npmd_status st = NPMD_OK;
    mesh m = { 0 };
    TRY(torus_make(&m, err));
    TRY(surface_from_mesh(&m, "the torus", NULL, out, err));
done:
    mesh_free(&m);
    return st;
}

npmd_status truth_mesh_domain(npmd_domain **out, npmd_error *err)
{
    return domain_parse("mesh:torus", torus_find, NULL, out, err);
}

/* As .off, with all digits, so that it is the same mesh when it is read. */
npmd_status truth_mesh_write(const npmd_truth *t, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const mesh *m = &surface_of(t->domain->factor[0])->mesh;
    file_writer *w = NULL;
    char line[128];
    TRY(file_writer_open(path, &w, err));
    snprintf(line, sizeof line, "OFF\n%zu %zu 0\n", m->vertices, m->faces);
    TRY(file_writer_put(w, line, strlen(line), err));
    TRY(csv_put(w, ' ', m->x, m->vertices, 3, err));
    for (size_t i = 0; i < m->faces; i++) {
        snprintf(line, sizeof line, "3 %d %d %d\n", m->face[3 * i], m->face[3 * i + 1], m->face[3 * i + 2]);
        TRY(file_writer_put(w, line, strlen(line), err));
    }
    st = file_writer_commit(w, err); /* frees w in any case */
    w = NULL;
done:
    file_writer_abandon(w);
    return st;
}
