/* test_model.c - a fitted model: what it tells, its file, and files that are not quite one.
 *
 * Five small models, fitted once: T2 (products, weighted data), T3 (plane waves), S2, S2 x S1 (rotated
 * products) and T2 under the ridge law. They are trained for a few steps only: what is tested here holds for
 * any parameters. */
#include "check.h"
#include "geometry.h"

#include <dirent.h>
#include <jansson.h>
#include <unistd.h>

enum { MODELS = 5, ROTATED = 3, RIDGE = 4, POINTS = 240, PROBES = 40 };

typedef struct stage {
    char folder[256], path[512];
    npmd_domain *domain[MODELS];
    npmd_points *points[MODELS];
    npmd_model *model[MODELS];
    double total[MODELS]; /* sum of the weights */
} stage;

static const char *const DOMAIN[MODELS] = { "T2", "T3", "S2", "S2 x S1", "T2" };
static const npmd_compute EXACT = { .device = "reference" };

static const char *in_folder(stage *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
    return s->path;
}

/* Clustered points: half of them near one place. */
static void make_points(const npmd_domain *dom, size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < dom->factors; d++) {
            double *at = x + i * (size_t)dom->columns + dom->column[d];
            if (dom->factor[d] == &CIRCLE) {
                at[0] = i % 2 ? 2.0 + 0.6 * test_normal(&seed) : 2.0 * (double)CHECK_PI * test_uniform(&seed);
            } else {
                double r2 = 0.0;
                test_unit_vector(&seed, at);
                at[0] += i % 2 ? 1.5 : 0.0;
                for (int j = 0; j < 3; j++)
                    r2 += at[j] * at[j];
                for (int j = 0; j < 3; j++)
                    at[j] /= sqrt(r2);
            }
        }
}

