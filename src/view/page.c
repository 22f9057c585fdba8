/* page.c - the page as a file: the text made by the build, with the data in its middle.
 *
 * Data are elements <script type="..."> that no browser runs: one of JSON, and arrays deflated and in base64. */
#include "view.h"

#include <zlib.h>

#define MARK "<!--DATA-->" /* where they go */
#define WINDOW (15 + 16)   /* zlib's words for: the largest window, and gzip's header and checksum */

static npmd_status bundle_inflate(file_bytes *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    z_stream zip = { 0 };
    size_t capacity = 0;
    int code = inflateInit2(&zip, WINDOW);
    const bool open = code == Z_OK;
    zip.next_in = (Bytef *)(uintptr_t)VIEW_BUNDLE;
    zip.avail_in = (uInt)VIEW_BUNDLE_SIZE;
    while (code == Z_OK) {
        if (capacity - out->size < 2)
            TRY(memory_grow((void **)&out->data, &capacity, capacity == 0 ? 1u << 20 : capacity + 1, 1, err));
        zip.next_out = out->data + out->size;
        zip.avail_out = (uInt)(capacity - 1 - out->size);
        code = inflate(&zip, Z_NO_FLUSH);
        out->size = (size_t)(zip.next_out - out->data);
    }
    if (code != Z_STREAM_END)
        st = npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to inflate the page");
    else
        out->data[out->size] = '\0';
done:
    if (open)
        inflateEnd(&zip);
    return st;
}

static npmd_status page_put(view_page *p, const void *bytes, size_t size, npmd_error *err)
{
    p->bytes += size;
    if (p->bytes > VIEW_PAGE_MOST)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "the page would be larger than %d million bytes: ask for fewer nodes or points, or a "
                         "surface of fewer vertices",
                         VIEW_PAGE_MOST / 1000000);
    return file_writer_put(p->file, bytes, size, err);
}

static npmd_status page_text(view_page *p, const char *text, npmd_error *err)
{
    return page_put(p, text, strlen(text), err);
}

npmd_status page_open(view_page *p, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (VIEW_BUNDLE_SIZE == 0)
        TRY(npmd_fail(err, NPMD_ERR_DEVICE,
                      "this build has no page: three.js was not found; run scripts/three.sh, or give the folder of "
                      "its package with cmake -DNPMD_THREE=DIR, and build again"));
    TRY(bundle_inflate(&p->text, err));
    const char *mark = strstr((const char *)p->text.data, MARK);
    assert(mark != NULL);
    const size_t head = (size_t)(mark - (const char *)p->text.data);
    p->tail = head + strlen(MARK);
    TRY(file_writer_open(path, &p->file, err));
    TRY(page_put(p, p->text.data, head, err));
done:
    return st;
}

static npmd_status element_open(view_page *p, const char *type, const char *name, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(page_text(p, "<script type=\"", err));
    TRY(page_text(p, type, err));
    TRY(page_text(p, "\" id=\"", err));
    TRY(page_text(p, name, err));
    TRY(page_text(p, "\">", err));
done:
    return st;
}

/* A "<" in a text could end the element: JSON has another word for it. */
npmd_status page_json(view_page *p, const char *name, const json_t *value, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    TRY(json_to_text(value, JSON_COMPACT | JSON_ENSURE_ASCII, &text, err));
    TRY(element_open(p, "application/json", name, err));
    for (const char *at = text; *at != '\0';) {
        const size_t plain = strcspn(at, "<");
        TRY(page_put(p, at, plain, err));
        at += plain;
        if (*at == '<') {
            TRY(page_text(p, "\\u003c", err));
            at++;
        }
    }
    TRY(page_text(p, "</script>\n", err));
done:
    text_free(text);
    return st;
}

/* Three bytes are four letters; out (4 (size + 2) / 3). */
static size_t base64(const unsigned char *bytes, size_t size, char *out)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned b = i + 1 < size ? bytes[i + 1] : 0u, c = i + 2 < size ? bytes[i + 2] : 0u;
        const unsigned word = (unsigned)bytes[i] << 16 | b << 8 | c;
        out[length++] = letter[word >> 18 & 63];
        out[length++] = letter[word >> 12 & 63];
        out[length++] = i + 1 < size ? letter[word >> 6 & 63] : '=';
        out[length++] = i + 2 < size ? letter[word & 63] : '=';
    }
    return length;
}

npmd_status page_blob(view_page *p, const char *name, const unsigned char *bytes, size_t size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    unsigned char *packed = NULL;
    char *letters = NULL;
    uLongf room = compressBound((uLong)size);
    TRY(memory_new(&packed, room, err));
    TRY(memory_new(&letters, 4 * (room / 3 + 1), err));
    if (compress2(packed, &room, bytes, (uLong)size, Z_BEST_COMPRESSION) != Z_OK)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to deflate %zu bytes", size));
    TRY(element_open(p, "application/octet-stream", name, err));
    TRY(page_put(p, letters, base64(packed, (size_t)room, letters), err));
    TRY(page_text(p, "</script>\n", err));
done:
    memory_free_all(packed, letters);
    return st;
}

npmd_status page_commit(view_page *p, npmd_error *err)
{
    npmd_status st = page_put(p, p->text.data + p->tail, p->text.size - p->tail, err);
    if (st == NPMD_OK) {
        st = file_writer_commit(p->file, err);
        p->file = NULL;
    }
    return st;
}

void page_close(view_page *p)
{
    file_writer_abandon(p->file);
    file_bytes_free(&p->text);
    *p = (view_page){ 0 };
}
