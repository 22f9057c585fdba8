/* test_failure_tracts.c - ends of streamlines while memory runs out or a disk cannot be read (sweep.h). */
#include "sweep.h"
#include "tracks.h"

#define OCTAHEDRON                                                                                                     \
    "1 0 0\n-1 0 0\n0 1 0\n0 -1 0\n0 0 1\n0 0 -1\n3 0 2 4\n3 2 1 4\n3 1 3 4\n3 3 0 4\n3 2 0 5\n3 1 2 5\n3 3 1 5\n"     \
    "3 0 3 5\n"
static const char SURFACE[] = "OFF\n6 8 0\n" OCTAHEDRON;
static const double LINE[3][3] = { { 1.5, 0.25, 0.5 }, { 0, 0, 0 }, { -1.25, 0.5, 1 } };

static void put_tracks(stage *s)
{
    trk_header h = TRK_PLAIN;
    track_bytes b = { 0 }, zipped = { 0 };
    h.scalars = 1;
    trk_begin(&b, &h);
    for (int i = 0; i < 5; i++)
        trk_line(&b, &h, 3, LINE);
    track_zip(&b, 2, &zipped);
    put_bytes(&s->at, "tracks.trk.gz", zipped.data, zipped.size);
    track_free(&b);
    track_free(&zipped);
    tck_begin(&b, "Float32BE", NULL);
    for (int i = 0; i < 5; i++)
        tck_line(&b, "Float32BE", 3, LINE);
    tck_end(&b, "Float32BE");
    put_bytes(&s->at, "tracks.tck", b.data, b.size);
    track_free(&b);
    put_text(&s->at, "surface.off", SURFACE);
    put_text(&s->at, "sift.txt", "1 2 3 4 5\n");
    put_text(&s->at, "matrix.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n");
}

static npmd_status run_ends(stage *s, outcome *o, bool whole, npmd_error *err)
{
    enum { NAMES = 5 };
    static const char *const NAME[NAMES] = { "tracks.trk.gz", "tracks.tck", "surface.off", "sift.txt", "matrix.txt" };
    char path[NAMES][300];
    for (int i = 0; i < NAMES; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", s->at.folder, NAME[i]);
    const char *const tracks[] = { path[0], path[1] }, *const weights[] = { path[3], path[3] };
    const npmd_compute how = { .size = sizeof how, .threads = 1 };
    npmd_endpoints_request what = {
        .size = sizeof what, .tracks = whole ? tracks : tracks + 1, .files = 1, .how = &how
    };
    what.surface[0] = path[2];
    if (whole) {
        what.surface[1] = what.sphere[0] = what.sphere[1] = path[2];
        what.weights = weights;
        what.affine = path[4];
        what.transform = path[4];
    }
    npmd_endpoints *e = NULL;
    const npmd_status st = npmd_endpoints_find(&what, &e, err);
    if (st == NPMD_OK) {
        npmd_endpoints_facts facts = NPMD_SIZED(npmd_endpoints_facts);
        assert_int_equal(npmd_endpoints_facts_of(e, &facts, NULL), NPMD_OK);
        assert_true(facts.count[NPMD_PAIR_LL] == 5);
        memcpy(o->value, npmd_endpoints_rows(e, NPMD_PAIR_LL), 30 * sizeof *o->value);
        if (whole)
            memcpy(o->value + 30, npmd_endpoints_weights(e, NPMD_PAIR_LL), 5 * sizeof *o->value);
    } else if (e != NULL) {
        fail_msg("ends that failed were told");
    }
    npmd_endpoints_free(e);
    return st;
}

static npmd_status run_trk(stage *s, outcome *o, npmd_error *err)
{
    return run_ends(s, o, true, err);
}

static npmd_status run_tck(stage *s, outcome *o, npmd_error *err)
{
    return run_ends(s, o, false, err);
}

static const operation OPS[] = {
    { .name = "ends of .trk.gz on two spheres", .run = run_trk },
    { .name = "ends of .tck on a surface", .run = run_tck },
};

static void ends_without_memory(void **state)
{
    put_tracks(*state);
    SWEEP_MEMORY(*state, OPS);
}

static void ends_from_a_bad_disk(void **state)
{
    static const allowance CALLS[] = {
        { FAULT_OPEN, EMFILE, 2, 0 },
        { FAULT_STAT, EIO, 2, 0 },
        { FAULT_READ, EIO, 2, 0 },
        { FAULT_CLOSE, EIO, 0, 8 }, /* all was read, of at most eight files */
    };
    put_tracks(*state);
    SWEEP_FILES(*state, OPS, CALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_without_memory),
        cmocka_unit_test(ends_from_a_bad_disk),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