static npmd_points *points_of(const npmd_domain *dom, size_t n, uint64_t seed)
{
    double *x = doubles(n * (size_t)dom->columns);
    npmd_points *pts = NULL;
    npmd_error err = { 0 };
    make_points(dom, n, seed, x);
    if (npmd_points_from(x, n, dom, &pts, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    free(x);
    return pts;
}

static int stage_open(void **state)
{
    stage *s = calloc(1, sizeof *s);
    const char *base = getenv("TMPDIR");
    npmd_error err = { 0 };
    if (s == NULL)
        return -1;
    *state = s;
    snprintf(s->folder, sizeof s->folder, "%.200s/npmd-model-XXXXXX",
             base != NULL && *base ? base : P_tmpdir);
    if (mkdtemp(s->folder) == NULL)
        return -1;
    for (int i = 0; i < MODELS; i++) {
        npmd_options opt;
        npmd_options_init(&opt);
        assert_int_equal(npmd_domain_parse(DOMAIN[i], &s->domain[i], &err), NPMD_OK);
        s->points[i] = points_of(s->domain[i], POINTS, (uint64_t)(5 + i));
        s->total[i] = POINTS;
        if (i == 0) {
            double w[POINTS];
            s->total[i] = 0.0;
            for (int k = 0; k < POINTS; k++)
                s->total[i] += w[k] = 0.5 + k % 5;
            assert_int_equal(npmd_array_write(in_folder(s, "w.npy"), w, POINTS, 1, &err), NPMD_OK);
            if (npmd_points_weigh(s->points[i], s->path, &err) != NPMD_OK)
                fail_msg("%s", err.text);
        }
        static const char *const SET[][2] = {
            { "features", "20" },     { "width", "8" },   { "depth", "3" },  { "steps", "60" },
            { "q1", "512" },          { "q2", "128" },    { "tau", "1e-4" }, { "seed", "11" },
            { "max-frequency", "4" }, { "rate", "1e-2" }, { "threads", "1" }
        };
        for (size_t j = 0; j < sizeof SET / sizeof *SET; j++)
            assert_int_equal(npmd_options_set(&opt, SET[j][0], SET[j][1], &err), NPMD_OK);
        if (i == ROTATED)
            assert_int_equal(npmd_options_set(&opt, "separable", "off", &err), NPMD_OK);
        if (i == RIDGE)
            assert_int_equal(npmd_options_set(&opt, "spectrum-law", "ridge", &err), NPMD_OK);
        if (npmd_fit(s->domain[i], s->points[i], &opt, &s->model[i], &err) != NPMD_OK) {
            print_error("%s: %s\n", DOMAIN[i], err.text);
            return -1;
        }
    }
    return 0;
}

static int stage_close(void **state)
{
    stage *s = *state;
    DIR *d = opendir(s->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(s->path, sizeof s->path, "%s/%.200s", s->folder, e->d_name);
            unlink(s->path);
        }
    if (d != NULL)
        closedir(d);
    for (int i = 0; i < MODELS; i++) {
        npmd_model_free(s->model[i]);
        npmd_points_free(s->points[i]);
        npmd_domain_free(s->domain[i]);
    }
    const int result = rmdir(s->folder);
    free(s);
    return result;
}

static double *evaluate(const npmd_model *m, const npmd_points *pts, npmd_what what, const npmd_compute *how)
{
    double *out = doubles(npmd_points_count(pts) * (size_t)npmd_domain_columns(npmd_model_domain(m)));
    npmd_error err = { 0 };
    if (npmd_evaluate_at(m, pts, what, how, out, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return out;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static unsigned char *read_bytes(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *data = malloc((size_t)1 << 20);
    assert_non_null(f);
    assert_non_null(data);
    *size = fread(data, 1, (size_t)1 << 20, f);
    fclose(f);
    assert_true(*size > 8 && *size < (size_t)1 << 20);
    return data;
}

static void write_bytes(const char *path, const unsigned char *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static npmd_model *save_and_load(stage *s, const npmd_model *m, const char *name)
{
    npmd_model *again = NULL;
    npmd_error err = { 0 };
    if (npmd_save(m, in_folder(s, name), &err) != NPMD_OK || npmd_load(s->path, &again, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return again;
}

static void a_file_keeps_every_bit(void **state)
{
    stage *s = *state;
    for (int i = 0; i < MODELS; i++) {
        npmd_model *again = save_and_load(s, s->model[i], "a.safetensors");
        npmd_points *probe = points_of(s->domain[i], PROBES, 99);
        for (int what = NPMD_LOG_DENSITY; what <= NPMD_LAPLACIAN; what++)
            for (int exact = 0; exact < 2; exact++) {
                const size_t count = what == NPMD_GRADIENT ? PROBES * (size_t)s->domain[i]->columns : PROBES;
                double *a = evaluate(s->model[i], probe, (npmd_what)what, exact ? &EXACT : NULL);
                double *b = evaluate(again, probe, (npmd_what)what, exact ? &EXACT : NULL);
                assert_memory_equal(a, b, count * sizeof *a);
                for (size_t k = 0; k < count; k++)
                    assert_true(isfinite(a[k]));
                free(a);
                free(b);
            }
        double x[PROBES * 4], a[PROBES], b[PROBES];
        make_points(s->domain[i], PROBES, 98, x);
        assert_int_equal(npmd_log_density(s->model[i], x, PROBES, a, NULL), NPMD_OK);
        assert_int_equal(npmd_log_density(again, x, PROBES, b, NULL), NPMD_OK);
        assert_memory_equal(a, b, sizeof a);
        char *before = NULL, *after = NULL;
        assert_int_equal(npmd_model_describe(s->model[i], &before, NULL), NPMD_OK);
        assert_int_equal(npmd_model_describe(again, &after, NULL), NPMD_OK);
        assert_string_equal(before, after);
        npmd_text_free(before);
        npmd_text_free(after);
        assert_int_equal(npmd_model_warnings(s->model[i]), npmd_model_warnings(again));
        for (int w = 0; w < npmd_model_warnings(again); w++)
            assert_string_equal(npmd_model_warning(s->model[i], w), npmd_model_warning(again, w));
        assert_string_equal(npmd_domain_text(npmd_model_domain(again)), npmd_domain_text(s->domain[i]));
        const npmd_fit_facts f = npmd_model_facts(s->model[i]), g = npmd_model_facts(again);
        assert_true(f.n == g.n && f.tau == g.tau && f.seed == g.seed && f.steps == g.steps
                    && f.objective == g.objective && f.log_integral == g.log_integral
                    && f.log_integral_se == g.log_integral_se && f.restarts == g.restarts
                    && f.members == g.members);

        /* saved twice, and saved by the loaded model: the same bytes */
        size_t size[3];
        unsigned char *bytes[3];
        bytes[0] = read_bytes(in_folder(s, "a.safetensors"), &size[0]);
        assert_int_equal(npmd_save(s->model[i], in_folder(s, "b.safetensors"), NULL), NPMD_OK);
        bytes[1] = read_bytes(s->path, &size[1]);
        assert_int_equal(npmd_save(again, in_folder(s, "c.safetensors"), NULL), NPMD_OK);
        bytes[2] = read_bytes(s->path, &size[2]);
        for (int k = 1; k < 3; k++) {
            assert_int_equal(size[k], size[0]);
            assert_memory_equal(bytes[k], bytes[0], size[0]);
        }
        for (int k = 0; k < 3; k++)
            free(bytes[k]);
        npmd_points_free(probe);
        npmd_model_free(again);
    }
}

/* A model file in parts, so that one of them can be spoilt. */
typedef struct parts {
    json_t *header, *facts;
    unsigned char *data;
    size_t size;
} parts;

static void parts_open(const char *path, parts *p)
{
    size_t size;
    unsigned char *bytes = read_bytes(path, &size);
    uint64_t length;
    memcpy(&length, bytes, sizeof length);
    assert_true(length < size);
    p->header = json_loadb((const char *)bytes + 8, length, 0, NULL);
    assert_non_null(p->header);
    p->facts = json_loads(
        json_string_value(json_object_get(json_object_get(p->header, "__metadata__"), "neuropmd")), 0, NULL);
    assert_non_null(p->facts);
    p->size = size - 8 - length;
    p->data = malloc(p->size + 1);
    assert_non_null(p->data);
    memcpy(p->data, bytes + 8 + length, p->size);
    free(bytes);
}

static void parts_close(parts *p)
{
    json_decref(p->header);
    json_decref(p->facts);
    free(p->data);
}

static void parts_write(const parts *p, const char *path)
{
    char *facts = json_dumps(p->facts, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_object_set_new(json_object_get(p->header, "__metadata__"), "neuropmd", json_string(facts));
    char *header = json_dumps(p->header, JSON_COMPACT);
    const size_t length = strlen(header), padded = (length + 7) / 8 * 8;
    const uint64_t stored = padded;
    unsigned char *bytes = malloc(8 + padded + p->size);
    assert_non_null(bytes);
    memcpy(bytes, &stored, 8);
    memset(bytes + 8, ' ', padded);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + padded, p->data, p->size);
    write_bytes(path, bytes, 8 + padded + p->size);
    free(bytes);
    free(header);
    free(facts);
}

static size_t tensor_at(const parts *p, const char *name)
{
    const json_t *offsets = json_object_get(json_object_get(p->header, name), "data_offsets");
    assert_non_null(offsets);
    return (size_t)json_integer_value(json_array_get(offsets, 0));
}

static void newer_version(parts *p)
{
    json_object_set_new(p->facts, "file_version",
                        json_integer(json_integer_value(json_object_get(p->facts, "file_version")) + 1));
}

static void missing_tensor(parts *p)
{
    json_object_set(p->header, "layer.2.other", json_object_get(p->header, "layer.2.bias"));
    json_object_del(p->header, "layer.2.bias");
}

static void hole(parts *p)
{
    json_object_del(p->header, "layer.2.bias");
}

static void no_skip(parts *p)
{
    json_object_set_new(p->header, "skip.other", json_incref(json_object_get(p->header, "skip.weight")));
    json_object_del(p->header, "skip.weight");
}

static void wrong_shape(parts *p)
{
    json_t *shape = json_object_get(json_object_get(p->header, "layer.1.weight"), "shape");
    json_t *first = json_incref(json_array_get(shape, 0));
    json_array_set(shape, 0, json_array_get(shape, 1)); /* (8, 20) becomes (20, 8): as many bytes */
    json_array_set_new(shape, 1, first);
}

static void wrong_type(parts *p)
{
    json_object_set_new(json_object_get(p->header, "layer.1.bias"), "dtype", json_string("I64"));
}

static void wrong_width(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "width", json_integer(9));
}

static void put_double(parts *p, const char *name, double value)
{
    memcpy(p->data + tensor_at(p, name) + 3 * sizeof value, &value, sizeof value);
}

static void nan_weight(parts *p)
{
    put_double(p, "layer.2.weight", NAN);
}

static void infinite_skip(parts *p)
{
    put_double(p, "skip.weight", -INFINITY);
}

static void index_too_high(parts *p)
{
    const int32_t value = 1000;
    memcpy(p->data + tensor_at(p, "encoding.function") + 2 * sizeof value, &value, sizeof value);
}

static void index_negative(parts *p)
{
    const int32_t value = INT32_MIN;
    memcpy(p->data + tensor_at(p, "encoding.function"), &value, sizeof value);
}

static void domain_unknown(parts *p)
{
    json_object_set_new(p->facts, "domain", json_string("S9 x K7"));
}

static void domain_other(parts *p)
{
    json_object_set_new(p->facts, "domain", json_string("S1^5"));
}

static void estimator_unknown(parts *p)
{
    json_object_set_new(p->facts, "estimator", json_string("oracle"));
}

static void option_unknown(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "none-such", json_integer(1));
}

static void option_senseless(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "depth", json_integer(-3));
}

static void no_options(parts *p)
{
    json_object_del(p->facts, "options");
}

static void log_integral_is_text(parts *p)
{
    json_object_set_new(p->facts, "log_integral", json_string("zero"));
}

static void facts_are_a_list(parts *p)
{
    json_decref(p->facts);
    p->facts = json_pack("[i]", 1);
}

static void refused(stage *s, const char *what)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    const npmd_status st = npmd_load(s->path, &m, &err);
    if (st != NPMD_ERR_FORMAT || m != NULL)
        fail_msg("%s: status %d, \"%s\"", what, (int)st, err.text);
    assert_int_equal(err.status, NPMD_ERR_FORMAT);
    if (strstr(err.text, s->path) == NULL)
        fail_msg("%s: \"%s\" does not name the file", what, err.text);
}

typedef struct spoilt_case {
    const char *what;
    void (*spoil)(parts *p);
    const char *says;
} spoilt_case;

static void spoil_one(stage *s, const npmd_model *good, const spoilt_case *c)
{
    parts p;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_save(good, in_folder(s, "good.safetensors"), NULL), NPMD_OK);
    parts_open(s->path, &p);
    parts_write(&p, in_folder(s, "same.safetensors")); /* the tool itself spoils nothing */
    if (npmd_load(s->path, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_model_free(m);
    c->spoil(&p);
    parts_write(&p, in_folder(s, "bad.safetensors"));
    refused(s, c->what);
    npmd_load(s->path, &m, &err);
    if (strstr(err.text, c->says) == NULL)
        fail_msg("%s: \"%s\" does not say %s", c->what, err.text, c->says);
    parts_close(&p);
}

static void spoilt_files_are_refused(void **state)
{
    stage *s = *state;
    static const spoilt_case CASE[] = { { "newer version", newer_version, "newer" },
                                        { "missing tensor", missing_tensor, "layer.2.bias" },
                                        { "hole", hole, "" },
                                        { "no skip", no_skip, "skip.weight" },
                                        { "wrong shape", wrong_shape, "layer.1.weight" },
                                        { "wrong type", wrong_type, "layer.1.bias" },
                                        { "wrong width", wrong_width, "" },
                                        { "NaN", nan_weight, "layer.2.weight" },
                                        { "infinity", infinite_skip, "skip.weight" },
                                        { "index too high", index_too_high, "encoding.function" },
                                        { "index negative", index_negative, "encoding.function" },
                                        { "domain unknown", domain_unknown, "S9" },
                                        { "domain other", domain_other, "" },
                                        { "estimator unknown", estimator_unknown, "oracle" },
                                        { "option unknown", option_unknown, "none-such" },
                                        { "option senseless", option_senseless, "--depth" },
                                        { "no options", no_options, "options" },
                                        { "log integral is text", log_integral_is_text, "" },
                                        { "facts are a list", facts_are_a_list, "" } };
    for (int i = 0; i < MODELS; i++)
        for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++)
            spoil_one(s, s->model[i], &CASE[c]);
}

/* ---- rotations ----------------------------------------------------------------------------------------- */

static void no_block(parts *p)
{
    json_object_set(p->header, "encoding.other", json_object_get(p->header, "encoding.block"));
    json_object_del(p->header, "encoding.block");
}

static void no_rotation(parts *p)
{
    json_object_set(p->header, "encoding.other", json_object_get(p->header, "encoding.rotation"));
    json_object_del(p->header, "encoding.rotation");
}

static void put_block(parts *p, int entry, int change)
{
    int32_t value;
    unsigned char *at = p->data + tensor_at(p, "encoding.block") + (size_t)entry * sizeof value;
    memcpy(&value, at, sizeof value);
    value += change;
    memcpy(at, &value, sizeof value);
}

static void block_without_features(parts *p)
{
    put_block(p, 0, -1000);
}

static void block_too_large(parts *p)
{
    put_block(p, 1, 33);
}

static void block_overflows(parts *p)
{
    put_block(p, 1, INT32_MAX - 64);
}

/* A function moves from the second block to the first: all sums stay, but two eigenvalues meet. */
static void blocks_mixed(parts *p)
{
    put_block(p, 1, 1);
    put_block(p, 3, -1);
}

static void block_claims_more(parts *p)
{
    put_block(p, 1, 1);
}

static void rotation_not_a_number(parts *p)
{
    put_double(p, "encoding.rotation", NAN);
}

static void rotation_too_long(parts *p)
{
    put_double(p, "encoding.rotation", 1.5);
}

static void function_of_another_eigenvalue(parts *p)
{
    const int32_t other[2] = { 24, 8 }; /* the highest of both: in no block beside the first function */
    memcpy(p->data + tensor_at(p, "encoding.function") + sizeof other, other, sizeof other);
}

static void a_torus_instead(parts *p)
{
    json_object_set_new(p->facts, "domain", json_string("S1 x S1"));
}

static void products_instead(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "separable", json_string("on"));
}

static void spoilt_rotations_are_refused(void **state)
{
    stage *s = *state;
    static const spoilt_case CASE[] = {
        { "no block", no_block, "encoding.block" },
        { "no rotation", no_rotation, "encoding.rotation" },
        { "block without features", block_without_features, "encoding.block" },
        { "block too large", block_too_large, "encoding.block" },
        { "block overflows", block_overflows, "encoding.block" },
        { "block claims more", block_claims_more, "encoding.block" },
        { "blocks mixed", blocks_mixed, "" }, /* the matrices' sizes may notice first */
        { "NaN", rotation_not_a_number, "encoding.rotation" },
        { "a long row", rotation_too_long, "encoding.rotation" },
        { "another eigenvalue", function_of_another_eigenvalue, "eigenvalues" },
        { "a torus", a_torus_instead, "" },
        { "products", products_instead, "encoding.function" },
    };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++)
        spoil_one(s, s->model[ROTATED], &CASE[c]);
}

/* ---- the ridge law ------------------------------------------------------------------------------------- */

static void no_scale(parts *p)
{
    json_object_set(p->header, "encoding.other", json_object_get(p->header, "encoding.scale"));
    json_object_del(p->header, "encoding.scale");
}

static void no_ridge(parts *p)
{
    json_object_set(p->header, "encoding.other", json_object_get(p->header, "encoding.ridge"));
    json_object_del(p->header, "encoding.ridge");
}

static void another_scale(parts *p)
{
    put_double(p, "encoding.scale", 7.7);
}

static void scale_not_a_number(parts *p)
{
    put_double(p, "encoding.scale", NAN);
}

static void put_ridge(parts *p, int entry, double value)
{
    memcpy(p->data + tensor_at(p, "encoding.ridge") + (size_t)entry * sizeof value, &value, sizeof value);
}

static void another_eps(parts *p)
{
    put_ridge(p, 0, 0.5);
}

static void negative_r_max(parts *p)
{
    put_ridge(p, 1, -1.0);
}

static void infinite_error(parts *p)
{
    put_ridge(p, 2, INFINITY);
}

static void another_option(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "spectrum-ridge", json_real(0.5));
}

static void no_eps(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "spectrum-ridge", json_real(0.0));
    put_ridge(p, 0, 0.0);
}

