/* mesh_formats.h - what the readers and writers of surface and label files share: words and numbers of a file, a mesh
 * while it is read, GIFTI's arrays. Only the files of this folder include it.
 *
 * A reader gets the whole file in memory (inflated, followed by a zero byte) and trusts nothing in it: memory for a
 * count is taken only as far as bytes follow. */
#ifndef NPMD_MESH_FORMATS_H
#define NPMD_MESH_FORMATS_H

#include "surface.h"

#include <locale.h>

/* ---- scan.c: words and numbers ----------------------------------------------------------------------------------- */

typedef struct number_name {
    const char *name;
    number_type type;
} number_name;

typedef enum scan_mode { SCAN_TEXT, SCAN_LITTLE, SCAN_BIG } scan_mode; /* how numbers are stored */
typedef struct scanner {
    const char *path;             /* opens every message */
    const char *start, *at, *end; /* a blank, an end of line or a zero byte follows end */
    size_t line;                  /* line of at, counted from 1; text only */
    scan_mode mode;
    locale_t locale; /* "C" */
    file_bytes own;  /* what scan_open has read */
} scanner;
typedef struct scan_text {
    const char *at;
    size_t size;
} scan_text;

/* Does the path end with suffix, or with suffix and .gz? No path ends with "". */
bool scan_suffix(const char *path, const char *suffix);
/* Reads the file, and inflates it; check is asked of its first bytes. */
npmd_status scan_open(const char *path, file_start check, scanner *out, npmd_error *err);
npmd_status scan_start(const char *path, const file_bytes *b, scanner *out, npmd_error *err); /* bytes in memory */
/* A file_start: the first line holds no zero byte. What follows may be binary. */
npmd_status scan_starts_line(const char *path, const unsigned char *first, size_t size, npmd_error *err);
void scan_close(scanner *s);
/* Has the file what ("labels", "values") of as many vertices as the surface? */
npmd_status scan_vertices_check(const char *path, const char *what, size_t found, size_t vertices, npmd_error *err);
bool scan_is(scan_text t, const char *word);
/* The next line, without its end (LF, CRLF or CR), as a scanner that must not be closed. */
bool scan_line(scanner *s, scanner *line);
bool scan_without_comment(scanner *s, scanner *line); /* the next line, up to a # */
bool scan_full_line(scanner *s, scanner *line);       /* the next line that is not blank */
bool scan_word(scanner *s, scan_text *out);           /* the next word, on this line or a later one */
bool scan_ends(const scanner *s);                     /* nothing but blanks is left */
/* A number of this type: in text the next word, else the next bytes. what names it in messages. */
npmd_status scan_number(scanner *s, number_type type, const char *what, double *out, npmd_error *err);
npmd_status scan_whole(scanner *s, number_type type, const char *what, int64_t *out, npmd_error *err);
npmd_status scan_count(scanner *s, const char *what, size_t *out, npmd_error *err); /* a word, not negative */
npmd_status scan_skip(scanner *s, number_type type, size_t count, const char *what, npmd_error *err);
size_t scan_left(const scanner *s); /* bytes */
/* An error: "PATH line 7: " or "PATH byte 7: ", and a sentence. */
npmd_status scan_fail(const scanner *s, npmd_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* An error: what was found at s, and what was expected. */
npmd_status scan_unexpected(const scanner *s, const char *expected, npmd_error *err);
/* The next word, the name of a number type in this format. */
npmd_status scan_number_type(scanner *s, const number_name *names, size_t count, number_type *out, npmd_error *err);

/* ---- mesh_file.c: a mesh while it is read ------------------------------------------------------------------------ */

typedef struct mesh_parts {
    size_t vertices, faces;
    double *x;
    int32_t *face;
    size_t x_room, face_room;
} mesh_parts;
npmd_status parts_vertex(mesh_parts *p, const scanner *where, const double x[3], npmd_error *err);
/* Corners count from 0; whether the vertices exist is checked at the end. */
npmd_status parts_face(mesh_parts *p, const scanner *where, const int64_t corner[3], npmd_error *err);
/* The same, three numbers of this type read first. what names a corner in messages. */
npmd_status parts_vertex_read(mesh_parts *p, scanner *s, number_type type, npmd_error *err);
npmd_status parts_face_read(mesh_parts *p, scanner *s, number_type type, const char *what, npmd_error *err);
npmd_status parts_polygon_fail(const mesh_parts *p, const scanner *where, int64_t corners, npmd_error *err);

npmd_status obj_read(scanner *s, mesh_parts *out, npmd_error *err);
npmd_status off_read(scanner *s, mesh_parts *out, npmd_error *err);
npmd_status ply_read(scanner *s, mesh_parts *out, npmd_error *err);
npmd_status vtk_read(scanner *s, mesh_parts *out, npmd_error *err);
npmd_status gifti_mesh_read(scanner *s, mesh_parts *out, npmd_error *err);
npmd_status freesurfer_read(scanner *s, mesh_parts *out, npmd_error *err);

npmd_status vtk_write(file_writer *w, const mesh *m, const vertex_values *values, int count, npmd_error *err);
/* geometry: write the surface as well as the values. */
npmd_status gifti_write(file_writer *w, const mesh *m, bool geometry, const vertex_values *values, int count,
                        npmd_error *err);

/* ---- mesh.c ------------------------------------------------------------------------------------------------------ */

/* mesh_make for a file that counts its vertices from first. Takes over the arrays of parts, also on failure. */
npmd_status mesh_make_counted(mesh_parts *parts, int first, const char *where, mesh *out, npmd_error *err);

/* ---- gifti.c, gifti_data.c: the arrays of a GIFTI file ----------------------------------------------------------- */

/* GIFTI_VALUES: any other intent. */
typedef enum gifti_intent { GIFTI_VALUES, GIFTI_POINTS, GIFTI_TRIANGLES, GIFTI_LABELS } gifti_intent;
typedef enum gifti_encoding { GIFTI_ASCII, GIFTI_BASE64, GIFTI_GZIP_BASE64 } gifti_encoding;
typedef struct gifti_array {
    gifti_intent intent;
    number_type type;
    gifti_encoding encoding;
    bool big_endian, column_major;
    size_t rows, columns;
    double *value; /* (rows, columns), row-major */
    char *name;    /* name of values; NULL: none */
} gifti_array;
typedef struct gifti_label {
    int64_t key;
    char *name;
} gifti_label;
typedef struct gifti {
    gifti_array *array;
    gifti_label *label;
    size_t arrays, labels, array_room, label_room;
} gifti;
/* Reads values alone, or else points, triangles and labels. */
npmd_status gifti_parse(const scanner *s, bool values, gifti *out, npmd_error *err);
void gifti_free(gifti *g);
/* The only array of this intent, which must have this many columns. */
npmd_status gifti_find(const gifti *g, const char *path, gifti_intent intent, size_t columns, const gifti_array **out,
                       npmd_error *err);
/* Decodes the text of a Data element into a->value. where: file and line. */
npmd_status gifti_decode(const scanner *where, const char *text, size_t size, gifti_array *a, npmd_error *err);
/* Writes little-endian bytes as GIFTI's GZipBase64Binary. */
npmd_status gifti_encode(file_writer *w, const void *bytes, size_t size, npmd_error *err);

/* ---- values.c, values_vtk.c: columns of numbers on the vertices -------------------------------------------------- */

/* Adds a column of this name; the caller fills *out (vertices). */
npmd_status columns_add(vertex_columns *c, const char *name, size_t size, double **out, npmd_error *err);
npmd_status vtk_values_read(scanner *s, vertex_columns *out, npmd_error *err);
npmd_status gifti_values_read(scanner *s, vertex_columns *out, npmd_error *err);
/* mesh_vtk.c: reads the surface. *data: a line POINT_DATA or CELL_DATA follows, which is *line. */
npmd_status vtk_mesh_read(scanner *s, mesh_parts *out, scanner *line, bool *data, npmd_error *err);
npmd_status vtk_type_read(scanner *line, number_type *out, npmd_error *err);

/* ---- labels.c ---------------------------------------------------------------------------------------------------- */

/* An entry of a file that gives every vertex a number or a word. A negative number or an empty word is no region. */
typedef struct label_entry {
    size_t vertex;
    scan_text word; /* empty where there are numbers */
    int64_t number; /* -1 where there are words */
} label_entry;
/* Sorts the entries; regions are in the order of their numbers or words. */
npmd_status labels_from_entries(label_entry *entry, size_t vertices, bool words, labels *out, npmd_error *err);
/* Allocates for all vertices, with none in a region. */
npmd_status labels_start(size_t vertices, int regions, labels *out, npmd_error *err);
/* Regions by the numbers that a file has for them. */
typedef struct label_key {
    int64_t key;
    int region;
} label_key;
void label_keys_sort(label_key *key, size_t count);
int label_keys_find(const label_key *sorted, size_t count, double key); /* the first region of this key; -1: none */
npmd_status labels_name(labels *l, int region, const char *text, size_t size, npmd_error *err);

npmd_status annot_starts(const char *path, const unsigned char *first, size_t size, npmd_error *err); /* a file_start */
npmd_status annot_read(scanner *s, size_t vertices, labels *out, npmd_error *err);
npmd_status label_read(scanner *s, size_t vertices, labels *out, npmd_error *err);
npmd_status label_table_read(scanner *s, size_t vertices, labels *out, npmd_error *err);
npmd_status gifti_labels_read(scanner *s, size_t vertices, labels *out, npmd_error *err);

#endif
