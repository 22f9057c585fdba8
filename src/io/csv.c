/* csv.c - numbers in text files, separated by semicolons, tabs, commas or blanks.
 *
 * The first line that is neither blank nor a comment determines the separator and the number of columns. It is a header
 * if none of its fields is a number, else the first row. From there on every field must be a finite decimal number and
 * every row equally long: nothing is skipped, filled in or guessed.
 *
 * Numbers are read in the C locale, whatever the host program has set, rounded correctly, and written with 17 digits,
 * which give back every double. */
#include "io.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>

/* In the order of trust: a comma may stand in a header's words or be a decimal comma between semicolons. */
static const char SEPARATORS[] = ";\t, ";

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Takes the next line off the text, without its end (LF, CRLF or CR) and without a comment. */
static span line_take(span *text)
{
    span line = { text->at, text->at };
    bool quoted = false, comment = false;
    const char *p = text->at;
    for (; p < text->end && *p != '\n' && *p != '\r'; p++) {
        quoted ^= *p == '"';
        comment |= *p == '#' && !quoted;
        if (!comment)
            line.end = p + 1;
    }
    if (p < text->end)
        p += p[0] == '\r' && p + 1 < text->end && p[1] == '\n' ? 2 : 1;
    text->at = p;
    return line;
}

static bool is_separator(char c, char separator)
{
    return separator == ' ' ? is_blank(c) : c == separator;
}

/* Takes the next field off a line, without blanks around it and without enclosing quotes. The line's at
 * becomes NULL after its last field. */
static bool field_take(span *line, char separator, span *field)
{
    if (line->at == NULL)
        return false;
    const char *p = line->at;
    bool quoted = false;
    if (separator == ' ')
        while (p < line->end && is_blank(*p))
            p++;
    span f = { p, p };
    for (; p < line->end && (quoted || !is_separator(*p, separator)); p++)
        quoted ^= *p == '"';
    f.end = p;
    while (separator == ' ' && p < line->end && is_blank(*p)) /* blanks at the end open no further field */
        p++;
    if (separator == ' ')
        line->at = p < line->end ? p : NULL;
    else
        line->at = p < line->end ? p + 1 : NULL;
    f = span_trim(f);
    if (f.end - f.at >= 2 && *f.at == '"' && f.end[-1] == '"')
        f = span_trim((span){ f.at + 1, f.end - 1 });
    *field = f;
    return true;
}

typedef enum field_kind { FIELD_NUMBER, FIELD_NAN, FIELD_INFINITY, FIELD_EMPTY, FIELD_TEXT } field_kind;

static const char *digits_skip(const char *p, const char *end)
{
    while (p < end && isdigit((unsigned char)*p))
        p++;
    return p;
}

/* sign? (digits (. digits?)? | . digits) ((e|E) sign? digits)?; strtod alone would also take hexadecimal. */
static bool is_decimal(const char *p, const char *end)
{
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    const char *whole = p;
    p = digits_skip(p, end);
    size_t digits = (size_t)(p - whole);
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = digits_skip(p, end);
        digits += (size_t)(p - fraction);
    }
    if (digits == 0)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        p = digits_skip(p, end);
        if (p == exponent)
            return false;
    }
    return p == end;
}

static field_kind field_classify(span f)
{
    if (f.at == f.end)
        return FIELD_EMPTY;
    if (is_decimal(f.at, f.end))
        return FIELD_NUMBER;
    const span bare = { f.at + (*f.at == '+' || *f.at == '-'), f.end };
    if (span_is(bare, "nan"))
        return FIELD_NAN;
    if (span_is(bare, "inf") || span_is(bare, "infinity"))
        return FIELD_INFINITY;
    return FIELD_TEXT;
}

/* How many fields are of these kinds, bits; 0: of any, which takes no look at them. */
static size_t fields_count(span line, char separator, unsigned kinds)
{
    span field;
    size_t count = 0;
    while (field_take(&line, separator, &field))
        count += kinds == 0 || (kinds >> field_classify(field) & 1u) != 0;
    return count;
}

/* The separator that makes the first line a row of numbers; failing that, the most trusted one in it. */
static char separator_find(span line)
{
    char first = ' ';
    for (const char *s = SEPARATORS; *s != 0; s++) {
        const size_t fields = fields_count(line, *s, 0);
        const bool occurs = fields > 1;
        if (occurs && fields_count(line, *s, 1u << FIELD_NUMBER) == fields)
            return *s;
        if (occurs && first == ' ')
            first = *s;
    }
    return first;
}

/* The reader's state; t is filled row by row. */
typedef struct csv_reader {
    const char *path;
    locale_t locale; /* "C" */
    char separator;
    size_t line; /* of the file, counted from 1 */
    table t;
    size_t data_capacity, line_capacity;
} csv_reader;