static void another_decay(parts *p)
{
    json_object_set_new(json_object_get(p->facts, "options"), "spectrum-decay", json_real(3.0));
}

static void spoilt_ridges_are_refused(void **state)
{
    stage *s = *state;
    static const spoilt_case CASE[] = {
        { "no scale", no_scale, "encoding.scale" },
        { "no ridge", no_ridge, "encoding.ridge" },
        { "another scale", another_scale, "encoding.scale" },
        { "scale NaN", scale_not_a_number, "encoding.scale" },
        { "another eps", another_eps, "encoding.ridge" },
        { "negative r_max", negative_r_max, "encoding.ridge" },
        { "infinite error", infinite_error, "encoding.ridge" },
        { "another option", another_option, "encoding.ridge" },
        { "no eps", no_eps, "encoding.ridge" },
        { "another decay", another_decay, "encoding.scale" },
    };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++)
        spoil_one(s, s->model[RIDGE], &CASE[c]);
}

/* info: r_max is half of the 20 features, the bound is the theorem's. */
static void ridges_tell_their_bound(void **state)
{
    stage *s = *state;
    char *json = NULL;
    assert_int_equal(npmd_model_describe(s->model[RIDGE], &json, NULL), NPMD_OK);
    json_t *root = json_loads(json, 0, NULL);
    const double r_max = json_real_value(json_object_get(root, "r_max")),
                 bound = json_real_value(json_object_get(root, "features_bound"));
    check_below("r_max", fabs(r_max - 10.0), 1e-8);
    check_below("features_bound", fabs(bound / (50.0 * log(160.0 / 0.05)) - 1.0), 1e-8);
    assert_true(json_real_value(json_object_get(root, "features_bound_delta")) == 0.05);
    assert_true(json_real_value(json_object_get(root, "r_max_se")) == 0.0);
    assert_true(json_real_value(json_object_get(root, "spectrum_ridge")) > 0.0);
    assert_true(json_real_value(json_object_get(root, "spectrum_ridge"))
                == json_real_value(json_object_get(json_object_get(root, "options"), "spectrum-ridge")));
    json_decref(root);
    npmd_text_free(json);
    assert_int_equal(npmd_model_describe(s->model[0], &json, NULL), NPMD_OK);
    assert_null(strstr(json, "r_max"));
    npmd_text_free(json);
}

