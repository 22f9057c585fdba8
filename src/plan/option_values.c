/* option_values.c - options from text and JSON, and back. Messages have the option in back quotes, so that each
 * language can spell it. */
#include "json.h"
#include "plan.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <stdio.h>

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* A host program may have set a locale that writes a half as 0,5; options write 0.5 in every one. Both ways go without
 * memory of their own, since defaults are read where nothing may fail. */
typedef struct real_text {
    char text[512];
} real_text;

/* The text of a number, for strtod in this locale; "" if it cannot be one. */
static real_text real_localise(const char *text)
{
    real_text out = { "" };
    const char *mark = nl_langinfo(RADIXCHAR);
    const size_t size = strlen(text), whole = strcspn(text, "."), wide = strlen(mark);
    const bool foreign = strcmp(mark, ".") != 0 && strstr(text, mark) != NULL;
    if (foreign || size + wide >= sizeof out.text)
        return out;
    memcpy(out.text, text, size + 1);
    if (whole < size) {
        memcpy(out.text + whole, mark, wide);
        memcpy(out.text + whole + wide, text + whole + 1, size - whole);
    }
    return out;
}

/* A number with that many digits, and a point. */
static real_text real_write(double value, int digits)
{
    real_text out;
    const char *mark = nl_langinfo(RADIXCHAR);
    snprintf(out.text, sizeof out.text, "%.*g", digits, value);
    char *at = strstr(out.text, mark);
    if (at != NULL) {
        *at = '.';
        memmove(at + 1, at + strlen(mark), strlen(at + strlen(mark)) + 1);
    }
    return out;
}

/* With no more digits than it takes to give the same number back: 5e-05, not 5.0000000000000002e-05. */
static real_text real_shortest(double value)
{
    for (int digits = 15; digits < 17; digits++) {
        const real_text out = real_write(value, digits);
        if (strtod(real_localise(out.text).text, NULL) == value)
            return out;
    }
    return real_write(value, 17);
}

static npmd_status parse_real(const option_row *row, const char *text, double *out, npmd_error *err)
{
    char *end = NULL;
    const real_text local = real_localise(text);
    const double value = strtod(local.text, &end);
    if (end == local.text || *end != '\0' || !isfinite(value))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: \"%.40s\" was found where a number was expected", row->name,
                         text);
    *out = value;
    return NPMD_OK;
}

static npmd_status parse_range(const option_row *row, const char *text, bool whole, double *out, npmd_error *err)
{
    double value = 0.0;
    const npmd_status st = parse_real(row, text, &value, err);
    if (st != NPMD_OK)
        return st;
    if (whole && value != floor(value))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: %s was found where a whole number was expected", row->name,
                         text);
    if (value < row->least || value > row->most)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: %s lies outside %g .. %g", row->name, text, row->least,
                         row->most);
    *out = value;
    return NPMD_OK;
}

static npmd_status parse_choice(const option_row *row, const char *text, int *out, npmd_error *err)
{
    char known[128] = "";
    for (int j = 0; row->choice[j] != NULL; j++) {
        if (strcmp(row->choice[j], text) == 0) {
            *out = j;
            return NPMD_OK;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", j == 0 ? "" : ", ", row->choice[j]);
    }
    return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: \"%.40s\" was found where one of %s was expected", row->name, text,
                     known);
}

/* Numbers between commas, one for all factors or one for each. */
static npmd_status parse_list(const option_row *row, const char *text, double *value, int *values, npmd_error *err)
{
    int count = 0;
    for (const char *at = text; at != NULL;) {
        const char *comma = strchr(at, ',');
        const size_t size = comma == NULL ? strlen(at) : (size_t)(comma - at);
        char item[32];
        if (count == NPMD_MAX_FACTORS || size >= sizeof item)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: \"%.40s\" has too many values; at most %d", row->name, text,
                             NPMD_MAX_FACTORS);
        memcpy(item, at, size);
        item[size] = '\0';
        const npmd_status st = parse_range(row, item, row->kind == OPTION_LIST, &value[count], err);
        if (st != NPMD_OK)
            return st;
        count++;
        at = comma == NULL ? NULL : comma + 1;
    }
    *values = count;
    return NPMD_OK;
}

