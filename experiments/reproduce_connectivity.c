/* reproduce_connectivity.c - neuropmd reproduce connectivity: tractograms, with one folder of results for each.
 *
 * The fits run as those of any experiment do (reproduce_run.c), in processes of their own (reproduce_pairs.c); maps and
 * tables of a region come after all of them (reproduce_maps.c), since this process may compute only after the last
 * fork. */
#include "connectivity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPHERES "S2 x S2"

enum { TRACTOGRAMS_MOST = 256 };

typedef struct tractograms {
    const cli_args *args;
    reproduce_plan base;
    reproduce_pairs pairs[TRACTOGRAMS_MOST];
    reproduce_plan plan[TRACTOGRAMS_MOST];
    int count;
    const char *domain; /* as --domain says it; of spheres "S2 x S2", whatever its spelling */
    bool surfaces;      /* it names meshes */
    char *usual;        /* where the streamlines of the tests lie */
} tractograms;

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static const char *const only_for_others[] = { "truth", "truth-seed", "n", NULL };

static int check_given(const cli_args *args)
{
    const bool labels = cli_value(args, "labels") != NULL, roi = cli_value(args, "roi") != NULL;
    const char *unordered = cli_value(args, "unordered");
    const int code = reproduce_check_groups(args, only_for_others);
    if (code != CLI_DONE)
        return code;
    if (!cli_value(args, "out"))
        return cli_fail(args, CLI_USAGE, "connectivity needs --out, the folder of its results");
    if (cli_value(args, "data") && cli_value(args, "tracks"))
        return cli_fail(args, CLI_USAGE, "--data and --tracks exclude each other");
    if (cli_value(args, "space") && !cli_value(args, "tracks"))
        return cli_fail(args, CLI_USAGE, "--space is that of --tracks, and there are none");
    if (labels != roi)
        return cli_fail(args, CLI_USAGE, "--%s is missing: a region is a name (--roi) in labels (--labels)",
                        labels ? "roi" : "labels");
    if (unordered && strcmp(unordered, "on") != 0 && strcmp(unordered, "off") != 0)
        return cli_fail(args, CLI_USAGE, "--unordered is '%s', expected on or off", unordered);
    return CLI_DONE;
}

/* Meshes are read in the process that checks the inputs (reproduce_pairs.c): their eigenfunctions take threads, which
 * this one must not have before it forks. */
static int check_domain(tractograms *t)
{
    const char *text = cli_value(t->args, "domain");
    npmd_domain *domain = NULL, *spheres = NULL;
    npmd_error err = { 0 };
    int code = CLI_DONE;
    t->domain = SPHERES;
    t->surfaces = text && strcasestr(text, "mesh:");
    if (t->surfaces)
        t->domain = text;
    if (!text || t->surfaces)
        return CLI_DONE;
    if (npmd_domain_parse(text, &domain, &err) || npmd_domain_parse(SPHERES, &spheres, &err))
        code = cli_refuse(t->args, &err);
    else if (strcmp(npmd_domain_text(domain), npmd_domain_text(spheres)) != 0)
        code = cli_fail(t->args, CLI_USAGE, "--domain is '%s', expected S2 x S2 or mesh:FILE^2", text);
    npmd_domain_free(spheres);
    npmd_domain_free(domain);
    return code;
}

static int check_meshes(const cli_args *args, const reproduce_pairs *p)
{
    if (p->max_distance > 0.0 && !p->tracks && !p->surfaces)
        return cli_fail(args, CLI_USAGE, "--max-distance is from a surface, and there is none");
    if (p->tracks && !p->surface)
        return cli_fail(args, CLI_USAGE, "--tracks needs --surface, which the streamlines end at");
    if (p->surfaces && !p->surface)
        return cli_fail(args, CLI_USAGE, "--domain %s needs --surface, the same mesh", p->domain);
    if (!p->surfaces && !p->sphere && (p->tracks || p->labels))
        return cli_fail(args, CLI_USAGE, "--%s needs --sphere, which the surface is registered to",
                        p->tracks ? "tracks" : "labels");
    return CLI_DONE;
}

/* Without data: the streamlines that come with the project's tests. */
static int find_usual(tractograms *t)
{
    const char *shared = getenv("NEUROPMD_SHARED");
    t->usual = reproduce_words("%s/data/streamlines/endpoints_LL_xyz6.npy", shared && shared[0] ? shared : "../shared");
    if (!t->usual)
        return cli_fail(t->args, CLI_MEMORY, "not enough memory for a file's name");
    if (access(t->usual, R_OK) != 0)
        return cli_fail(t->args, CLI_USAGE,
                        "neither --data nor --tracks is given, and %s cannot be read: which streamlines?", t->usual);
    return CLI_DONE;
}