/* A rotated field is a field like any other: its objective falls, and info tells of its blocks. */
static void rotated_fields_train(void **state)
{
    stage *s = *state;
    char *json = NULL;
    npmd_options opt;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    const double after = npmd_model_facts(s->model[ROTATED]).objective;
    npmd_options_init(&opt);
    static const char *const SET[][2] = {
        { "features", "20" },     { "width", "8" },   { "depth", "3" },   { "steps", "60" },
        { "q1", "512" },          { "q2", "128" },    { "tau", "1e-4" },  { "seed", "11" },
        { "max-frequency", "4" }, { "rate", "1e-7" }, { "threads", "2" }, { "separable", "off" },
    };
    for (size_t j = 0; j < sizeof SET / sizeof *SET; j++)
        assert_int_equal(npmd_options_set(&opt, SET[j][0], SET[j][1], &err), NPMD_OK);
    if (npmd_fit(s->domain[ROTATED], s->points[ROTATED], &opt, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    const double before = npmd_model_facts(m).objective; /* at this rate nothing moves */
    print_message("    objective %.4f at the start, %.4f after 60 steps\n", before, after);
    assert_true(after < before - 0.02);
    assert_int_equal(npmd_model_describe(s->model[ROTATED], &json, NULL), NPMD_OK);
    json_t *root = json_loads(json, 0, NULL), *rotated = json_object_get(root, "rotated");
    const json_int_t blocks = json_integer_value(json_object_get(rotated, "blocks")),
                     largest = json_integer_value(json_object_get(rotated, "largest_block")),
                     functions = json_integer_value(json_object_get(rotated, "functions"));
    assert_true(1 <= blocks && blocks <= 20 && 1 <= largest && largest <= 32 && functions >= 20
                && functions <= 32 * blocks);
    json_decref(root);
    npmd_text_free(json);
    npmd_model_free(m);
}

static void cut_files_are_refused(void **state)
{
    stage *s = *state;
    size_t size;
    assert_int_equal(npmd_save(s->model[0], in_folder(s, "good.safetensors"), NULL), NPMD_OK);
    unsigned char *bytes = read_bytes(s->path, &size);
    const size_t step = size / 60 + 1;
    in_folder(s, "bad.safetensors");
    for (size_t length = 0; length < size; length += length < 16 || length + 16 > size ? 1 : step) {
        write_bytes(s->path, bytes, length);
        refused(s, "cut");
    }
    bytes[size] = 0; /* read_bytes left room */
    write_bytes(s->path, bytes, size + 1);
    refused(s, "one byte too many");
    for (int b = 0; b < 8; b++) { /* a header that claims more than there is */
        const unsigned char kept = bytes[b];
        bytes[b] = 0xFF;
        write_bytes(s->path, bytes, size);
        refused(s, "length of the header");
        bytes[b] = kept;
    }
    free(bytes);
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_load(in_folder(s, "absent.safetensors"), &m, &err), NPMD_ERR_FILE);
    assert_non_null(strstr(err.text, s->path));
    assert_null(m);
}

/* ---- densities ----------------------------------------------------------------------------------------- */

/* Nodes with weights that sum to the volume: 192^2 on T2, 96 x 192 on S2 (Gauss-Legendre in z), exact for
 * frequencies below 192. v has frequencies up to 4 inside two sines, of which the first eight harmonics
 * count: exp v is resolved to rounding. */
static npmd_points *quadrature(const npmd_domain *dom, double **weight)
{
    enum { N = 192, LATITUDES = 96 };
    const bool torus = dom->torus;
    const size_t count = torus ? N * N : LATITUDES * N;
    double *x = doubles(count * 3), *w = doubles(count), z[LATITUDES], wz[LATITUDES];
    npmd_points *pts = NULL;
    gauss_legendre(LATITUDES, z, wz);
    for (size_t k = 0; k < count; k++) {
        const double phi = 2.0 * (double)CHECK_PI * (double)(k % N) / N;
        const size_t i = k / N;
        if (torus) {
            x[2 * k] = 2.0 * (double)CHECK_PI * (double)i / N;
            x[2 * k + 1] = phi;
            w[k] = 4.0 * (double)(CHECK_PI * CHECK_PI) / ((double)N * N);
        } else {
            x[3 * k] = sqrt(1.0 - z[i] * z[i]) * cos(phi);
            x[3 * k + 1] = sqrt(1.0 - z[i] * z[i]) * sin(phi);
            x[3 * k + 2] = z[i];
            w[k] = wz[i] * 2.0 * (double)CHECK_PI / N;
        }
    }
    assert_int_equal(npmd_points_from(x, count, dom, &pts, NULL), NPMD_OK);
    free(x);
    *weight = w;
    return pts;
}

static double weighted_sum(const double *w, const double *f, size_t n, int power)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += w[i] * (power == 1 ? f[i] : f[i] * f[i]);
    return sum;
}

