/* reproduce_file.c - the results of an experiment: one JSON line for each row and replicate, on disk before the next
 * one is reported.
 *
 * A line begins with the task (experiment, domain, replicate, method, settings, data, truth, options) and continues
 * with its results. A task is done when the file has a line that begins, byte for byte, as its own would, and its
 * status is done; one that failed is tried again. A run that is killed leaves at most one incomplete line, at the end,
 * which is removed before anything is added. Lines of other runs stay as they are. */
#include "connectivity.h"
#include "gauntlet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char OPENING[] = "{\"experiment\": \"";

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static int line_take(const cli_args *args, cli_json *j, reproduce_task *task)
{
    if (j->failed) {
        cli_json_free(j);
        return cli_fail(args, CLI_MEMORY, "not enough memory for a line of results");
    }
    free(task->line);
    task->line = j->text;
    j->text = NULL;
    cli_json_free(j);
    return CLI_DONE;
}

int reproduce_line_begin(const reproduce_plan *plan, reproduce_task *task)
{
    const reproduce_pairs *pairs = plan->pairs;
    const reproduce_row *row = task->row;
    cli_json j = { 0 };
    cli_json_begin(&j);
    CLI_PUT(&j, TEXT("experiment", plan->experiment->name));
    if (plan->gauntlet)
        gauntlet_line_begin(plan, task, &j);
    else
        CLI_PUT(&j, TEXT("domain", pairs ? pairs->domain : row->domain), WHOLE("replicate", task->replicate),
                TEXT("method", row->method), TEXT("settings", row->settings), TEXT("data", task->data),
                pairs              ? TEXT("inputs", pairs->inputs)
                : plan->truth_path ? TEXT("truth", plan->truth_path)
                                   : TEXT("truth", reproduce_recipe(plan, row->domain)),
                pairs              ? FLAG("unordered", pairs->unordered)
                : plan->truth_path ? NO_FACT
                                   : COUNT("truth_seed", plan->truth_seed),
                TEXT("options", task->options));
    cli_json_end(&j);
    if (!j.failed)
        j.text[strlen(j.text) - strlen("}\n")] = '\0'; /* more is to come */
    return line_take(plan->args, &j, task);
}

void reproduce_hash_text(uint64_t *hash, const char *text)
{
    for (; *text != '\0'; text++)
        *hash = (*hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    *hash = (*hash ^ 0xffu) * UINT64_C(0x100000001b3); /* no byte of a text: where it ends matters */
}

bool reproduce_hash_file(uint64_t *hash, const char *path)
{
    unsigned char piece[65536];
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    for (size_t got; (got = fread(piece, 1, sizeof piece, f)) > 0;)
        for (size_t i = 0; i < got; i++)
            *hash = (*hash ^ piece[i]) * UINT64_C(0x100000001b3);
    const bool read = !ferror(f);
    fclose(f);
    return read;
}

/* Of the model's file; "" if it cannot be read. */
static void reproduce_model_hash(const reproduce_plan *plan, const reproduce_row *row, char hash[17])
{
    uint64_t value = REPRODUCE_HASH;
    char *path = reproduce_model_of(plan, row);
    if (path && reproduce_hash_file(&value, path))
        snprintf(hash, 17, "%016" PRIx64, value);
    free(path);
}

bool reproduce_model_is_there(const reproduce_plan *plan, const reproduce_task *task)
{
    char hash[17] = "", quoted[40];
    reproduce_model_hash(plan, task->row, hash);
    snprintf(quoted, sizeof quoted, "\"model\": \"%s\"", hash);
    return hash[0] && strstr(task->line, quoted);
}

int reproduce_line_finish(const reproduce_plan *plan, reproduce_task *task)
{
    const reproduce_result *r = &task->result;
    cli_json j = { 0 };
    cli_json_begin(&j);
    for (const int *f = plan->experiment->figures; *f != FIGURES_END; f++)
        CLI_PUT(&j, REAL(REPRODUCE_KEYS[*f], r->figure[*f]));
    for (int i = 0; !task->failed && plan->experiment->data[i].key; i++) {
        cli_json_list(&j, plan->experiment->data[i].key);
        cli_json_whole(&j, task->rows[i] ? task->rows[i] : "");
        cli_json_leave(&j);
        free(task->rows[i]);
        task->rows[i] = NULL;
    }
    if (plan->pairs && task->replicate == 1 && !task->failed) {
        char hash[17] = "";
        reproduce_model_hash(plan, task->row, hash);
        CLI_PUT(&j, TEXT("model", hash));
    }
    CLI_PUT(&j, TEXT("version", npmd_version()),
            task->failed && plan->gauntlet ? WHOLE("exit", cli_exit_of(r->status)) : NO_FACT,
            task->failed ? TEXT("reason", r->text) : NO_FACT, TEXT("status", task->failed ? "failed" : "done"));
    cli_json_end(&j);
    if (!j.failed) { /* goes on where the line ends */
        char *rest = j.text;
        j.text = reproduce_words("%s, %s", task->line, rest + strlen("{"));
        j.failed = !j.text;
        free(rest);
    }
    return line_take(plan->args, &j, task);
}

/* The number after a key; a line of ours holds the key once after its beginning. */
double reproduce_line_number(const char *line, const char *key)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    char *end = NULL;
    const double value = at ? strtod(at + strlen(quoted), &end) : NAN;
    return at && end != at + strlen(quoted) ? value : NAN;
}

