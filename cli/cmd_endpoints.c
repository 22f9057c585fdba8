/* cmd_endpoints.c - neuropmd endpoints: the ends of streamlines, carried to the sphere or kept on the surface. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* Paths that may be given more than once are no "FILE": see parse_option. */
static const cli_option OPTIONS[] = {
    { "tracks", "TRACKS", .required = true,
      .help = "streamlines: .trk or .tck, or these with .gz; may be given several times" },
    { "surface", "FILE", .required = true,
      .help = "the cortical surface, of the left hemisphere if both are given: .gii .obj .off .ply .vtk (or .gz), "
              "FreeSurfer's own" },
    { "surface-right", "FILE", .help = "that of the right hemisphere" },
    { "sphere", "FILE",
      .help = "the sphere that the surface is registered to, of the same faces; without it the ends stay on the "
              "surface" },
    { "sphere-right", "FILE", .help = "that of the right hemisphere" },
    { "out", "FILE", .required = true,
      .help = "a row x1 y1 z1 x2 y2 z2 for each streamline kept; .npy .csv .tsv .txt. Of several pairs of "
              "hemispheres one file each, as in FILE_LL.npy" },
    { "pairs", "LL|RR|LR|all", .fallback = "all",
      .help = "which hemispheres are joined; more than one as in LL,RR. Of LR the left end comes first" },
    { "max-distance", "X", .fallback = "5", .help = "how far an end may be from the surface, mm" },
    { "affine", "FILE",
      .help = "4 x 4 numbers as text, from voxels to RAS mm, in the place of those in the header of a .trk file" },
    { "space", "mni152",
      .help = "the streamlines are in MNI152, the surface is in MNI305 (fsaverage): they are carried there" },
    { "transform", "FILE", .help = "instead: 4 x 4 numbers as text, from the streamlines' RAS mm to the surface's" },
    { "weights", "WEIGHTS",
      .help = "one number a streamline, as SIFT2 writes them; as often as --tracks, in the same order" },
    { "weights-out", "FILE",
      .help = "the weights of the streamlines kept, for fit --weights; one file a pair, as of --out" },
    { 0 },
};

static const char *const PAIRS[NPMD_PAIRS] = { "LL", "RR", "LR" };
static const struct {
    const char *key, *words;
} DROPS[NPMD_DROPS] = {
    { "dropped_too_few_points", "with fewer than two points" },
    { "dropped_zero_weight", "of weight zero" },
    { "dropped_both_too_far", "both ends too far from the surface" },
    { "dropped_start_too_far", "start too far from the surface" },
    { "dropped_end_too_far", "end too far from the surface" },
    { "dropped_other_hemisphere", "between other hemispheres" },
};

typedef struct endpoints_files { /* where the pairs go */
    char *out[NPMD_PAIRS], *weights[NPMD_PAIRS];
} endpoints_files;

/* ---- What was asked for ------------------------------------------------------------------------------------------ */

/* Bits 1 << npmd_pair. */
static int parse_pairs(const cli_args *args, bool two, unsigned *out)
{
    const char *text = cli_value(args, "pairs");
    const unsigned possible = two ? (1u << NPMD_PAIRS) - 1u : 1u << NPMD_PAIR_LL;
    *out = text ? 0 : possible;
    for (const char *at = text; at && *at;) {
        const size_t length = strcspn(at, ",");
        unsigned found = length == 3 && strncmp(at, "all", 3) == 0 ? possible : 0;
        for (int p = 0; p < NPMD_PAIRS; p++)
            if (length == 2 && strncmp(at, PAIRS[p], 2) == 0)
                found = 1u << p;
        if (!found)
            return cli_fail(args, CLI_USAGE, "--pairs is '%s', expected LL, RR, LR (or several, as in LL,RR) or all",
                            text);
        *out |= found;
        at += length + (at[length] == ',');
    }
    if (*out & ~possible)
        return cli_fail(args, CLI_USAGE, "--pairs %s needs the right hemisphere: --surface-right", text);
    return CLI_DONE;
}

