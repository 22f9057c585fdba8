/* io.h - bytes to arrays and back. It knows named arrays, not networks.
 *
 * A reader trusts nothing in a file and checks a size before it allocates. A writer writes to a temporary file beside
 * the target, syncs and renames it: a kill leaves the old file or the new one. */
#ifndef NPMD_IO_H
#define NPMD_IO_H

#include "core.h"

/* ---- file.c ------------------------------------------------------------------------------------------------------ */

typedef struct file_bytes {
    unsigned char *data; /* followed by one zero byte */
    size_t size;
} file_bytes;
/* Is what a file begins with something that its reader can take? first holds FILE_START bytes, or all of a shorter
 * file. It is asked before the rest is read, which may be gigabytes. NULL: anything is. */
#define FILE_START ((size_t)4096)
typedef npmd_status (*file_start)(const char *path, const unsigned char *first, size_t size, npmd_error *err);
npmd_status file_starts_text(const char *path, const unsigned char *first, size_t size,
                             npmd_error *err); /* no zero byte */
npmd_status file_read_checked(const char *path, file_start check, file_bytes *out, npmd_error *err);
npmd_status file_read(const char *path, file_bytes *out, npmd_error *err); /* whatever it begins with */
void file_bytes_free(file_bytes *b);
size_t file_size(const char *path); /* of an ordinary file; else 0 */

/* A file read in pieces, so that a large one is not held twice: an ordinary one, a pipe or a terminal. Folders, devices
 * and sockets are refused: what comes from a device has no end, or no meaning. */
typedef struct file_source {
    const char *path; /* borrowed */
    int fd;
    bool ordinary; /* neither a pipe nor a terminal */
    size_t size;   /* of an ordinary file; 0: unknown */
} file_source;
npmd_status file_source_open(const char *path, file_source *out, npmd_error *err);
/* Reads size bytes; fewer (*got) only at the end of the file. */
npmd_status file_source_take(file_source *s, void *out, size_t size, size_t *got, npmd_error *err);
npmd_status file_source_seek(file_source *s, size_t byte, npmd_error *err); /* ordinary files only */
/* The bytes taken so far, first (count), and all that follows. */
npmd_status file_source_rest(file_source *s, const unsigned char *first, size_t count, file_bytes *out,
                             npmd_error *err);
void file_source_close(file_source *s);

