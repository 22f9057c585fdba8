/* fuzz_surface.h - one reader of surfaces on any bytes: a mesh in order, or a sentence; and what passes as a closed
 * surface has the number of edges that one must have. */
#ifndef NPMD_FUZZ_SURFACE_H
#define NPMD_FUZZ_SURFACE_H

#include "fuzz.h"
#include "mesh_formats.h"

/* The bytes with a zero behind them, as a reader is given them. */
static inline file_bytes surface_bytes(const uint8_t *data, size_t size)
{
    return (file_bytes){ .data = (unsigned char *)fuzz_text(data, size), .size = size };
}

static inline int surface_fuzz(const uint8_t *data, size_t size,
                               npmd_status (*read)(scanner *s, mesh_parts *out, npmd_error *err))
{
    file_bytes b = surface_bytes(data, size);
    scanner s = { 0 };
    mesh_parts parts = { 0 };
    mesh m = { 0 };
    npmd_error err = { 0 };
    PROMISE(scan_start("fuzz", &b, &s, &err) == NPMD_OK);
    npmd_status st = read(&s, &parts, &err);
    if (st == NPMD_OK)
        st = mesh_make_counted(&parts, 0, "fuzz", &m, &err);
    PROMISE(st == NPMD_OK || (st == NPMD_ERR_FORMAT && err.status == st && err.text[0] != 0 && m.x == NULL));
    for (size_t i = 0; i < 3 * m.vertices; i++)
        PROMISE(isfinite(m.x[i]));
    for (size_t i = 0; i < 3 * m.faces; i++)
        PROMISE(m.face[i] >= 0 && (size_t)m.face[i] < m.vertices);
    if (st == NPMD_OK) {
        st = mesh_check(&m, "fuzz", &err);
        PROMISE(st == NPMD_OK || st == NPMD_ERR_FORMAT);
        if (st == NPMD_OK) /* V - E + F = 2 - 2 g, E = 3 F / 2 */
            PROMISE(m.faces % 2 == 0 && m.vertices <= m.faces / 2 + 2 && (m.vertices + m.faces / 2) % 2 == 0);
    }
    free(parts.x);
    free(parts.face);
    mesh_free(&m);
    scan_close(&s);
    free(b.data);
    return 0;
}

#endif