/* The values of an option in the order of the command line; values (count). */
static int gather(const cli_args *args, const char *name, const char **values)
{
    int count = 0;
    for (int i = 0; i < args->count; i++)
        if (strcmp(args->given[i].option.name, name) == 0)
            values[count++] = args->given[i].value;
    return count;
}

/* conn.npy -> conn_LL.npy, conn.csv.gz -> conn_LL.csv.gz; the name itself when there is one pair only. */
static char *path_of_pair(const char *path, const char *pair, bool several)
{
    const size_t length = strlen(path), room = length + 4;
    char *name = malloc(room);
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    if (!name)
        return NULL;
    if (dot && dot > base && strcmp(dot, ".gz") == 0)
        for (const char *c = dot - 1; c >= base; c--)
            if (*c == '.') {
                dot = c;
                break;
            }
    const size_t stem = dot ? (size_t)(dot - path) : length;
    snprintf(name, room, "%.*s%s%s%s", (int)stem, path, several ? "_" : "", several ? pair : "", path + stem);
    return name;
}

static int name_files(const cli_args *args, unsigned pairs, endpoints_files *files)
{
    const char *out = cli_value(args, "out"), *weights = cli_value(args, "weights-out");
    const bool several = (pairs & (pairs - 1u)) != 0;
    npmd_error err = { 0 };
    for (int p = 0; p < NPMD_PAIRS; p++) {
        if (!(pairs & 1u << p))
            continue;
        files->out[p] = path_of_pair(out, PAIRS[p], several);
        files->weights[p] = weights ? path_of_pair(weights, PAIRS[p], several) : NULL;
        if (!files->out[p] || (weights && !files->weights[p]))
            return cli_fail(args, CLI_MEMORY, "not enough memory for the names of the files");
        if (cli_output(npmd_array_check, files->out[p], &err)
            || (weights && cli_output(npmd_array_check, files->weights[p], &err)))
            return cli_refuse(args, &err);
    }
    return CLI_DONE;
}

/* No output may take the place of an input, nor of the other output. */
static int check_names(const cli_args *args, const endpoints_files *files)
{
    static const char *const INPUTS[] = { "--tracks", "--weights",      "--surface", "--surface-right",
                                          "--sphere", "--sphere-right", "--affine",  "--transform" };
    int st = CLI_DONE;
    for (int p = 0; p < NPMD_PAIRS; p++) {
        TRY(cli_distinct(args, "--out", files->out[p], "--weights-out", files->weights[p]));
        for (int i = 0; i < args->count; i++)
            for (size_t k = 0; k < sizeof INPUTS / sizeof *INPUTS; k++)
                if (strcmp(args->given[i].option.name, INPUTS[k] + 2) == 0) {
                    TRY(cli_distinct(args, "--out", files->out[p], INPUTS[k], args->given[i].value));
                    TRY(cli_distinct(args, "--weights-out", files->weights[p], INPUTS[k], args->given[i].value));
                }
    }
done:
    return st;
}

/* ---- What was found ---------------------------------------------------------------------------------------------- */

static size_t kept(const npmd_endpoints_facts *e)
{
    size_t sum = 0;
    for (int p = 0; p < NPMD_PAIRS; p++)
        sum += e->count[p];
    return sum;
}

static int report_json(const cli_args *args, const npmd_endpoints_facts *e, const endpoints_files *files)
{
    cli_json j = { 0 };
    cli_json_begin(&j);
    CLI_PUT(&j, COUNT("streamlines", e->streamlines), COUNT("kept", kept(e)));
    for (int d = 0; d < NPMD_DROPS; d++)
        CLI_PUT(&j, COUNT(DROPS[d].key, e->dropped[d]));
    CLI_PUT(&j, REAL("distance_median", e->distance_median), REAL("distance_max", e->distance_max),
            COUNT("turned", e->turned));
    cli_json_list(&j, "pairs");
    for (int p = 0; p < NPMD_PAIRS; p++) {
        if (!files->out[p])
            continue;
        CLI_PUT_OBJECT(&j, TEXT("pair", PAIRS[p]), COUNT("n", e->count[p]),
                       TEXT("out", e->count[p] > 0 ? files->out[p] : NULL),
                       files->weights[p] ? TEXT("weights_out", e->count[p] > 0 ? files->weights[p] : NULL) : NO_FACT);
    }
    cli_json_leave(&j);
    return cli_json_print(args, &j);
}

