/* test_model_file.c - the file of a fitted model: saved and loaded it is the same model to the last bit, and a file
 * that is not quite one, spoilt in any of its parts or cut anywhere, is refused in words. */
#include "models.h"
#include "trees.h"

static void a_file_keeps_every_bit(void **state)
{
    models *s = *state;
    for (int i = 0; i < MODELS; i++) {
        npmd_model *again = models_again(s, s->model[i], "a.safetensors");
        npmd_points *probe = models_points(s->domain[i], PROBES, 99);
        for (int what = NPMD_LOG_DENSITY; what <= NPMD_LAPLACIAN; what++)
            for (int exact = 0; exact < 2; exact++) {
                const size_t count = what == NPMD_GRADIENT ? PROBES * (size_t)s->domain[i]->columns : PROBES;
                double *a = models_values(s->model[i], probe, (npmd_what)what, exact ? &EXACT : NULL);
                double *b = models_values(again, probe, (npmd_what)what, exact ? &EXACT : NULL);
                assert_memory_equal(a, b, count * sizeof *a);
                for (size_t k = 0; k < count; k++)
                    assert_true(isfinite(a[k]));
                free(a);
                free(b);
            }
        double x[PROBES * 4], a[PROBES], b[PROBES];
        models_coordinates(s->domain[i], PROBES, 98, x);
        assert_int_equal(npmd_log_density(s->model[i], x, PROBES, a, NULL), NPMD_OK);
        assert_int_equal(npmd_log_density(again, x, PROBES, b, NULL), NPMD_OK);
        assert_memory_equal(a, b, sizeof a);
        char *before = NULL, *after = NULL;
        assert_int_equal(npmd_model_describe(s->model[i], &before, NULL), NPMD_OK);
        assert_int_equal(npmd_model_describe(again, &after, NULL), NPMD_OK);
        assert_string_equal(before, after);
        npmd_text_free(before);
        npmd_text_free(after);
        assert_int_equal(s->model[i]->warnings, again->warnings);
        for (int w = 0; npmd_model_warning(again, w) != NULL; w++)
            assert_string_equal(npmd_model_warning(s->model[i], w), npmd_model_warning(again, w));
        assert_string_equal(npmd_domain_text(npmd_model_domain(again)), npmd_domain_text(s->domain[i]));
        npmd_fit_facts f = NPMD_SIZED(npmd_fit_facts), g = NPMD_SIZED(npmd_fit_facts);
        assert_int_equal(npmd_model_facts(s->model[i], &f, NULL), NPMD_OK);
        assert_int_equal(npmd_model_facts(again, &g, NULL), NPMD_OK);
        assert_true(f.n == g.n && f.tau == g.tau && f.seed == g.seed && f.steps == g.steps && f.objective == g.objective
                    && f.log_integral == g.log_integral && f.log_integral_se == g.log_integral_se
                    && f.restarts == g.restarts && f.members == g.members);

        /* saved twice, and saved by the loaded model: the same bytes */
        size_t size[3];
        unsigned char *bytes[3];
        bytes[0] = get_bytes(in_folder(&s->at, "a.safetensors"), &size[0]);
        assert_int_equal(npmd_save(s->model[i], in_folder(&s->at, "b.safetensors"), NULL), NPMD_OK);
        bytes[1] = get_bytes(s->at.path, &size[1]);
        assert_int_equal(npmd_save(again, in_folder(&s->at, "c.safetensors"), NULL), NPMD_OK);
        bytes[2] = get_bytes(s->at.path, &size[2]);
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
    unsigned char *bytes = get_bytes(path, &size);
    uint64_t length;
    memcpy(&length, bytes, sizeof length);
    assert_true(length < size);
    p->header = tree_read((const char *)bytes + 8, length);
    const json_t *metadata = json_object_get(p->header, "__metadata__");
    const char *facts = json_string_value(json_object_get(metadata, "neuropmd"));
    assert_non_null(facts);
    p->facts = tree_read(facts, strlen(facts));
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

static void put(json_t *object, const char *key, json_t *value)
{
    assert_int_equal(json_put(object, key, value, NULL), NPMD_OK);
}

static void parts_write(const parts *p, models *s, const char *name)
{
    char *facts = tree_print(p->facts, JSON_COMPACT);
    put(tree_inside(p->header, "__metadata__"), "neuropmd", json_string(facts));
    char *header = tree_print(p->header, JSON_COMPACT);
    const size_t length = strlen(header), padded = (length + 7) / 8 * 8;
    const uint64_t stored = padded;
    unsigned char *bytes = malloc(8 + padded + p->size);
    assert_non_null(bytes);
    memcpy(bytes, &stored, 8);
    memset(bytes + 8, ' ', padded);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + padded, p->data, p->size);
    put_bytes(&s->at, name, bytes, 8 + padded + p->size);
    free(bytes);
    free(header);
    free(facts);
}

static void call_otherwise(parts *p, const char *which, const char *name)
{
    put(p->header, name, json_incref(json_object_get(p->header, which)));
    json_object_del(p->header, which);
}

static size_t tensor_at(const parts *p, const char *name)
{
    const json_t *offsets = json_object_get(json_object_get(p->header, name), "data_offsets");
    assert_non_null(offsets);
    return (size_t)json_integer_value(json_array_get(offsets, 0));
}

static void newer_version(parts *p)
{
    put(p->facts, "file_version", json_integer(json_integer_value(json_object_get(p->facts, "file_version")) + 1));
}

static void missing_tensor(parts *p)
{
    call_otherwise(p, "layer.2.bias", "layer.2.other");
}

static void hole(parts *p)
{
    json_object_del(p->header, "layer.2.bias");
}

static void no_skip(parts *p)
{
    call_otherwise(p, "skip.weight", "skip.other");
}

static void wrong_shape(parts *p)
{
    json_t *weight = tree_inside(p->header, "layer.1.weight"), *turned = json_array();
    for (size_t d = 2; d-- > 0;) /* (8, 20) becomes (20, 8): as many bytes */
        assert_int_equal(json_append(turned, json_incref(json_array_get(json_object_get(weight, "shape"), d)), NULL),
                         NPMD_OK);
    put(weight, "shape", turned);
}

static void wrong_type(parts *p)
{
    put(tree_inside(p->header, "layer.1.bias"), "dtype", json_string("I64"));
}

static void wrong_width(parts *p)
{
    put(tree_inside(p->facts, "options"), "width", json_integer(9));
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
    put(p->facts, "domain", json_string("S9 x K7"));
}

static void domain_other(parts *p)
{
    put(p->facts, "domain", json_string("S1^5"));
}

static void estimator_unknown(parts *p)
{
    put(p->facts, "estimator", json_string("oracle"));
}

static void option_unknown(parts *p)
{
    put(tree_inside(p->facts, "options"), "none-such", json_integer(1));
}

static void option_senseless(parts *p)
{
    put(tree_inside(p->facts, "options"), "depth", json_integer(-3));
}

static void no_options(parts *p)
{
    json_object_del(p->facts, "options");
}

static void log_integral_is_text(parts *p)
{
    put(p->facts, "log_integral", json_string("zero"));
}

static void facts_are_a_list(parts *p)
{
    json_decref(p->facts);
    p->facts = tree_read("[1]", 3);
}

static void refused(models *s, const char *what)
{
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    const npmd_status st = npmd_load(s->at.path, &m, &err);
    if (st != NPMD_ERR_FORMAT || m != NULL)
        fail_msg("%s: status %d, \"%s\"", what, (int)st, err.text);
    assert_int_equal(err.status, NPMD_ERR_FORMAT);
    if (strstr(err.text, s->at.path) == NULL)
        fail_msg("%s: \"%s\" does not name the file", what, err.text);
}

typedef struct spoilt_case {
    const char *what;
    void (*spoil)(parts *p);
    const char *says;
} spoilt_case;

static void spoil_one(models *s, const npmd_model *good, const spoilt_case *c)
{
    parts p;
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_save(good, in_folder(&s->at, "good.safetensors"), NULL), NPMD_OK);
    parts_open(s->at.path, &p);
    parts_write(&p, s, "same.safetensors"); /* the tool itself spoils nothing */
    if (npmd_load(s->at.path, &m, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    npmd_model_free(m);
    c->spoil(&p);
    parts_write(&p, s, "bad.safetensors");
    refused(s, c->what);
    npmd_load(s->at.path, &m, &err);
    if (strstr(err.text, c->says) == NULL)
        fail_msg("%s: \"%s\" does not say %s", c->what, err.text, c->says);
    parts_close(&p);
}

static void spoilt_files_are_refused(void **state)
{
    models *s = *state;
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
                                        { "option senseless", option_senseless, "`depth`" },
                                        { "no options", no_options, "options" },
                                        { "log integral is text", log_integral_is_text, "" },
                                        { "facts are a list", facts_are_a_list, "" } };
    for (int i = 0; i < MODELS; i++)
        for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++)
            spoil_one(s, s->model[i], &CASE[c]);
}