static npmd_status field_fail(const csv_reader *r, size_t column, span field, field_kind kind, npmd_error *err)
{
    static const char *const BEFORE[] = { "'", "NaN", "infinity", "empty field", "text '" }, *const BEHIND[] = {
        "' is too large for a double", " where a finite number was expected", " where a finite number was expected",
        " where a number was expected", "' where a number was expected"
    };
    char quote[FILE_QUOTE + 4] = "";
    if (kind == FIELD_NUMBER || kind == FIELD_TEXT)
        file_quote(field.at, (size_t)(field.end - field.at), quote);
    return npmd_fail(err, NPMD_ERR_FORMAT, "%s line %zu, column %zu: %s%s%s", r->path, r->line, column, BEFORE[kind],
                     quote, BEHIND[kind]);
}

static npmd_status row_read(csv_reader *r, span line, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    table *t = &r->t;
    span field;
    TRY(memory_grow((void **)&t->line, &r->line_capacity, t->rows + 1, sizeof *t->line, err));
    TRY(memory_grow((void **)&t->data, &r->data_capacity, (t->rows + 1) * t->columns, sizeof *t->data, err));
    double *row = t->data + t->rows * t->columns;
    for (size_t c = 0; field_take(&line, r->separator, &field); c++) {
        const field_kind kind = field_classify(field);
        if (kind != FIELD_NUMBER)
            TRY(field_fail(r, c + 1, field, kind, err));
        char *stop;
        row[c] = strtod_l(field.at, &stop, r->locale); /* what follows the field cannot continue a number */
        assert(stop == field.end);
        if (!isfinite(row[c]))
            TRY(field_fail(r, c + 1, field, FIELD_NUMBER, err));
    }
    t->line[t->rows++] = r->line;
done:
    return st;
}

static npmd_status line_read(csv_reader *r, span line, npmd_error *err)
{
    const span trimmed = span_trim(line);
    if (trimmed.at == trimmed.end)
        return NPMD_OK;
    const bool first = r->t.columns == 0;
    if (first) {
        r->separator = separator_find(line);
        r->t.columns = fields_count(line, r->separator, 0);
        /* the header; NaN and infinity count as numbers here: a row of them must not pass for one */
        if (fields_count(line, r->separator, 1u << FIELD_TEXT | 1u << FIELD_EMPTY) == r->t.columns)
            return NPMD_OK;
    }
    const size_t found = fields_count(line, r->separator, 0);
    if (found != r->t.columns)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s line %zu: %zu field%s found, %zu expected as in the first line",
                         r->path, r->line, found, found == 1 ? "" : "s", r->t.columns);
    return row_read(r, line, err);
}

npmd_status csv_read(const char *path, table *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_bytes b = { 0 };
    csv_reader r = { .path = path };
    TRY(gzip_read(path, file_starts_text, &b, err));
    if (b.size == 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty", path));
    TRY(file_starts_text(path, b.data, b.size, err));
    r.locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (r.locale == (locale_t)0)
        TRY(npmd_fail(err, NPMD_ERR_MEMORY, "%s: no memory for the C locale", path));
    TRY(memory_text(&r.t.path, path, err));
    span text = { (const char *)b.data, (const char *)b.data + b.size };
    if (b.size >= 3 && memcmp(b.data, "\xEF\xBB\xBF", 3) == 0) /* the byte order mark of UTF-8 */
        text.at += 3;
    while (text.at < text.end) {
        const span line = line_take(&text);
        r.line++;
        TRY(line_read(&r, line, err));
    }
    if (r.t.rows == 0)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s is empty: it holds no row of numbers", path));
    *out = r.t;
    r.t = (table){ 0 };
done:
    if (r.locale != (locale_t)0)
        freelocale(r.locale);
    table_free(&r.t);
    file_bytes_free(&b);
    return st;
}

/* The number with 17 digits. The host program's locale may have put a comma, or several bytes, where the
 * point belongs. */
static int number_print(double x, char text[40])
{
    int length = 0;
    char raw[40];
    snprintf(raw, sizeof raw, "%.17g", x);
    for (const char *p = raw; *p != 0; p++) {
        const bool plain = isalnum((unsigned char)*p) || *p == '+' || *p == '-';
        if (plain)
            text[length++] = *p;
        else if (length > 0 && text[length - 1] != '.')
            text[length++] = '.';
    }
    text[length] = 0;
    return length;
}

npmd_status csv_put(file_writer *w, char separator, const double *a, size_t rows, size_t columns, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char text[40];
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            int length = number_print(a[i * columns + j], text);
            text[length++] = j + 1 < columns ? separator : '\n';
            TRY(file_writer_put(w, text, (size_t)length, err));
        }
done:
    return st;
}