static double mean_of(const npmd_points *pts, const double *f)
{
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < pts->n; i++) {
        const double w = pts->weight == NULL ? 1.0 : pts->weight[i];
        sum += w * f[i];
        total += w;
    }
    return sum / total;
}

/* The stored integral is known to log_integral_se (5 of them), and float32 evaluation adds less than 1e-5
 * (relative error of a density: a few hundred roundings of 6e-8 in v). */
static void the_density_integrates_to_one(void **state)
{
    stage *s = *state;
    for (int i = 0; i < MODELS; i += 2) {
        double *w;
        npmd_points *nodes = quadrature(s->domain[i], &w);
        double *f = evaluate(s->model[i], nodes, NPMD_DENSITY, &EXACT);
        double *g = evaluate(s->model[i], nodes, NPMD_DENSITY, NULL);
        const double bound = 5.0 * npmd_model_facts(s->model[i]).log_integral_se + 1e-5;
        char text[64];
        snprintf(text, sizeof text, "%s: |integral - 1|, reference", DOMAIN[i]);
        check_below(text, fabs(weighted_sum(w, f, nodes->n, 1) - 1.0), bound);
        snprintf(text, sizeof text, "%s: |integral - 1|, cpu", DOMAIN[i]);
        check_below(text, fabs(weighted_sum(w, g, nodes->n, 1) - 1.0), bound);

        /* the score of the training points: its integral of f^2 moves at most twice as much as log f, plus
         * what a rule at its accuracy (1e-5 or what it states) leaves: 4 log_integral_se */
        npmd_score score;
        assert_int_equal(npmd_score_points(s->model[i], s->points[i], 3, NULL, &score, NULL), NPMD_OK);
        double *at = evaluate(s->model[i], s->points[i], NPMD_DENSITY, &EXACT);
        double *logs = evaluate(s->model[i], s->points[i], NPMD_LOG_DENSITY, &EXACT);
        const double square = weighted_sum(w, f, nodes->n, 2), ise = square - 2.0 * mean_of(s->points[i], at);
        assert_int_equal(score.n, POINTS);
        snprintf(text, sizeof text, "%s: ISE criterion, relative to integral f^2", DOMAIN[i]);
        check_below(text, fabs(score.ise_criterion - ise) / square, 20.0 * score.log_integral_se + 4e-5);
        check_below("    times the volume",
                    fabs(score.ise_criterion_relative / score.ise_criterion - s->domain[i]->volume),
                    1e-12 * s->domain[i]->volume);
        check_below("    mean of -log f", fabs(score.nll + mean_of(s->points[i], logs)), 1e-5);
        check_below("    log integral", fabs(score.log_integral), 5.0 * score.log_integral_se + bound);
        assert_true(score.nll_se > 0.0 && score.ise_criterion_se > 0.0);
        free(f);
        free(g);
        free(w);
        free(at);
        free(logs);
        npmd_points_free(nodes);
    }
}