static bool name_is_taken(const tractograms *t, const char *name)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->pairs[i].name, name) == 0)
            return true;
    return false;
}

/* "/a/brain.trk.gz" to "brain"; a name that was there before gets a number. */
static char *name_of(const tractograms *t, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t length = base[0] == '.' ? strlen(base) : strcspn(base, ".");
    char *name = reproduce_words("%.*s", (int)length, base);
    for (int number = 2; name && name_is_taken(t, name); number++) {
        free(name);
        name = reproduce_words("%.*s_%d", (int)length, base, number);
    }
    return name;
}

static int add_tractogram(tractograms *t, const char *tracks, const char *data)
{
    const cli_args *args = t->args;
    const char *unordered = cli_value(args, "unordered");
    if (t->count == TRACTOGRAMS_MOST)
        return cli_fail(args, CLI_USAGE, "more than %d tractograms", TRACTOGRAMS_MOST);
    reproduce_pairs *p = &t->pairs[t->count];
    *p = (reproduce_pairs){ .tracks = tracks,
                            .data = data,
                            .surface = cli_value(args, "surface"),
                            .sphere = cli_value(args, "sphere"),
                            .labels = cli_value(args, "labels"),
                            .region = cli_value(args, "roi"),
                            .domain = t->domain,
                            .surfaces = t->surfaces,
                            .unordered = unordered && strcmp(unordered, "on") == 0 };
    p->name = name_of(t, tracks ? tracks : data);
    t->count++;
    if (!p->name)
        return cli_fail(args, CLI_MEMORY, "not enough memory for a name");
    const int code = cli_distance(args, &p->max_distance);
    return code == CLI_DONE ? check_meshes(args, p) : code;
}

static int find_tractograms(tractograms *t)
{
    int code = CLI_DONE;
    for (int i = 0; i < t->args->count && code == CLI_DONE; i++) {
        const cli_given *g = &t->args->given[i];
        if (strcmp(g->option.name, "tracks") == 0)
            code = add_tractogram(t, g->value, NULL);
        else if (strcmp(g->option.name, "data") == 0)
            code = add_tractogram(t, NULL, g->value);
    }
    if (code == CLI_DONE && t->count == 0 && (code = find_usual(t)) == CLI_DONE)
        code = add_tractogram(t, NULL, t->usual);
    return code;
}

static int read_base(tractograms *t)
{
    const cli_args *args = t->args;
    reproduce_plan *plan = &t->base;
    int code = check_domain(t);
    if (code != CLI_DONE)
        return code;
    *plan = (reproduce_plan){ .args = args,
                              .experiment = reproduce_find(args->operand),
                              .domain_name = t->surfaces ? "mesh x mesh" : SPHERES,
                              .out = cli_value(args, "out"),
                              .replicates = 3 };
    if ((code = cli_compute(args, &plan->seed, &plan->how)) != CLI_DONE
        || (code = reproduce_count(args, "replicates", 10000, &plan->replicates)) != CLI_DONE
        || (code = reproduce_read_jobs(plan)) != CLI_DONE)
        return code;
    return reproduce_check_steps(args);
}

/* ---- The fits ---------------------------------------------------------------------------------------------------- */

/* The published field takes 20,000 steps with 100,000 integration points each: some minutes on a card, days on two
 * cores. */
static bool takes_days(const reproduce_plan *plan, const reproduce_row *row)
{
    return strstr(row->options, "paper-s2s2") && !(plan->how.device && strncmp(plan->how.device, "cuda", 4) == 0)
           && !cli_value(plan->args, "steps");
}

/* Leaves what takes days away; asked for by name, it is refused. */
static int drop_days(reproduce_plan *plan)
{
    int kept = 0, dropped = 0;
    for (int i = 0; i < plan->count; i++)
        if (takes_days(plan, plan->tasks[i].row)) {
            reproduce_task_free(&plan->tasks[i]);
            dropped++;
        } else {
            plan->tasks[kept++] = plan->tasks[i];
        }
    plan->count = kept;
    if (dropped > 0 && kept == 0)
        return cli_fail(plan->args, CLI_USAGE,
                        "field:published takes 20,000 steps, days without a card: give --device cuda, or --steps");
    if (dropped > 0)
        cli_note(plan->args,
                 "field published is left out: its 20,000 steps take days without a card; it runs with --device "
                 "cuda, or with --steps");
    return CLI_DONE;
}