static npmd_status parse_seed(const option_row *row, const char *text, uint64_t *out, npmd_error *err)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`%s`: \"%.40s\" was found where a whole number from 0 to 2^64 - 1 was expected", row->name,
                         text);
    *out = value;
    return NPMD_OK;
}

/* ---- Setting ----------------------------------------------------------------------------------------------------- */

static npmd_status option_set(npmd_options *opt, const option_row *row, const char *value, npmd_error *err);

static npmd_status preset_apply(npmd_options *opt, const char *name, npmd_error *err)
{
    const char *const *pair = preset_settings(name);
    if (pair == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT,
                         "`preset`: \"%.40s\" was found where quick, default, best, paper-t2, paper-t4 or paper-s2s2 "
                         "was expected",
                         name);
    for (; *pair != NULL; pair += 2) {
        const npmd_status st = option_set(opt, option_find(pair[0]), pair[1], err);
        assert(st == NPMD_OK);
        if (st != NPMD_OK)
            return st;
    }
    snprintf(opt->set.preset, sizeof opt->set.preset, "%s", name);
    return NPMD_OK;
}

/* A number of points, or "n/2": a share of all, resolved when their number is known. */
static npmd_status batch_set(descent_settings *d, const option_row *row, const char *value, npmd_error *err)
{
    double number = 0.0;
    const bool share = strncmp(value, "n/", 2) == 0;
    const npmd_status st = parse_range(row, share ? value + 2 : value, true, &number, err);
    if (st != NPMD_OK)
        return st;
    if (share && (number < 1.0 || number > 1e6))
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: \"%.40s\" is no share of n from n/1 to n/1000000", row->name,
                         value);
    d->batch = share ? 0 : (int64_t)number;
    d->batch_share = share ? (int)number : 0;
    return NPMD_OK;
}

const char *base_name(base_kind base)
{
    static const char *const NAMES[] = { [BASE_NONE] = "none",
                                         [BASE_AUTO] = "auto",
                                         [BASE_UNIFORM] = "uniform",
                                         [BASE_KDE] = "kde",
                                         [BASE_SERIES] = "series" };
    return NAMES[base];
}

/* What is no name is a file; of that name, too, if a folder stands before it. */
int base_named(const char *text)
{
    for (int i = BASE_NONE; i < BASE_MODEL; i++)
        if (strcmp(text, base_name((base_kind)i)) == 0)
            return i;
    return text[0] == '\0' ? BASE_NONE : BASE_MODEL;
}

