/* kept.c - the fits that a fit needs, kept in a file as they end.
 *
 * The file begins with a line that has a hash of what the whole fit is, and then holds one entry a fit: a head, and a
 * record of the model as a file would hold it. Entries are appended, for there may be hundreds; one that a kill or a full
 * disk cut short is not whole by its size or its hash, and that fit is done again. */
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define UNNAMED ((uint64_t)1 << 32) /* numbers of fits that are counted, and not named */

typedef struct entry_head {
    uint64_t size, hash; /* of the record that follows */
    uint64_t number, check;
} entry_head;

typedef struct entry {
    entry_head head;
    size_t at; /* byte where its record begins */
} entry;

struct kept_fits {
    const fit_watch *watch; /* of the fit */
    kept_fits *above;       /* of the fit that this one is a part of */
    npmd_claim *claim;      /* no other run may write to its checkpoint meanwhile; its parts have none of their own */
    char path[PLAN_MAX_PATH + 8], from[PLAN_MAX_PATH + 8];
    uint64_t key, next;
    entry *list;
    size_t count, room, end; /* bytes of the file that are whole */
    int64_t lines;
    double opened, before; /* clock when it was opened; seconds of earlier runs */
    char failure[256];
};

static kept_fits *root_of(kept_fits *k)
{
    while (k->above != NULL)
        k = k->above;
    return k;
}

npmd_status kept_open(const fit_watch *watch, kept_fits **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    kept_fits *k = NULL;
    if (described_path(watch)[0] == '\0')
        return NPMD_OK;
    TRY(memory_new(&k, 1, err));
    if (watch->kept == NULL)
        TRY(file_claim_take(described_path(watch), &k->claim, err)); /* before it is read: who writes it would go on */
    k->watch = watch;
    k->above = watch->kept;
    k->opened = clock_seconds();
    snprintf(k->path, sizeof k->path, "%s.parts", described_path(watch));
    if (watch->resume[0] != '\0')
        snprintf(k->from, sizeof k->from, "%s.parts", watch->resume);
    *out = k;
    k = NULL;
done:
    kept_close(k);
    return st;
}

void kept_close(kept_fits *k)
{
    if (k == NULL)
        return;
    file_claim_release(k->claim);
    memory_free(k->list);
    memory_free(k);
}