static int make_folder(const cli_args *args, const char *path)
{
    struct stat facts = { 0 };
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)))
        return CLI_DONE;
    return cli_fail(args, CLI_FILE, "%s: cannot make this folder: %s", path,
                    errno == EEXIST ? "a file is there" : strerror(errno));
}

static int make_folders(tractograms *t, reproduce_pairs *p)
{
    const char *out = cli_value(t->args, "out");
    p->folder = t->count == 1 ? reproduce_words("%s", out) : reproduce_words("%s/%s", out, p->name);
    char *models = p->folder ? reproduce_words("%s/models", p->folder) : NULL;
    p->results = p->folder ? reproduce_words("%s/results.jsonl", p->folder) : NULL;
    p->points = p->tracks && p->folder ? reproduce_words("%s/endpoints.npy", p->folder)
                                       : reproduce_words("%s", p->data ? p->data : "");
    int code = models && p->results && p->points
                   ? make_folder(t->args, out)
                   : cli_fail(t->args, CLI_MEMORY, "not enough memory for the names of files");
    if (code == CLI_DONE && (code = make_folder(t->args, p->folder)) == CLI_DONE)
        code = make_folder(t->args, models);
    free(models);
    return code;
}

char *reproduce_model_of(const reproduce_plan *plan, const reproduce_row *row)
{
    return reproduce_words("%s/models/%s_%s.safetensors", plan->pairs->folder, row->method, row->settings);
}

/* What the pairs are made of. A file that cannot be read is refused where it is read in earnest. */
static void hash_inputs(const tractograms *t, reproduce_pairs *p)
{
    uint64_t hash = REPRODUCE_HASH;
    const char *space = cli_value(t->args, "space"), *distance = cli_value(t->args, "max-distance");
    const char *file[] = { p->tracks ? p->tracks : p->data, p->tracks || p->surfaces ? p->surface : NULL,
                           p->tracks && !p->surfaces ? p->sphere : NULL };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (file[i])
            (void)reproduce_hash_file(&hash, file[i]);
    reproduce_hash_text(&hash, space ? space : "");
    reproduce_hash_text(&hash, distance ? distance : "");
    snprintf(p->inputs, sizeof p->inputs, "%016" PRIx64, hash);
}

static int fit_all(tractograms *t)
{
    int st = CLI_DONE;
    for (int i = 0; i < t->count; i++) {
        reproduce_plan *plan = &t->plan[i];
        *plan = t->base;
        plan->pairs = &t->pairs[i];
        hash_inputs(t, &t->pairs[i]);
        TRY(reproduce_tasks(plan));
        TRY(drop_days(plan));
        TRY(make_folders(t, &t->pairs[i]));
        TRY(reproduce_compute(plan, plan->pairs->results));
    }
done:
    return st;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int report(const tractograms *t)
{
    cli_json j = { 0 };
    if (!t->args->json) {
        for (int i = 0; !t->args->quiet && i < t->count; i++) {
            printf("%s%s\n", i > 0 ? "\n" : "", t->pairs[i].name);
            reproduce_report_words(&t->plan[i]);
        }
        return CLI_DONE;
    }
    cli_json_begin(&j);
    CLI_PUT(&j, TEXT("experiment", t->base.experiment->name));
    cli_json_list(&j, "tractograms");
    for (int i = 0; i < t->count; i++) {
        cli_json_object(&j);
        CLI_PUT(&j, TEXT("name", t->pairs[i].name));
        reproduce_report_put(&t->plan[i], &j);
        cli_json_leave(&j);
    }
    cli_json_leave(&j);
    return cli_json_print(t->args, &j);
}

static void close_all(tractograms *t)
{
    for (int i = 0; i < t->count; i++) {
        if (t->plan[i].tasks)
            reproduce_tasks_free(&t->plan[i]);
        free(t->pairs[i].name);
        free(t->pairs[i].folder);
        free(t->pairs[i].points);
        free(t->pairs[i].results);
    }
    free(t->usual);
    free(t);
}

int reproduce_connectivity(const cli_args *args)
{
    int st = CLI_DONE;
    tractograms *t = calloc(1, sizeof *t);
    if (!t)
        return cli_fail(args, CLI_MEMORY, "not enough memory for the list of tractograms");
    t->args = args;
    TRY(check_given(args));
    TRY(read_base(t));
    TRY(find_tractograms(t));
    TRY(fit_all(t));
    for (int i = 0; i < t->count; i++) {
        TRY(reproduce_pairs_areas(&t->plan[i]));
        if (t->pairs[i].region)
            TRY(reproduce_maps(&t->plan[i]));
    }
    st = report(t);
done:
    close_all(t);
    return st;
}