static npmd_status option_set(npmd_options *opt, const option_row *row, const char *value, npmd_error *err)
{
    double number = 0.0, list[NPMD_MAX_FACTORS] = { 0 };
    npmd_status st = NPMD_OK;
    char *field = (char *)opt + row->field;
    switch (row->kind) {
    case OPTION_INT:
        if ((st = parse_range(row, value, true, &number, err)) == NPMD_OK)
            *(int *)(void *)field = (int)number;
        return st;
    case OPTION_COUNT:
        if ((st = parse_range(row, value, true, &number, err)) == NPMD_OK)
            *(int64_t *)(void *)field = (int64_t)number;
        if (st == NPMD_OK && field == (char *)&opt->set.descent.steps)
            opt->set.descent.epochs = 0; /* the later of steps and epochs rules */
        return st;
    case OPTION_BATCH:
        return batch_set(&opt->set.descent, row, value, err);
    case OPTION_REAL:
        number = -1.0; /* tau alone may be "auto" */
        if (!(field == (char *)&opt->set.tau && strcmp(value, "auto") == 0))
            st = parse_range(row, value, false, &number, err);
        if (st == NPMD_OK)
            *(double *)(void *)field = number;
        return st;
    case OPTION_SEED:
        return parse_seed(row, value, (uint64_t *)(void *)field, err);
    case OPTION_CHOICE:
        return parse_choice(row, value, (int *)(void *)field, err);
    case OPTION_LIST:
        if ((st = parse_list(row, value, list, &opt->set.encoding.max_frequencies, err)) == NPMD_OK)
            for (int d = 0; d < NPMD_MAX_FACTORS; d++)
                opt->set.encoding.max_frequency[d] = (int)list[d];
        return st;
    case OPTION_REALS:
        if ((st = parse_list(row, value, list, &opt->set.kernels.kappas, err)) == NPMD_OK)
            memcpy(opt->set.kernels.kappa, list, sizeof list);
        return st;
    case OPTION_TEXT:
        if (field == opt->set.preset)
            return preset_apply(opt, value, err);
        if (strlen(value) >= PLAN_MAX_NAME)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: \"%.40s...\" is too long", row->name, value);
        snprintf(field, PLAN_MAX_NAME, "%s", value);
        return NPMD_OK;
    case OPTION_PATH:
        if (strlen(value) >= PLAN_MAX_PATH)
            return npmd_fail(err, NPMD_ERR_ARGUMENT, "`%s`: a path of %zu bytes; at most %d", row->name, strlen(value),
                             PLAN_MAX_PATH - 1);
        snprintf(field, PLAN_MAX_PATH, "%s", value);
        if (field == opt->base)
            opt->set.base = base_named(value);
        return NPMD_OK;
    }
    return st;
}

npmd_status options_set(npmd_options *opt, const char *name, const char *value, npmd_error *err)
{
    const option_row *row = option_find(name);
    if (row == NULL)
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "unknown option `%.40s`", name);
    const npmd_status st = option_set(opt, row, value, err);
    const int i = (int)(row - option_at(0));
    if (st == NPMD_OK)
        opt->set.given[i / 64] |= (uint64_t)1 << i % 64;
    return st;
}

void options_init(npmd_options *opt)
{
    *opt = (npmd_options){ 0 };
    for (int i = 0; i < option_count(); i++) {
        const npmd_status st = option_set(opt, option_at(i), option_at(i)->fallback, NULL);
        assert(st == NPMD_OK);
        (void)st;
    }
}

static bool row_given(const settings *set, int i)
{
    return set->given[i / 64] >> i % 64 & 1u;
}

bool settings_given(const settings *set, const char *name)
{
    return row_given(set, (int)(option_find(name) - option_at(0)));
}