int kept_told(const npmd_report *now, void *user)
{
    kept_fits *k = user;
    npmd_report report = *now;
    if (k->above == NULL) {
        report.line = k->lines;
        if (k->lines >= 0 && report.logged)
            k->lines++;
    }
    return watch_tell(k->watch, &report);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

#define OPENING 35

/* Of this fit, by this version: another one may compute other bits. */
static void opening_print(const kept_fits *k, char text[OPENING + 1])
{
    snprintf(text, OPENING + 1, "neuropmd parts 1, %016llx\n", (unsigned long long)k->key);
}

static npmd_status entry_note(kept_fits *k, const entry *one, npmd_error *err)
{
    const npmd_status st = memory_grow((void **)&k->list, &k->room, k->count + 1, sizeof *one, err);
    if (st == NPMD_OK)
        k->list[k->count++] = *one;
    return st;
}

/* Notes the entries of a file of this fit; of any other, or of none, there is nothing to note. */
static npmd_status entries_read(kept_fits *k, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    char opening[OPENING + 1], found[OPENING + 1] = "";
    size_t got = 0;
    entry one;
    opening_print(k, opening);
    const size_t length = strlen(opening);
    if (access(k->path, F_OK) != 0)
        return NPMD_OK;
    TRY(file_source_open(k->path, &s, err));
    TRY(file_source_take(&s, found, length, &got, err));
    if (strcmp(found, opening) != 0)
        goto done;
    k->end = length;
    for (;;) {
        TRY(file_source_take(&s, &one.head, sizeof one.head, &got, err));
        one.at = k->end + sizeof one.head;
        if (got < sizeof one.head || s.size < one.at || one.head.size > s.size - one.at)
            break;
        TRY(entry_note(k, &one, err));
        k->end = one.at + (size_t)one.head.size;
        TRY(file_source_seek(&s, k->end, err));
    }
done:
    file_source_close(&s);
    return st;
}

static bool write_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t more = write(fd, (const char *)data + done, size - done);
        if (more < 0 && errno != EINTR)
            return false;
        done += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* Behind the last whole entry; what a failure leaves there is overwritten by the next one. */
static npmd_status entry_append(kept_fits *k, const entry_head *head, const char *bytes, npmd_error *err)
{
    char opening[OPENING + 1];
    const bool first = k->end == 0;
    if (first) /* whatever is there is of no use, and is not written into: it may be a link to elsewhere */
        (void)unlink(k->path);
    const int how = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (first ? O_CREAT | O_EXCL : 0), fd = open(k->path, how, 0666);
    bool written = fd >= 0 && ftruncate(fd, (off_t)k->end) == 0 && lseek(fd, 0, SEEK_END) >= 0;
    opening_print(k, opening);
    size_t end = k->end;
    if (written && first) {
        end = strlen(opening);
        written = write_all(fd, opening, end);
    }
    written = written && write_all(fd, head, sizeof *head) && write_all(fd, bytes, (size_t)head->size)
              && fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    if (!written)
        return npmd_fail(err, NPMD_ERR_FILE, "cannot write %s: %s", k->path, strerror(why));
    const entry one = { *head, end + sizeof *head };
    k->end = one.at + (size_t)head->size;
    return entry_note(k, &one, err);
}

void kept_clear(kept_fits *k)
{
    if (k == NULL)
        return;
    (void)unlink(k->path);
    k->count = k->end = 0;
}

/* ---- one fit as a record ----------------------------------------------------------------------------------------- */

typedef struct outcome { /* of one of the fits */
    npmd_status st;
    npmd_model *model; /* NULL: it failed */
    npmd_error why;
    npmd_report last; /* what it told at last */
    int64_t lines;    /* of the log when it ended, */
    double clock;     /* and the clock of the fit that needs it */
} outcome;

/* What is asked for, and of which points: an entry of another fit is not taken for this one's. */
static uint64_t check_of(const fit_plan *plan, const npmd_points *pts)
{
    char text[256];
    uint64_t h = hash_word(points_hash(pts), (uint64_t)plan->rough);
    for (int i = 0; i < option_count(); i++)
        if (option_at(i)->shapes_answer) {
            const size_t length = option_print(&plan->asked, option_at(i), text, sizeof text);
            h = hash_bytes(h, text, length < sizeof text ? length : sizeof text - 1);
        }
    return h;
}

static npmd_status outcome_pack(const kept_fits *k, const outcome *o, char **bytes, size_t *size, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    json_t *root = json_object(), *model = NULL;
    TRY(json_put(root, "status", json_integer(o->st), err));
    TRY(json_put(root, "text", json_any_text(o->why.text), err));
    TRY(json_put(root, "clock", json_real(kept_clock(k)), err));
    TRY(json_put(root, "lines", json_integer(kept_lines(k)), err));
    TRY(json_put(root, "step", json_integer(o->last.step), err));
    TRY(json_put(root, "steps", json_integer(o->last.steps), err));
    TRY(json_put(root, "attempt", json_integer(o->last.attempt), err));
    TRY(json_put(root, "penalty", json_known(o->last.penalty), err));
    if (o->model != NULL) {
        TRY(model_keep(o->model, &model, &rec, err));
        TRY(json_put(root, "model", json_incref(model), err));
    }
    TRY(json_to_text(root, JSON_COMPACT | JSON_ENSURE_ASCII, &rec.metadata, err));
    TRY(record_pack(&rec, bytes, size, err));
done:
    json_decref(model);
    json_decref(root);
    record_free(&rec);
    return st;
}

static npmd_status outcome_unpack(const char *path, const file_bytes *bytes, const fit_plan *plan, outcome *o,
                                  npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    json_t *root = NULL;
    TRY(record_parse(path, bytes, &rec, err));
    TRY(json_from_text(rec.metadata, strlen(rec.metadata), path, &root, err));
    const char *text = json_string_value(json_object_get(root, "text"));
    const json_t *model = json_object_get(root, "model"), *penalty = json_object_get(root, "penalty");
    o->st = (npmd_status)json_integer_value(json_object_get(root, "status"));
    snprintf(o->why.text, sizeof o->why.text, "%s", text == NULL ? "" : text);
    o->clock = json_number_value(json_object_get(root, "clock"));
    o->lines = json_integer_value(json_object_get(root, "lines"));
    o->last = report_new(json_integer_value(json_object_get(root, "step")),
                         json_integer_value(json_object_get(root, "steps")),
                         (int)json_integer_value(json_object_get(root, "attempt")), o->clock);
    if (json_is_number(penalty))
        o->last.penalty = json_number_value(penalty);
    if (model != NULL)
        TRY(model_kept(&rec, model, path, plan, &o->model, err));
done:
    json_decref(root);
    record_free(&rec);
    return st;
}

static npmd_status entry_take(const kept_fits *k, const entry *one, const fit_plan *plan, outcome *o, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_source s = { 0 };
    file_bytes bytes = { .size = (size_t)one->head.size };
    size_t got = 0;
    TRY(memory_new(&bytes.data, bytes.size + 1, err));
    TRY(file_source_open(k->path, &s, err));
    TRY(file_source_seek(&s, one->at, err));
    TRY(file_source_take(&s, bytes.data, bytes.size, &got, err));
    if (got < bytes.size || hash_bytes(0, bytes.data, bytes.size) != one->head.hash)
        TRY(npmd_fail(err, NPMD_ERR_FORMAT, "%s: an entry is damaged", k->path));
    TRY(outcome_unpack(k->path, &bytes, plan, o, err));
done:
    file_source_close(&s);
    memory_free(bytes.data);
    return st;
}

/* *known: it ended in an earlier run, and this is how. What cannot be read was not there: the fit is done again. */
static npmd_status kept_find(kept_fits *k, uint64_t number, uint64_t check, const fit_plan *plan, outcome *o,
                             bool *known, npmd_error *err)
{
    npmd_error why = { 0 };
    *known = false;
    for (size_t i = k->count; i-- > 0 && !*known;) {
        const entry_head *head = &k->list[i].head;
        if (head->number != number || head->check != check)
            continue;
        const npmd_status st = entry_take(k, &k->list[i], plan, o, &why);
        if (st == NPMD_ERR_MEMORY)
            return npmd_fail(err, st, "%s", why.text);
        *known = st == NPMD_OK;
    }
    if (*known)
        kept_resume_at(k, o->lines, o->clock);
    return NPMD_OK;
}

/* A failure is remembered, and the fit goes on. */
static void kept_put(kept_fits *k, uint64_t number, uint64_t check, const outcome *o)
{
    npmd_error why = { 0 };
    entry_head head = { .number = number, .check = check };
    char *bytes = NULL;
    size_t size = 0;
    npmd_status st = outcome_pack(k, o, &bytes, &size, &why);
    head.size = size;
    if (st == NPMD_OK) {
        head.hash = hash_bytes(0, bytes, size);
        st = entry_append(k, &head, bytes, &why);
    }
    memory_free(bytes);
    snprintf(root_of(k)->failure, sizeof k->failure, "%.255s", st == NPMD_OK ? "" : why.text);
}

/* ---- a fit that another one needs -------------------------------------------------------------------------------- */

typedef struct child {
    const fit_watch *watch;
    npmd_report last;
} child;

static int child_told(const npmd_report *now, void *user)
{
    child *c = user;
    c->last = *now;
    return watch_tell(c->watch, now);
}

/* A fit that has a name has a checkpoint of its own, if it knows how. */
static fit_watch child_watch(const kept_fits *k, const fit_plan *plan, child *c)
{
    fit_watch own = *c->watch;
    char file[sizeof own.checkpoint + 32];
    own.progress = child_told;
    own.user = c;
    own.kept = NULL;
    own.checkpoint[0] = own.resume[0] = '\0';
    if (!plan->kind->keeps || own.kept_as == 0
        || snprintf(file, sizeof file, "%s.%d", k->path, own.kept_as) >= (int)sizeof own.checkpoint)
        return own;
    memcpy(own.checkpoint, file, strlen(file) + 1);
    own.kept = (kept_fits *)(uintptr_t)k;
    if (k->from[0] != '\0') { /* what is there is of this fit, or is not taken */
        snprintf(file, sizeof file, "%s.%d", k->from, own.kept_as);
        if (strlen(file) < sizeof own.resume && access(file, F_OK) == 0)
            memcpy(own.resume, file, strlen(file) + 1);
    }
    return own;
}

static void child_forget(const fit_watch *own)
{
    char parts[sizeof own->checkpoint + 8];
    if (own->checkpoint[0] == '\0')
        return;
    snprintf(parts, sizeof parts, "%s.parts", own->checkpoint);
    (void)unlink(parts);
    (void)unlink(own->checkpoint);
}

npmd_status kept_run(kept_fits *k, const fit_plan *plan, const npmd_points *pts, const fit_watch *watch,
                     npmd_model **out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    outcome o = { 0 };
    child c = { .watch = watch };
    uint64_t number = (uint64_t)watch->kept_as;
    const uint64_t check = check_of(plan, pts);
    bool known = false;
#pragma omp critical /* members may be fitted side by side */
    {
        if (number == 0)
            number = UNNAMED + k->next++;
        st = kept_find(k, number, check, plan, &o, &known, err);
    }
    TRY(st);
    const fit_watch own = child_watch(k, plan, &c);
    if (known) {
        child_forget(&own);               /* a kill may have come before */
        (void)watch_tell(watch, &o.last); /* whoever waits hears of it, and stops after it if he likes */
    } else {
        o.st = fit_run(plan, pts, &own, &o.model, &o.why);
        o.last = c.last;
        if (o.st == NPMD_ERR_NUMERIC || (o.st == NPMD_OK && !o.model->facts.interrupted)) {
#pragma omp critical
            kept_put(k, number, check, &o);
            if (kept_failure(k)[0] == '\0')
                child_forget(&own);
        } else if (o.st == NPMD_OK && own.checkpoint[0] != '\0') {
            snprintf(root_of(k)->failure, sizeof k->failure, "%s", o.model->facts.checkpoint_failure);
        }
    }
    if (o.model != NULL)
        o.model->facts.checkpoint_failure[0] = '\0'; /* it is kept here */
    if (o.st == NPMD_STOPPED)
        st = npmd_fail(err, o.st, "interrupted; `resume` %s goes on from here", described_path(k->watch));
    else if (o.st != NPMD_OK)
        st = npmd_fail(err, o.st, "%s", o.why.text);
    *out = o.model;
done:
    return st;
}

/* ---- the fit itself ---------------------------------------------------------------------------------------------- */

npmd_status kept_begin(kept_fits *k, const json_t *what, bool resuming, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char *text = NULL;
    file_bytes bytes = { 0 };
    if (k == NULL)
        return NPMD_OK;
    TRY(json_to_text(what, JSON_COMPACT | JSON_ENSURE_ASCII, &text, err));
    k->key = hash_bytes(hash_bytes(0, text, strlen(text)), version_text(), strlen(version_text()));
    if (!resuming) {
        k->from[0] = '\0';
        kept_clear(k);
        goto done;
    }
    if (strcmp(k->from, k->path) != 0 && access(k->from, F_OK) == 0) {
        TRY(file_read(k->from, &bytes, err));
        TRY(file_write(k->path, bytes.data, bytes.size, err));
    }
    TRY(entries_read(k, err));
done:
    file_bytes_free(&bytes);
    memory_free(text);
    return st;
}

npmd_status kept_compose_as(kept_fits *k, const fit_watch *watch, const json_t *what, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    record rec = { 0 };
    json_t *root = NULL;
    if (k == NULL)
        return NPMD_OK;
    const char *resume = described_resume(watch), *path = described_path(watch);
    if (resume != NULL) {
        st = described_read(resume, what, &rec, &root, err);
        if (st == NPMD_ERR_FORMAT && k->above != NULL) /* of another fit: nothing for this one */
            resume = NULL, st = NPMD_OK;
        TRY(st);
    }
    TRY(kept_begin(k, what, resume != NULL, err));
    if (resume == NULL || strcmp(resume, path) != 0) {
        json_decref(root);
        root = NULL;
        record_free(&rec);
        rec = (record){ 0 };
        TRY(described_begin(what, &root, err));
        TRY(described_seal(root, &rec, err));
        TRY(record_write(path, &rec, err));
    }
done:
    json_decref(root);
    record_free(&rec);
    return st;
}

npmd_status kept_compose(const fit *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *what = NULL;
    if (f->kept == NULL)
        return NPMD_OK;
    TRY(described_fit(f, &what, err));
    TRY(kept_compose_as(f->kept, f->watch, what, err));
done:
    json_decref(what);
    return st;
}

npmd_status kept_stop(const kept_fits *k, npmd_error *err)
{
    if (k == NULL || kept_failure(k)[0] != '\0')
        return NPMD_OK;
    return npmd_fail(err, NPMD_STOPPED, "interrupted; `resume` %s goes on from here", described_path(k->watch));
}

uint64_t kept_within(const kept_fits *k, int number)
{
    return hash_word(k->key, (uint64_t)number);
}

int64_t kept_lines(const kept_fits *k)
{
    return k == NULL ? 0 : root_of((kept_fits *)(uintptr_t)k)->lines;
}

void kept_resume_at(kept_fits *k, int64_t lines, double clock)
{
    const double later = clock - kept_clock(k);
    root_of(k)->lines = lines;
    for (; k != NULL && later > 0.0; k = k->above)
        k->before += later;
}

double kept_clock(const kept_fits *k)
{
    return clock_seconds() - k->opened + k->before;
}

const char *kept_failure(const kept_fits *k)
{
    return k == NULL ? "" : root_of((kept_fits *)(uintptr_t)k)->failure;
}

double fit_clock(const fit *f, double since)
{
    return f->kept == NULL ? clock_seconds() - since : kept_clock(f->kept);
}