static int report(const cli_args *args, const npmd_endpoints_facts *e, const endpoints_files *files)
{
    const bool two = cli_value(args, "surface-right") != NULL;
    if (args->json)
        return report_json(args, e, files);
    if (args->quiet)
        return CLI_DONE;
    cli_row(stdout, "streamlines", "%s", cli_words_count(e->streamlines).text);
    cli_row(stdout, "kept", "%s (%.1f %%)", cli_words_count(kept(e)).text,
            100.0 * (double)kept(e) / (double)e->streamlines);
    for (int d = 0; d < NPMD_DROPS; d++)
        if (e->dropped[d] > 0)
            cli_row(stdout, "dropped", "%s %s", cli_words_count(e->dropped[d]).text, DROPS[d].words);
    cli_row(stdout, "distance", "median %.3g mm, largest %.3g mm, of the ends kept", e->distance_median,
            e->distance_max);
    if (e->turned > 0)
        cli_row(stdout, "turned", "%s ran from right to left; the left end comes first",
                cli_words_count(e->turned).text);
    for (int p = 0; p < NPMD_PAIRS; p++) {
        if (!files->out[p])
            continue;
        if (e->count[p] == 0)
            cli_row(stdout, PAIRS[p], "none, no file is written");
        else
            cli_row(stdout, two ? PAIRS[p] : "out", "%s%s%s%s%s", two ? cli_words_count(e->count[p]).text : "",
                    two ? " in " : "", files->out[p], files->weights[p] ? ", weights in " : "",
                    files->weights[p] ? files->weights[p] : "");
    }
    return CLI_DONE;
}

/* Nothing is left: why, and where that may come from. */
static int refuse_all(const cli_args *args, const npmd_endpoints_facts *e)
{
    const struct {
        const char *words;
        size_t count;
    } reason[] = {
        { "have fewer than two points", e->dropped[NPMD_DROP_POINTS] },
        { "have the weight 0", e->dropped[NPMD_DROP_WEIGHT] },
        { "have an end or both too far from the surface: are they in its space (--space, --transform)?",
          e->dropped[NPMD_DROP_BOTH] + e->dropped[NPMD_DROP_START] + e->dropped[NPMD_DROP_END] },
        { "join other hemispheres", e->dropped[NPMD_DROP_PAIR] },
    };
    char text[300] = "";
    for (size_t i = 0; i < sizeof reason / sizeof *reason; i++)
        if (reason[i].count > 0)
            cli_append(text, sizeof text, "%s%zu %s", text[0] ? "; " : "", reason[i].count, reason[i].words);
    return cli_fail(args, CLI_INPUT, "none of %zu streamlines is kept: %s", e->streamlines, text);
}