int settings_unused(const settings *set, const npmd_domain *dom, char *names, size_t size)
{
    const unsigned readers = settings_readers(set, dom);
    int unused = 0;
    size_t used = 0;
    names[0] = '\0';
    for (int i = 0; i < option_count(); i++)
        if (row_given(set, i) && (option_at(i)->readers & readers) == 0) {
            const size_t room = used < size ? size - used : 0;
            used += (size_t)snprintf(room > 0 ? names + used : NULL, room, "%s`%s`", unused == 0 ? "" : ", ",
                                     option_at(i)->name);
            unused++;
        }
    if (used >= size)
        memcpy(names + size - 4, "...", 4);
    return unused;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* NULL: no memory. of: settings, or all options. */
static json_t *option_json(const void *of, const option_row *row)
{
    const char *field = (const char *)of + row->field;
    const settings *set = of;
    char text[32];
    switch (row->kind) {
    case OPTION_INT:
        return json_integer(*(const int *)(const void *)field);
    case OPTION_BATCH:
        if (set->descent.batch_share > 0) {
            snprintf(text, sizeof text, "n/%d", set->descent.batch_share);
            return json_string(text);
        }
        return json_integer(set->descent.batch);
    case OPTION_COUNT:
        return json_integer(*(const int64_t *)(const void *)field);
    case OPTION_REAL:
        return json_real(*(const double *)(const void *)field);
    case OPTION_SEED: { /* JSON integers end at 2^63 */
        const uint64_t seed = *(const uint64_t *)(const void *)field;
        snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
        return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(text);
    }
    case OPTION_CHOICE:
        return json_string(row->choice[*(const int *)(const void *)field]);
    case OPTION_LIST:
    case OPTION_REALS: {
        const bool whole = row->kind == OPTION_LIST;
        json_t *list = json_array();
        for (int d = 0; d < (whole ? set->encoding.max_frequencies : set->kernels.kappas); d++)
            if (json_append(
                    list, whole ? json_integer(set->encoding.max_frequency[d]) : json_real(set->kernels.kappa[d]), NULL)
                != NPMD_OK) {
                json_decref(list);
                return NULL;
            }
        return list;
    }
    case OPTION_TEXT:
    case OPTION_PATH:
        return json_string(field);
    }
    return NULL;
}

npmd_status settings_to_json(const settings *set, struct json_t **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = json_object();
    for (int i = 0; i < option_count(); i++)
        if (option_at(i)->shapes_answer)
            TRY(json_put(object, option_at(i)->name, option_json(set, option_at(i)), err));
    *out = object;
    object = NULL;
done:
    json_decref(object);
    return st;
}

/* A JSON value as a user would type it. */
static bool value_to_text(const json_t *value, char *text, size_t size)
{
    text[0] = '\0';
    if (json_is_string(value))
        return (size_t)snprintf(text, size, "%s", json_string_value(value)) < size;
    if (json_is_integer(value))
        return (size_t)snprintf(text, size, "%lld", (long long)json_integer_value(value)) < size;
    if (json_is_real(value))
        return (size_t)snprintf(text, size, "%s", real_write(json_real_value(value), 17).text) < size;
    if (json_is_boolean(value))
        return (size_t)snprintf(text, size, "%s", json_is_true(value) ? "on" : "off") < size;
    if (!json_is_array(value) || json_array_size(value) == 0)
        return false;
    for (size_t i = 0, used = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (!json_is_number(item) || !value_to_text(item, text + used, size - used))
            return false;
        used += strlen(text + used);
        if (i + 1 < json_array_size(value)) {
            if (used + 2 > size)
                return false;
            text[used++] = ',';
        }
    }
    return true;
}

static npmd_status option_from_json(npmd_options *opt, const char *name, const json_t *value, const char *where,
                                    npmd_error *err)
{
    char text[PLAN_MAX_PATH];
    npmd_error inner = { 0 };
    if (!value_to_text(value, text, sizeof text))
        return npmd_fail(err, NPMD_ERR_FORMAT,
                         "%s: \"%.40s\" is neither a number, a text, a switch nor a list of numbers", where, name);
    if (options_set(opt, name, text, &inner) != NPMD_OK)
        return npmd_fail(err, NPMD_ERR_FORMAT, "%s: %.300s", where, inner.text);
    return NPMD_OK;
}

npmd_status options_from_json(npmd_options *opt, const struct json_t *object, const char *where, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *preset = json_object_get(object, "preset");
    if (preset != NULL && (st = option_from_json(opt, "preset", preset, where, err)) != NPMD_OK)
        return st;
    for (size_t i = 0; i < json_object_size(object); i++) {
        const char *name = json_object_key(object, i);
        if (strcmp(name, "preset") != 0
            && (st = option_from_json(opt, name, json_object_value(object, i), where, err)) != NPMD_OK)
            return st;
    }
    return NPMD_OK;
}

/* ---- Getting ----------------------------------------------------------------------------------------------------- */

size_t option_print(const void *of, const option_row *row, char *text, size_t size)
{
    const settings *set = of;
    const char *field = (const char *)of + row->field;
    char value[PLAN_MAX_PATH] = "";
    switch (row->kind) {
    case OPTION_INT:
        snprintf(value, sizeof value, "%d", *(const int *)(const void *)field);
        break;
    case OPTION_BATCH:
        snprintf(value, sizeof value, set->descent.batch_share > 0 ? "n/%lld" : "%lld",
                 set->descent.batch_share > 0 ? (long long)set->descent.batch_share : (long long)set->descent.batch);
        break;
    case OPTION_COUNT:
        snprintf(value, sizeof value, "%lld", (long long)*(const int64_t *)(const void *)field);
        break;
    case OPTION_REAL: {
        const double number = *(const double *)(const void *)field;
        const bool open = field == (const char *)&set->tau && number < 0.0;
        snprintf(value, sizeof value, "%s", open ? "auto" : real_shortest(number).text);
        break;
    }
    case OPTION_SEED:
        snprintf(value, sizeof value, "%llu", (unsigned long long)*(const uint64_t *)(const void *)field);
        break;
    case OPTION_CHOICE:
        snprintf(value, sizeof value, "%s", row->choice[*(const int *)(const void *)field]);
        break;
    case OPTION_LIST:
    case OPTION_REALS: {
        const bool whole = row->kind == OPTION_LIST;
        const int count = whole ? set->encoding.max_frequencies : set->kernels.kappas;
        for (int d = 0; d < count; d++) {
            const double number = whole ? set->encoding.max_frequency[d] : set->kernels.kappa[d];
            const size_t used = strlen(value);
            snprintf(value + used, sizeof value - used, "%s%s", d == 0 ? "" : ",", real_shortest(number).text);
        }
        break;
    }
    case OPTION_TEXT:
    case OPTION_PATH:
        snprintf(value, sizeof value, "%s", field);
        break;
    }
    if (size > 0)
        snprintf(text, size, "%s", value);
    return strlen(value);
}

size_t options_get(const npmd_options *opt, const char *name, char *text, size_t size)
{
    const option_row *row = option_find(name);
    return row == NULL ? 0 : option_print(opt, row, text, size);
}

double options_number(const npmd_options *opt, const char *name)
{
    const option_row *row = option_find(name);
    const char *field = row == NULL ? NULL : (const char *)opt + row->field;
    if (row == NULL)
        return NAN;
    switch (row->kind) {
    case OPTION_INT:
    case OPTION_CHOICE:
    case OPTION_LIST: /* the first of several */
        return *(const int *)(const void *)field;
    case OPTION_COUNT:
    case OPTION_BATCH:
        return (double)*(const int64_t *)(const void *)field;
    case OPTION_REAL:
    case OPTION_REALS:
        return *(const double *)(const void *)field;
    case OPTION_SEED:
        return (double)*(const uint64_t *)(const void *)field;
    case OPTION_TEXT:
    case OPTION_PATH:
        break;
    }
    return NAN;
}

/* ---- The encoding of another fit --------------------------------------------------------------------------------- */

npmd_status settings_take_encoding(settings *set, const settings *from, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    encoding_settings taken = from->encoding;
    json_t *asked = NULL, *found = NULL;
    for (int i = 0; i < option_count(); i++) {
        const option_row *row = option_at(i);
        char text[2][64] = { "", "" };
        if (strcmp(row->group, "Encoding") != 0 || !row_given(set, i))
            continue;
        asked = option_json(set, row);
        found = option_json(from, row);
        if (asked == NULL || found == NULL) {
            st = npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory to compare `%s`", row->name);
            goto done;
        }
        if (!json_equal(asked, found)) {
            const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(6);
            json_print(asked, flags, text[0], sizeof text[0]);
            json_print(found, flags, text[1], sizeof text[1]);
            st = npmd_fail(err, NPMD_ERR_SHAPE, "%s: its encoding has `%s` %s, this fit was asked for %s", path,
                           row->name, text[1], text[0]);
            goto done;
        }
        json_decref(asked);
        json_decref(found);
        asked = found = NULL;
    }
    set->encoding = taken;
done:
    json_decref(asked);
    json_decref(found);
    return st;
}