/* exp, log and one product: a few roundings of 2^-53 in numbers below 10, and 3e-15 more for the logarithms
 * in the offset. */
static void kinds_of_density_agree(void **state)
{
    stage *s = *state;
    for (int i = 0; i < MODELS; i++) {
        npmd_model *again = save_and_load(s, s->model[i], "d.safetensors");
        npmd_points *probe = points_of(s->domain[i], PROBES, 97);
        const npmd_model *both[2] = { s->model[i], again };
        double worst = 0.0;
        for (int k = 0; k < 2; k++) {
            double *log_f = evaluate(both[k], probe, NPMD_LOG_DENSITY, NULL),
                   *f = evaluate(both[k], probe, NPMD_DENSITY, NULL);
            double *relative = evaluate(both[k], probe, NPMD_RELATIVE, NULL);
            double *intensity = evaluate(both[k], probe, NPMD_INTENSITY, NULL);
            for (int j = 0; j < PROBES; j++) {
                worst = fmax(worst, fabs(exp(log_f[j]) / f[j] - 1.0));
                worst = fmax(worst, fabs(relative[j] / (f[j] * s->domain[i]->volume) - 1.0));
                worst = fmax(worst, fabs(intensity[j] / (f[j] * s->total[i]) - 1.0));
            }
            free(log_f);
            free(f);
            free(relative);
            free(intensity);
        }
        check_below(DOMAIN[i], worst, 1e-13);
        npmd_points_free(probe);
        npmd_model_free(again);
    }
}