/* ---- rotations --------------------------------------------------------------------------------------------------- */

static void no_block(parts *p)
{
    call_otherwise(p, "encoding.block", "encoding.other");
}

static void no_rotation(parts *p)
{
    call_otherwise(p, "encoding.rotation", "encoding.other");
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
    put(p->facts, "domain", json_string("S1 x S1"));
}

static void products_instead(parts *p)
{
    put(tree_inside(p->facts, "options"), "separable", json_string("on"));
}

static void spoilt_rotations_are_refused(void **state)
{
    models *s = *state;
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

/* ---- the ridge law ----------------------------------------------------------------------------------------------- */

static void no_scale(parts *p)
{
    call_otherwise(p, "encoding.scale", "encoding.other");
}

static void no_ridge(parts *p)
{
    call_otherwise(p, "encoding.ridge", "encoding.other");
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
    put(tree_inside(p->facts, "options"), "spectrum-ridge", json_real(0.5));
}

static void no_eps(parts *p)
{
    put(tree_inside(p->facts, "options"), "spectrum-ridge", json_real(0.0));
    put_ridge(p, 0, 0.0);
}

static void another_decay(parts *p)
{
    put(tree_inside(p->facts, "options"), "spectrum-decay", json_real(3.0));
}

static void spoilt_ridges_are_refused(void **state)
{
    models *s = *state;
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

static void cut_files_are_refused(void **state)
{
    models *s = *state;
    size_t size;
    assert_int_equal(npmd_save(s->model[0], in_folder(&s->at, "good.safetensors"), NULL), NPMD_OK);
    unsigned char *bytes = get_bytes(s->at.path, &size);
    const size_t step = size / 60 + 1;
    for (size_t length = 0; length < size; length += length < 16 || length + 16 > size ? 1 : step) {
        put_bytes(&s->at, "bad.safetensors", bytes, length);
        refused(s, "cut");
    }
    put_bytes(&s->at, "bad.safetensors", bytes, size + 1);
    refused(s, "one byte too many");
    for (int b = 0; b < 8; b++) { /* a header that claims more than there is */
        const unsigned char kept = bytes[b];
        bytes[b] = 0xFF;
        put_bytes(&s->at, "bad.safetensors", bytes, size);
        refused(s, "length of the header");
        bytes[b] = kept;
    }
    free(bytes);
    npmd_model *m = NULL;
    npmd_error err = { 0 };
    assert_int_equal(npmd_load(in_folder(&s->at, "absent.safetensors"), &m, &err), NPMD_ERR_FILE);
    assert_non_null(strstr(err.text, s->at.path));
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_keeps_every_bit),       cmocka_unit_test(spoilt_files_are_refused),
        cmocka_unit_test(spoilt_rotations_are_refused), cmocka_unit_test(spoilt_ridges_are_refused),
        cmocka_unit_test(cut_files_are_refused),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}