typedef struct file_writer file_writer; /* buffers, remembers the first failure */
npmd_status file_writer_open(const char *path, file_writer **out, npmd_error *err);
npmd_status file_writer_zip(file_writer *w, npmd_error *err); /* before the first put: writes a gzip file */
npmd_status file_writer_put(file_writer *w, const void *data, size_t size, npmd_error *err);
npmd_status file_writer_print(file_writer *w, npmd_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
npmd_status file_writer_commit(file_writer *w, npmd_error *err); /* sync, rename; frees w in any case */
void file_writer_abandon(file_writer *w);                        /* removes the temporary file; accepts NULL */
npmd_status file_write(const char *path, const void *data, size_t size, npmd_error *err); /* all at once */
/* Can the path be written? Leaves nothing behind. */
npmd_status file_output_check(const char *path, npmd_error *err);
bool file_has_suffix(const char *path, const char *suffix); /* ".csv"; upper or lower case */
typedef struct span {                                       /* a piece of text */
    const char *at, *end;
} span;
span span_trim(span s);                 /* without the blanks around it, and a CR behind it */
bool span_is(span s, const char *word); /* in upper or lower case */
/* A piece of a file's text for a message: printable, and cut after FILE_QUOTE characters. */
#define FILE_QUOTE 40
void file_quote(const char *text, size_t size, char out[FILE_QUOTE + 4]);

/* ---- target.c: which file a write replaces, and who may write to it ---------------------------------------------- */

const char *file_name_of(const char *path);                                /* behind the last slash */
npmd_status file_folder_of(const char *path, char **out, npmd_error *err); /* "." where none is named */
npmd_status file_target(const char *path, char **out, npmd_error *err);    /* links followed */
struct stat;
/* stat, of which only "no such file" is no error. */
npmd_status file_look(const char *path, struct stat *facts, bool *exists, npmd_error *err);
/* Keeps others who ask from writing to the file until it is released, or the process ends. *out NULL: no claim is
 * needed, or none can be made here. */
npmd_status file_claim_take(const char *path, npmd_claim **out, npmd_error *err);
void file_claim_release(npmd_claim *c); /* accepts NULL */

/* ---- gzip.c ------------------------------------------------------------------------------------------------------ */

/* As file_read, but inflates a gzip file (by its first bytes, or its suffix .gz). */
npmd_status gzip_read(const char *path, file_start check, file_bytes *out, npmd_error *err);
/* Inflates a gzip file in memory; path opens the messages. */
npmd_status gzip_inflate(const char *path, const unsigned char *packed, size_t size, file_start check, file_bytes *out,
                         npmd_error *err);
/* The same in pieces, so that the contents are never in memory as a whole. Borrows the path. */
typedef struct gzip_source gzip_source;
npmd_status gzip_source_open(const char *path, gzip_source **out, npmd_error *err);
/* Gives size bytes; fewer (*got) only at the end. */
npmd_status gzip_source_take(gzip_source *s, void *out, size_t size, size_t *got, npmd_error *err);
void gzip_source_close(gzip_source *s); /* accepts NULL */

/* ---- binary.c: numbers and base64 -------------------------------------------------------------------------------- */

typedef enum number_type {
    NUMBER_I8,
    NUMBER_U8,
    NUMBER_I16,
    NUMBER_U16,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_NONE /* no type of that name */
} number_type;
size_t number_size(number_type type);
double number_decode(const unsigned char *bytes, number_type type, bool big_endian);

/* RFC 4648: three bytes are four letters, the last of them filled up with =; out (4 (size + 2) / 3). */
size_t base64_encode(const unsigned char *bytes, size_t size, char *out);
int base64_digit(char c); /* 0 .. 63; -1: none */

/* ---- table.c: numeric tables from .csv .tsv .txt .npy .mat ------------------------------------------------------- */

typedef struct table {
    double *data; /* rows x columns, row-major */
    size_t rows, columns;
    size_t *line; /* text files: line number of each row, for messages; NULL for binary files */
    char *path;   /* for messages */
} table;
/* Read and written by suffix; text also as .csv.gz, .tsv.gz, .txt.gz. The reader refuses NaN, infinity, text fields,
 * ragged rows and empty files, naming file, row and column. "file.mat:x" is the variable x of file.mat, unless a file
 * has exactly that name; .mat files are not written. */
npmd_status table_read(const char *path, table *out, npmd_error *err);
npmd_status table_write(const char *path, const double *a, size_t rows, size_t columns, npmd_error *err);
/* is the suffix known, and can the path be written? */
npmd_status table_output_check(const char *path, npmd_error *err);
void table_free(table *t);
/* "points.csv line 18" or "points.npy row 17", counted from 1. */
void table_where(const table *t, size_t row, char *text, size_t size);

/* Writes a table row by row, never in memory as a whole. The file appears at the commit, which fails if fewer rows came
 * than were announced. */
typedef struct table_writer table_writer;
#define TABLE_ROWS_UNKNOWN SIZE_MAX /* text only: an .npy file begins with its number of rows */
npmd_status table_writer_open(const char *path, size_t columns, size_t rows, table_writer **out, npmd_error *err);
npmd_status table_writer_put(table_writer *w, const double *a, size_t rows, npmd_error *err);
npmd_status table_writer_commit(table_writer *w, npmd_error *err); /* frees w in any case */
void table_writer_abandon(table_writer *w);                        /* accepts NULL */

npmd_status csv_read(const char *path, table *out, npmd_error *err);
npmd_status csv_put(file_writer *w, char separator, const double *a, size_t rows, size_t columns, npmd_error *err);
/* One or two dimensions; f4, f8, little-endian, C order. One column is written as a vector. */
npmd_status npy_read(const char *path, table *out, npmd_error *err);
npmd_status npy_put_header(file_writer *w, size_t rows, size_t columns, npmd_error *err);
/* An array of any number of dimensions, for truth grids: shape[0..*dimensions-1]. */
#define NPY_MAX_DIMENSIONS 16
npmd_status npy_read_array(const char *path, double **data, size_t shape[NPY_MAX_DIMENSIONS], int *dimensions,
                           npmd_error *err);
/* One integer in each row, of any integer type, or whole floats. */
npmd_status npy_read_integers(const char *path, int64_t **out, size_t *count, npmd_error *err);
/* An .npy file of one or two dimensions, mapped into the address space and read when touched. Opening checks the header
 * against the file's size but no number: the caller checks its rows. The file must not shrink while it is mapped. */
typedef struct npy_map {
    const void *base; /* the whole file */
    size_t length;
    const unsigned char *rows; /* (count, columns) floats or doubles; may be unaligned, so memcpy them out */
    bool f4;                   /* float, else double */
    size_t count, columns;
} npy_map;
npmd_status npy_map_open(const char *path, npy_map *out, npmd_error *err); /* ordinary files only */
void npy_map_close(npy_map *m);

/* ---- mat.c: MATLAB's files of version 5 -------------------------------------------------------------------------- */

/* One full matrix of real numbers, of any numeric class. variable NULL: the only matrix in the file. */
npmd_status mat_read(const char *path, const char *variable, table *out, npmd_error *err);

/* ---- safetensors.c: named arrays and a JSON header --------------------------------------------------------------- */

typedef enum tensor_type { TENSOR_F64, TENSOR_F32, TENSOR_I32, TENSOR_I64 } tensor_type;
#define TENSOR_MAX_DIMENSIONS 4
typedef struct tensor {
    char name[64];
    tensor_type type;
    int dimensions;
    size_t shape[TENSOR_MAX_DIMENSIONS];
    void *data;
    bool owned; /* freed with the record */
} tensor;
typedef struct record { /* the contents of a model file: facts as text, and tensors */
    char *metadata;     /* one JSON object as text; stored under __metadata__ as {"neuropmd": "..."} */
    tensor *tensors;    /* (room), the first `count` of them in use */
    size_t count, room; /* room is 0 or a power of two */
    size_t *index;      /* (2 room) places of tensors by their names, from 1; 0: free */
} record;
/* The header is checked before more is read, and a tensor goes from the file to its own place. */
npmd_status record_read(const char *path, record *out, npmd_error *err);
/* The same from bytes in memory; messages call them by this name. */
npmd_status record_parse(const char *name, const file_bytes *bytes, record *out, npmd_error *err);
/* Equal records give equal bytes, in a file or in memory. */
npmd_status record_write(const char *path, const record *rec, npmd_error *err);
npmd_status record_pack(const record *rec, char **out, size_t *size, npmd_error *err);
/* The tensor of this name, type and shape (0 in shape: any); NPMD_ERR_FORMAT if there is none. */
npmd_status record_find(const record *rec, const char *path, const char *name, tensor_type type, int dimensions,
                        const size_t *shape, const tensor **out, npmd_error *err);
/* Appends a tensor that borrows data. */
npmd_status record_add(record *rec, const char *name, tensor_type type, int dimensions, const size_t *shape,
                       const void *data, npmd_error *err);
void record_free(record *rec);

#endif