/* ---- derivatives --------------------------------------------------------------------------------------- */

typedef struct walk { /* a geodesic through x along unit tangent direction t of one factor */
    const npmd_domain *domain;
    const double *x;
    int factor;
    double t[3];
} walk;

static double value_at(const npmd_model *m, const walk *way, double h)
{
    double x[DOMAIN_MAX_COLUMNS], out = NAN;
    npmd_points *pts = NULL;
    const int c = way->domain->column[way->factor];
    memcpy(x, way->x, (size_t)way->domain->columns * sizeof *x);
    if (way->domain->factor[way->factor] == &CIRCLE)
        x[c] += h;
    else
        for (int j = 0; j < 3; j++)
            x[c + j] = cos(h) * way->x[c + j] + sin(h) * way->t[j];
    assert_int_equal(npmd_points_from(x, 1, way->domain, &pts, NULL), NPMD_OK);
    assert_int_equal(npmd_evaluate_at(m, pts, NPMD_LOG_DENSITY, &EXACT, &out, NULL), NPMD_OK);
    npmd_points_free(pts);
    return out;
}

/* Five-point formulas: their error is O(h^4), so the difference between steps 2h and h is 15 times the
 * error at h: it bounds it. Rounding: values of size 10 carry about 1e-14; the formulas divide 1.5 (slope)
 * and 5.3 (bend) such errors by h and h^2. */
static void differences(const npmd_model *m, const walk *way, double h, double *slope, double *bend)
{
    const double f0 = value_at(m, way, 0.0), p1 = value_at(m, way, h), m1 = value_at(m, way, -h),
                 p2 = value_at(m, way, 2.0 * h), m2 = value_at(m, way, -2.0 * h);
    *slope = (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * h);
    *bend = (16.0 * (p1 + m1) - (p2 + m2) - 30.0 * f0) / (12.0 * h * h);
}

