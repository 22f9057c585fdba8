/* tracts.c - files of streamlines: the first bytes give the format, a window the contents. */
#include "tracts.h"

static const tracts_format *const FORMATS[] = { &TRACTS_TRK, &TRACTS_TCK };
#define MAGIC_MOST 16

npmd_status tracts_peek(tracts *t, size_t n, const unsigned char **bytes, size_t *got, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    size_t more = 0;
    assert(n <= TRACTS_WINDOW);
    if (t->end - t->begin < n) {
        memmove(t->window, t->window + t->begin, t->end - t->begin);
        t->end -= t->begin;
        t->begin = 0;
        TRY(gzip_source_take(t->source, t->window + t->end, TRACTS_WINDOW - t->end, &more, err));
        t->end += more;
    }
    *bytes = t->window + t->begin;
    *got = t->end - t->begin < n ? t->end - t->begin : n;
done:
    return st;
}

void tracts_skip(tracts *t, size_t n)
{
    assert(n <= t->end - t->begin);
    t->begin += n;
    t->at += n;
}

int64_t tracts_integer(const tracts *t, const unsigned char *bytes, number_type type)
{
    assert(number_size(type) <= 4); /* a double has all digits of such a number */
    return (int64_t)number_decode(bytes, type, t->big_endian);
}

void tracts_point(const tracts *t, const unsigned char *bytes, double x[3])
{
    for (size_t i = 0; i < 3; i++)
        x[i] = number_decode(bytes + i * number_size(t->type), t->type, t->big_endian);
}

npmd_status tracts_keep(tracts *t, size_t i, const double x[3], npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (!t->keeps)
        goto done;
    TRY(memory_grow((void **)&t->kept, &t->kept_room, i + 1, 3 * sizeof *t->kept, err));
    affine_apply(&t->to_ras, x, t->kept + 3 * i);
done:
    return st;
}

void tracts_keep_paths(tracts *t)
{
    t->keeps = true;
}

const double *tracts_path(const tracts *t)
{
    return t->kept;
}

npmd_status tracts_cut_fail(const tracts *t, size_t got, npmd_error *err)
{
    if (t->count > 0)
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s is cut short: it ends at byte %zu, in streamline %zu of the %zu that it should have",
                         t->path, t->at + got, t->done + 1, t->count);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s is cut short: it ends at byte %zu, in streamline %zu", t->path,
                     t->at + got, t->done + 1);
}

npmd_status tracts_count_fail(const tracts *t, const char *found, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s: its header says %zu streamlines, but %s at byte %zu", t->path, t->count,
                     found, t->at + 1);
}

static npmd_status format_find(tracts *t, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const unsigned char *bytes = NULL;
    size_t got = 0;
    TRY(tracts_peek(t, MAGIC_MOST, &bytes, &got, err));
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS && t->format == NULL; i++) {
        const size_t length = strlen(FORMATS[i]->magic);
        assert(length <= MAGIC_MOST);
        if (got >= length && memcmp(bytes, FORMATS[i]->magic, length) == 0)
            t->format = FORMATS[i];
    }
    if (got == 0)
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", t->path);
    else if (t->format == NULL)
        st = npmd_fail(err, NPMD_ERR_FORMAT,
                       "%s is no file of streamlines: it begins neither with %s (.trk) nor with %s (.tck)", t->path,
                       TRACTS_TRK.magic, TRACTS_TCK.magic);
done:
    return st;
}

npmd_status tracts_open(const char *path, const affine *voxel_to_ras, tracts **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    tracts *t = NULL;
    TRY(memory_new(&t, 1, err));
    t->to_ras = AFFINE_IDENTITY;
    TRY(memory_text(&t->path, path, err));
    TRY(memory_new(&t->window, TRACTS_WINDOW, err));
    TRY(gzip_source_open(t->path, &t->source, err));
    TRY(format_find(t, err));
    TRY(t->format->header(t, voxel_to_ras, err));
    *out = t;
    t = NULL;
done:
    tracts_close(t);
    return st;
}

npmd_status tracts_next(tracts *t, streamline *out, bool *more, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    streamline s = { 0 };
    bool found = false;
    if (!t->over)
        TRY(t->format->next(t, &s, &found, err));
    t->over = !found;
    if (found) {
        affine_apply(&t->to_ras, s.start, s.start);
        affine_apply(&t->to_ras, s.end, s.end);
        t->done++;
        *out = s;
    }
    *more = found;
done:
    return st;
}

void tracts_close(tracts *t)
{
    if (t == NULL)
        return;
    gzip_source_close(t->source);
    memory_free_all(t->window, t->kept, t->path, t);
}