static void line_read(const reproduce_plan *plan, const char *line, reproduce_task *task)
{
    const char *tail = line + strlen(task->line);
    task->result = (reproduce_result){ .kind = REPRODUCE_DONE };
    for (int i = 0; i < FIGURES; i++)
        task->result.figure[i] = NAN;
    for (const int *f = plan->experiment->figures; *f != FIGURES_END; f++)
        task->result.figure[*f] = reproduce_line_number(tail, REPRODUCE_KEYS[*f]);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int refuse(const cli_args *args, const char *what, const char *path)
{
    return cli_fail(args, CLI_FILE, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Two runs that add to one file would both do all of the work. Where locks do not exist, that is allowed. */
static int lock(const cli_args *args, const reproduce_file *file)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(file->fd, F_SETLK, &whole) != 0 && (errno == EACCES || errno == EAGAIN))
        return cli_fail(args, CLI_FILE, "%s: another run is adding to this file", file->path);
    return CLI_DONE;
}

static int read_whole(const cli_args *args, const reproduce_file *file, char **out, size_t *size)
{
    struct stat facts = { 0 };
    if (fstat(file->fd, &facts) != 0)
        return refuse(args, "read", file->path);
    if (!S_ISREG(facts.st_mode))
        return cli_fail(args, CLI_FILE, "%s: is not a plain file", file->path);
    const size_t length = (size_t)facts.st_size;
    char *text = malloc(length + 1);
    if (!text)
        return cli_fail(args, CLI_MEMORY, "%s: not enough memory for %zu bytes", file->path, length);
    if (reproduce_read(file->fd, text, length) < length) {
        free(text);
        return refuse(args, "read", file->path);
    }
    text[length] = '\0';
    *out = text;
    *size = length;
    return CLI_DONE;
}

static bool line_is_whole(const char *line, size_t length)
{
    return length > sizeof OPENING && line[length - 1] == '}' && !memchr(line, '\0', length);
}

/* Marks what is done; *good is where the last whole line ends. A line that is none of ours, or the
 * beginning of one, belongs to a file that was named by mistake: it stays as it is. */
static int read_lines(reproduce_plan *plan, const char *path, char *text, size_t size, size_t *good)
{
    size_t number = 1;
    *good = 0;
    for (size_t at = 0; at < size; number++) {
        char *line = text + at, *end = memchr(line, '\n', size - at);
        const size_t length = end ? (size_t)(end - line) : size - at;
        const size_t opening = length < sizeof OPENING - 1 ? length : sizeof OPENING - 1;
        const bool last = !end || at + length + 1 == size;
        if (memcmp(line, OPENING, opening) != 0 || (!last && !line_is_whole(line, length)))
            return cli_fail(plan->args, CLI_INPUT, "%s, line %zu: found %.30s, expected a line of results of reproduce",
                            path, number, length == 0 ? "an empty line" : line);
        if (!end || !line_is_whole(line, length))
            break;
        *end = '\0';
        for (int i = 0; i < plan->count; i++) {
            reproduce_task *task = &plan->tasks[i];
            const size_t begun = task->done ? 0 : strlen(task->line);
            if (begun > 0 && strncmp(line, task->line, begun) == 0 && strstr(line + begun, "\"status\": \"done\"}")) {
                line_read(plan, line, task);
                task->done = true;
                free(task->line);
                if (!(task->line = strdup(line)))
                    return cli_fail(plan->args, CLI_MEMORY, "%s: not enough memory", path);
            }
        }
        at += length + 1;
        *good = at;
    }
    return CLI_DONE;
}

int reproduce_file_open(reproduce_plan *plan, const char *path, reproduce_file *file)
{
    char *text = NULL;
    size_t size = 0, good = 0;
    *file = (reproduce_file){ .path = path, .fd = -1 };
    if (!path)
        return CLI_DONE;
    file->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file->fd < 0)
        return refuse(plan->args, "write", path);
    int code = lock(plan->args, file);
    if (code == CLI_DONE)
        code = read_whole(plan->args, file, &text, &size);
    if (code == CLI_DONE)
        code = read_lines(plan, path, text, size, &good);
    free(text);
    if (code == CLI_DONE && good < size) {
        if (ftruncate(file->fd, (off_t)good) != 0 || fsync(file->fd) != 0)
            return refuse(plan->args, "write", path);
        cli_note(plan->args, "%s: the last line was cut off, %zu bytes taken back", path, size - good);
    }
    return code;
}

/* All of the line or, on a full disk, nothing of it. */
int reproduce_file_append(const cli_args *args, reproduce_file *file, const char *line)
{
    struct stat before = { 0 };
    const size_t length = strlen(line);
    if (!file->path)
        return CLI_DONE;
    if (fstat(file->fd, &before) != 0)
        return refuse(args, "write", file->path);
    if (reproduce_write(file->fd, line, length) == length && fsync(file->fd) == 0)
        return CLI_DONE;
    const int why = errno;
    if (ftruncate(file->fd, before.st_size) != 0)
        (void)0; /* the next run takes it back */
    errno = why;
    return refuse(args, "write", file->path);
}

void reproduce_file_close(reproduce_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