static int write_files(const cli_args *args, const npmd_endpoints *ends, const npmd_endpoints_facts *e,
                       const endpoints_files *files)
{
    npmd_error err = { 0 };
    if (e->streamlines == 0)
        return cli_fail(args, CLI_INPUT, "%s holds no streamline", cli_value(args, "tracks"));
    if (kept(e) == 0)
        return refuse_all(args, e);
    for (int p = 0; p < NPMD_PAIRS; p++)
        if (e->count[p] > 0
            && (npmd_array_write(files->out[p], npmd_endpoints_rows(ends, (npmd_pair)p), e->count[p], 6, &err)
                || (files->weights[p]
                    && npmd_array_write(files->weights[p], npmd_endpoints_weights(ends, (npmd_pair)p), e->count[p], 1,
                                        &err))))
            return cli_refuse(args, &err);
    return CLI_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int read_request(const cli_args *args, const char **words, npmd_compute *how, npmd_endpoints_request *what)
{
    uint64_t seed = 0;
    int code = cli_compute(args, &seed, how);
    if (code != CLI_DONE || (code = cli_real(args, "max-distance", &what->max_distance)) != CLI_DONE)
        return code;
    what->how = how;
    what->surface[0] = cli_value(args, "surface");
    what->surface[1] = cli_value(args, "surface-right");
    what->sphere[0] = cli_value(args, "sphere");
    what->sphere[1] = cli_value(args, "sphere-right");
    what->affine = cli_value(args, "affine");
    what->space = cli_value(args, "space");
    what->transform = cli_value(args, "transform");
    what->tracks = words;
    what->files = gather(args, "tracks", words);
    const int weights = gather(args, "weights", words + what->files);
    what->weights = weights > 0 ? words + what->files : NULL;
    if (weights > 0 && weights != what->files)
        return cli_fail(args, CLI_USAGE, "--tracks is given %d times and --weights %d times: one for each was expected",
                        what->files, weights);
    if (!weights != !cli_value(args, "weights-out"))
        return cli_fail(args, CLI_USAGE, "--weights are read and --weights-out written: both or neither");
    if (what->space && what->transform)
        return cli_fail(args, CLI_USAGE, "--space and --transform both say where the streamlines go: one was expected");
    if (what->surface[1] ? !what->sphere[0] != !what->sphere[1] : what->sphere[1] != NULL)
        return cli_fail(args, CLI_USAGE, "a sphere is given for every surface or for none: --sphere, --sphere-right");
    return parse_pairs(args, what->surface[1] != NULL, &what->pairs);
}

static int run(const cli_args *args)
{
    int st = CLI_DONE;
    npmd_error err = { 0 };
    npmd_endpoints_request what = NPMD_SIZED(npmd_endpoints_request);
    npmd_endpoints_facts facts = NPMD_SIZED(npmd_endpoints_facts);
    npmd_endpoints *ends = NULL;
    npmd_compute how;
    endpoints_files files = { 0 };
    const char **words = calloc((size_t)args->count + 1, sizeof *words);
    if (!words)
        return cli_fail(args, CLI_MEMORY, "not enough memory for the command line");
    TRY(read_request(args, words, &how, &what));
    TRY(name_files(args, what.pairs, &files));
    TRY(check_names(args, &files));
    TRY(cli_checked(args, npmd_endpoints_find(&what, &ends, &err) || npmd_endpoints_facts_of(ends, &facts, &err),
                    &err));
    TRY(write_files(args, ends, &facts, &files));
    st = report(args, &facts, &files);
done:
    for (int p = 0; p < NPMD_PAIRS; p++) {
        free(files.out[p]);
        free(files.weights[p]);
    }
    npmd_endpoints_free(ends);
    free(words);
    return st;
}

const cli_command command_endpoints = {
    .name = "endpoints",
    .summary = "streamline end points to points on the sphere or the surface",
    .details = "Both ends of every streamline go to the closest point of the surface, of the nearer hemisphere if "
               "two are given; a streamline is kept when both lie within --max-distance. With --sphere they are "
               "carried to the registered sphere by barycentric coordinates and are unit vectors, data for fit "
               "--domain \"S2 x S2\"; else they stay on the surface, in its mm. Rows run from start to end, those "
               "of LR from left to right. Streamlines and surface must be in the same space, RAS mm of the scanner "
               "or of a template. What is left out is counted by its reason.",
    .examples =
        "neuropmd endpoints --tracks brain.tck --surface lh.white.gii --sphere lh.sphere.reg.gii --out left.npy\n"
        "neuropmd endpoints --tracks brain.trk.gz --space mni152 --surface lh.white --surface-right rh.white "
        "--sphere lh.sphere.reg --sphere-right rh.sphere.reg --out ends.npy\n"
        "neuropmd endpoints --tracks brain.tck --weights sift2.txt --weights-out w.npy --surface lh.white.gii "
        "--sphere lh.sphere.reg.gii --out left.npy\n",
    .options = OPTIONS,
    .run = run,
};