static void derivatives_are_those_of_the_density(void **state)
{
    stage *s = *state;
    const double h = 1e-3, noise = 1e-14;
    for (int i = 0; i < MODELS; i++) {
        const npmd_domain *dom = s->domain[i];
        npmd_points *probe = points_of(dom, PROBES, 96);
        double *gradient = evaluate(s->model[i], probe, NPMD_GRADIENT, &EXACT);
        double *laplacian = evaluate(s->model[i], probe, NPMD_LAPLACIAN, &EXACT);
        double *rough_gradient = evaluate(s->model[i], probe, NPMD_GRADIENT, NULL);
        double *rough_laplacian = evaluate(s->model[i], probe, NPMD_LAPLACIAN, NULL);
        double slope_worst = 0.0, bend_worst = 0.0;
        uint64_t seed = 12;
        for (int k = 0; k < PROBES; k++) {
            double sum = 0.0, sum_bound = 0.0;
            for (int d = 0; d < dom->factors; d++) {
                const int c = dom->column[d];
                walk way = { dom, points_rows(probe, (size_t)k, 1, NULL), d, { 1.0 } };
                const double *x = way.x + c, *g = gradient + k * dom->columns + c;
                double first[3], normal = 0.0;
                for (int t = 0; t < dom->factor[d]->dimension; t++) {
                    double slope[2], bend[2], along = g[0];
                    if (dom->factor[d] == &SPHERE) { /* a random tangent vector, then the one across */
                        if (t == 0) {
                            double inner = 0.0, r2 = 0.0;
                            test_unit_vector(&seed, first);
                            for (int j = 0; j < 3; j++)
                                inner += first[j] * x[j];
                            for (int j = 0; j < 3; j++) {
                                first[j] -= inner * x[j];
                                r2 += first[j] * first[j];
                            }
                            for (int j = 0; j < 3; j++)
                                way.t[j] = first[j] /= sqrt(r2);
                        } else {
                            for (int j = 0; j < 3; j++)
                                way.t[j] = x[(j + 1) % 3] * first[(j + 2) % 3]
                                           - x[(j + 2) % 3] * first[(j + 1) % 3];
                        }
                        along = g[0] * way.t[0] + g[1] * way.t[1] + g[2] * way.t[2];
                        normal = g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
                    }
                    differences(s->model[i], &way, 2.0 * h, &slope[0], &bend[0]);
                    differences(s->model[i], &way, h, &slope[1], &bend[1]);
                    const double bound = fabs(slope[0] - slope[1]) + 1.5 * noise / h * 3.0;
                    slope_worst = fmax(slope_worst, fabs(along - slope[1]) / bound);
                    sum += bend[1];
                    sum_bound += fabs(bend[0] - bend[1]) + 5.3 * noise / (h * h) * 3.0;
                }
                check_quiet("the gradient is tangent", fabs(normal), 1e-12);
            }
            bend_worst = fmax(bend_worst, fabs(laplacian[k] - sum) / sum_bound);
        }
        char text[64];
        snprintf(text, sizeof text, "%s: gradient by differences, error / bound", DOMAIN[i]);
        check_below(text, slope_worst, 1.0);
        snprintf(text, sizeof text, "%s: Laplacian by differences, error / bound", DOMAIN[i]);
        check_below(text, bend_worst, 1.0);
        /* float32: sums of at most 20 terms, three layers, each with a few roundings of 6e-8 magnified by
         * omega = 10 a layer: 1e-4 of the size of the whole */
        snprintf(text, sizeof text, "%s: gradient, float32", DOMAIN[i]);
        check_below(text, relative_norm(rough_gradient, gradient, PROBES * (size_t)dom->columns), 1e-4);
        snprintf(text, sizeof text, "%s: Laplacian, float32", DOMAIN[i]);
        check_below(text, relative_norm(rough_laplacian, laplacian, PROBES), 1e-4);
        free(gradient);
        free(laplacian);
        free(rough_gradient);
        free(rough_laplacian);
        npmd_points_free(probe);
    }
}

static void points_of_another_domain_are_refused(void **state)
{
    stage *s = *state;
    npmd_error err = { 0 };
    double out[POINTS * 3];
    npmd_score score;
    assert_int_equal(npmd_evaluate_at(s->model[0], s->points[2], NPMD_DENSITY, NULL, out, &err),
                     NPMD_ERR_SHAPE);
    assert_int_equal(npmd_score_points(s->model[0], s->points[2], 1, NULL, &score, &err), NPMD_ERR_SHAPE);
    assert_int_not_equal(npmd_evaluate_at(s->model[0], s->points[0], NPMD_DENSITY,
                                          &(npmd_compute){ .device = "abacus" }, out, &err),
                         NPMD_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_keeps_every_bit),
        cmocka_unit_test(spoilt_files_are_refused),
        cmocka_unit_test(spoilt_rotations_are_refused),
        cmocka_unit_test(spoilt_ridges_are_refused),
        cmocka_unit_test(ridges_tell_their_bound),
        cmocka_unit_test(rotated_fields_train),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(the_density_integrates_to_one),
        cmocka_unit_test(kinds_of_density_agree),
        cmocka_unit_test(derivatives_are_those_of_the_density),
        cmocka_unit_test(points_of_another_domain_are_refused),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
