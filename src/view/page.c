/* page.c - the page as a file: the text made by the build, with the data in its middle.
 *
 * Data are elements <script type="..."> that no browser runs: one of JSON, and arrays deflated and in base64. */
#include "view.h"

#include <zlib.h>

#define MARK "<!--DATA-->" /* where they go */

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
    if (gzip_inflate("the page", VIEW_BUNDLE, VIEW_BUNDLE_SIZE, NULL, &p->text, NULL) != NPMD_OK)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to inflate the page"));
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
    TRY(page_put(p, letters, base64_encode(packed, (size_t)room, letters), err));
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
