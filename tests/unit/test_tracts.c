/* test_tracts.c - files of streamlines: every convention of TrackVis' and MRtrix' files against their descriptions, and
 * files that are cut short, damaged or claim what they do not hold. */
#include "place.h"
#include "tracks.h"
#include "tracts.h"

/* Three streamlines of three, one and two points, far apart from each other. Whole multiples of 1/4: single precision
 * holds them, and their multiples by 1/2 and 2, exactly. */
static const double LINES[3][3][3] = {
    { { 1.25, 2.5, 3.75 }, { 7, 7, 7 }, { 4.5, 5.25, 6 } },
    { { -1, 12.5, 0.25 } },
    { { 9.75, -3.5, 21 }, { 2, 4, 8.25 } },
};
static const size_t POINTS[3] = { 3, 1, 2 };

static void put_lines(track_bytes *b, const trk_header *h)
{
    trk_begin(b, h);
    for (int i = 0; i < 3; i++)
        trk_line(b, h, POINTS[i], LINES[i]);
}

static void put_tck(track_bytes *b, const char *type, const char *count)
{
    tck_begin(b, type, count);
    for (int i = 0; i < 3; i++)
        tck_line(b, type, POINTS[i], LINES[i]);
    tck_end(b, type);
}

/* Ends as they are expected: m applied to those of LINES, to the last bit. */
static void assert_lines(const char *path, const affine *given, affine m)
{
    tracts *t = NULL;
    npmd_error err = { 0 };
    streamline s = { 0 };
    bool more = true;
    must(tracts_open(path, given, &t, &err), &err);
    tracts_keep_paths(t);
    for (int i = 0; i < 3; i++) {
        must(tracts_next(t, &s, &more, &err), &err);
        assert_true(more);
        for (size_t j = 0; j < POINTS[i]; j++) { /* the points between as well */
            double x[3];
            affine_apply(&m, LINES[i][j], x);
            assert_memory_equal(x, tracts_path(t) + 3 * j, sizeof x);
        }
        assert_true(s.points == POINTS[i]);
        for (int k = 0; k < 3; k++) {
            const double *a = LINES[i][0], *b = LINES[i][POINTS[i] - 1];
            const double start = m.a[k][0] * a[0] + m.a[k][1] * a[1] + m.a[k][2] * a[2] + m.a[k][3];
            const double end = m.a[k][0] * b[0] + m.a[k][1] * b[1] + m.a[k][2] * b[2] + m.a[k][3];
            assert_true(s.start[k] == start && s.end[k] == end);
        }
    }
    for (int again = 0; again < 2; again++) {
        must(tracts_next(t, &s, &more, &err), &err);
        assert_false(more);
    }
    assert_true(s.points == POINTS[2]); /* as it was */
    tracts_close(t);
}

/* Opens it and reads to its end, which is bad. */
static void assert_bad(const char *path, const affine *given, npmd_status expected, const char *words)
{
    tracts *t = NULL;
    npmd_error err = { 0 };
    streamline s = { 0 };
    npmd_status st = tracts_open(path, given, &t, &err);
    for (bool more = true; st == NPMD_OK && more;)
        st = tracts_next(t, &s, &more, &err);
    if (st != expected)
        fail_msg("status %d where %d was expected, \"%s\": %s", (int)st, (int)expected, words, err.text);
    assert_says(&err, words);
    tracts_close(t);
}

static const affine CORNER = { { { 1, 0, 0, -0.5 }, { 0, 1, 0, -0.5 }, { 0, 0, 1, -0.5 } } };

/* ---- TrackVis ---------------------------------------------------------------------------------------------------- */

static void trk_layouts(void **state)
{
    place *p = *state;
    for (int k = 0; k < 32; k++) {
        trk_header h = TRK_PLAIN;
        track_bytes b = { 0 }, zipped = { 0 };
        h.big_endian = k & 1;
        h.count = k & 2 ? 3 : 0;
        h.scalars = k & 4 ? 2 : 0;
        h.properties = k & 8 ? 3 : 0;
        put_lines(&b, &h);
        if (k & 16)
            track_zip(&b, 1 + (size_t)k % 3, &zipped);
        const track_bytes *file = k & 16 ? &zipped : &b;
        assert_lines(put_bytes(p, k & 16 ? "a.trk.gz" : "a.trk", file->data, file->size), NULL, CORNER);
        track_free(&b);
        track_free(&zipped);
    }
}

/* Voxels of 1/2, 2 and 4 mm and a matrix with entries that are sums of powers of two: nothing is rounded. */
static void trk_matrix(void **state)
{
    place *p = *state;
    trk_header h = TRK_PLAIN;
    track_bytes b = { 0 };
    const double voxel[3] = { 0.5, 2, 4 };
    const double matrix[4][4] = {
        { 0.5, 0.125, 0, -90 }, { -0.25, 2, 0.5, -126 }, { 0, 0.25, 4, -72 }, { 0, 0, 0, 1 }
    };
    affine expected;
    memcpy(h.voxel, voxel, sizeof voxel);
    memcpy(h.matrix, matrix, sizeof matrix);
    for (int i = 0; i < 3; i++) {
        expected.a[i][3] = matrix[i][3];
        for (int j = 0; j < 3; j++) {
            expected.a[i][j] = matrix[i][j] / voxel[j];
            expected.a[i][3] -= 0.5 * matrix[i][j];
        }
    }
    put_lines(&b, &h);
    assert_lines(put_bytes(p, "a.trk", b.data, b.size), NULL, expected);
    track_free(&b);
    /* Version 1, and version 2 without a matrix: it must be given, and is then read alike. */
    affine given;
    memcpy(given.a, matrix, sizeof given.a);
    for (int version = 1; version <= 2; version++) {
        h.version = version;
        memset(h.matrix, 0, sizeof h.matrix);
        put_lines(&b, &h);
        const char *path = put_bytes(p, "a.trk", b.data, b.size);
        assert_bad(path, NULL, NPMD_ERR_FORMAT, "no matrix from voxels to RAS mm");
        assert_lines(path, &given, expected);
        track_free(&b);
    }
    /* A given one counts for more than the header's. */
    h = TRK_PLAIN;
    memcpy(h.voxel, voxel, sizeof voxel);
    put_lines(&b, &h);
    assert_lines(put_bytes(p, "a.trk", b.data, b.size), &given, expected);
    track_free(&b);
}

/* All 48 orders of the points' voxels with all 48 of the matrix'. Along each anatomical axis the index of the matrix is
 * that of the points, or counts from the other side; RAS mm follow. */
static void trk_voxel_orders(void **state)
{
    place *p = *state;
    static const int PERMUTATIONS[6][3] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 }
    };
    static const char *const LETTERS[3] = { "LR", "PA", "IS" };
    static const double SHIFT[3] = { 8, -16, 32 };
    for (int k = 0; k < 48 * 48; k++) {
        const int *from = PERMUTATIONS[k % 48 / 8], *to = PERMUTATIONS[k / 48 / 8];
        trk_header h = TRK_PLAIN;
        track_bytes b = { 0 };
        affine expected = { { { 0 } } };
        char order[4] = { 0 };
        memset(h.matrix, 0, sizeof h.matrix);
        h.matrix[3][3] = 1;
        for (int s = 0; s < 3; s++) {
            const int plus = k % 8 >> s & 1, axis = from[s];
            order[s] = LETTERS[axis][plus];
            for (int e = 0; e < 3; e++) {
                if (to[e] != axis)
                    continue;
                const int sign = k / 48 % 8 >> e & 1 ? 1 : -1;
                h.matrix[axis][e] = sign;
                h.matrix[axis][3] = SHIFT[axis];
                const bool same = (sign == 1) == (plus == 1);
                /* index = +- (x_s - 1/2), RAS = sign index + shift */
                expected.a[axis][s] = same ? sign : -sign;
                expected.a[axis][3] = SHIFT[axis] + sign * (same ? -0.5 : h.dim[s] - 1 + 0.5);
            }
        }
        h.order = order;
        put_lines(&b, &h);
        assert_lines(put_bytes(p, "a.trk", b.data, b.size), NULL, expected);
        unlink(p->path); /* some file systems take long to write a file anew */
        track_free(&b);
    }
}

/* Without a voxel order: LPS. Lower case is the same. */
static void trk_order_left_out(void **state)
{
    place *p = *state;
    static const char *const ORDERS[] = { "", "LPS", "lps" };
    const affine expected = { { { -1, 0, 0, 9.5 }, { 0, -1, 0, 19.5 }, { 0, 0, 1, -0.5 } } };
    for (int k = 0; k < 3; k++) {
        trk_header h = TRK_PLAIN;
        track_bytes b = { 0 };
        h.order = ORDERS[k];
        put_lines(&b, &h);
        assert_lines(put_bytes(p, "a.trk", b.data, b.size), NULL, expected);
        track_free(&b);
    }
}

/* A rotation by less than 45 degrees about any axis leaves the orientation; sheared columns are judged by the closest
 * rotation: columns (1, 0, 0), (0.8, 0.6, 0), (0, 0, 1) have the polar factor with columns (3, -1, 0) / sqrt(10),
 * (1, 3, 0) / sqrt(10). */
static void orientations_of_oblique_matrices(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 1000; k++) {
        double axis[3];
        affine m = AFFINE_IDENTITY;
        test_unit_vector(&seed, axis);
        /* Rodrigues; every entry off the diagonal of a rotation by angle t is at most sin(t) + (1 - cos(t)) / 2, and
         * every one on it at least cos(t): at 30 degrees 0.57 against 0.87. */
        const double t = (double)CHECK_PI / 6.0 * test_uniform(&seed), c = cos(t), s = sin(t);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int third = 3 - i - j;
                const double cross = i == j ? 0.0 : ((j - i + 3) % 3 == 1 ? -axis[third] : axis[third]);
                m.a[i][j] = ((i == j ? c : s * cross) + (1.0 - c) * axis[i] * axis[j]) * (j == 1 ? -1.0 : 1.0)
                            * (1.0 + j);
            }
        const orientation o = orientation_of(&m);
        assert_true(o.axis[0] == 0 && o.axis[1] == 1 && o.axis[2] == 2);
        assert_true(o.sign[0] == 1 && o.sign[1] == -1 && o.sign[2] == 1);
    }
    const affine sheared = { { { 2, 0.8, 0, 0 }, { 0, 0.6, 0, 0 }, { 0, 0, 1, 0 } } };
    const orientation o = orientation_of(&sheared);
    assert_true(o.axis[0] == 0 && o.axis[1] == 1 && o.axis[2] == 2);
}

static void trk_refusals(void **state)
{
    place *p = *state;
    static const struct {
        int at, width; /* of what is changed in a good header */
        double value;
        bool real;
        const char *words;
    } CASES[] = {
        { 12, 4, 0, true, "byte 13: its voxels have the size 0" },
        { 20, 4, (double)NAN, true, "byte 21: its voxels have the size" },
        { 36, 2, -1, false, "byte 37: its number of scalars a point is -1" },
        { 238, 2, -2, false, "byte 239: its number of properties a streamline is -2" },
        { 440, 4, 0, true, "byte 441: its matrix from voxels to RAS mm makes no sense" },
        { 452, 4, (double)INFINITY, true, "byte 441: its matrix" },
        { 500, 4, 2, true, "byte 441: its matrix" },
        { 948, 1, 'X', false, "byte 949: its voxel order is 'XAS'" },
        { 948, 1, 'A', false, "byte 949: its voxel order is 'AAS'" },
        { 988, 4, -3, false, "byte 989: its number of streamlines is -3" },
        { 988, 4, 4, false, "cut short: it ends at byte 1084, in streamline 4 of the 4" },
        { 988, 4, 2, false, "its header says 2 streamlines, but more follows at byte 1057" },
        { 992, 4, 3, false, "a .trk file of version 3, expected 1 or 2" },
        { 996, 4, 999, false, "byte 997: the size of its header is not 1000" },
        { 1000, 4, -1, false, "byte 1001: streamline 1 has -1 points" },
        { 1000, 4, 2147483647, false, "cut short: it ends at byte 1084, in streamline 1" },
        { 1016, 4, (double)NAN, true, "byte 1017: point 2 of streamline 1 is not finite" },
        { 1080, 4, (double)-INFINITY, true, "byte 1073: point 2 of streamline 3 is not finite" },
    };
    for (int big = 0; big < 2; big++)
        for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
            trk_header h = TRK_PLAIN;
            track_bytes b = { 0 }, patch = { .big_endian = big == 1 };
            h.big_endian = big == 1;
            put_lines(&b, &h);
            assert_true(b.size == 1000 + 3 * 4 + 6 * 12);
            if (CASES[k].real)
                track_put_real(&patch, CASES[k].value, (size_t)CASES[k].width);
            else
                track_put_integer(&patch, (int64_t)CASES[k].value, (size_t)CASES[k].width);
            memcpy(b.data + CASES[k].at, patch.data, patch.size);
            assert_bad(put_bytes(p, "a.trk", b.data, b.size), NULL, NPMD_ERR_FORMAT, CASES[k].words);
            track_free(&b);
            track_free(&patch);
        }
    trk_header turned = TRK_PLAIN; /* an axis that is to be turned around must have a length */
    track_bytes b = { 0 };
    turned.order = "RAI";
    turned.dim[2] = 0;
    put_lines(&b, &turned);
    assert_bad(put_bytes(p, "a.trk", b.data, b.size), NULL, NPMD_ERR_FORMAT, "byte 11: 0 voxels along axis 3");
    track_free(&b);
}

/* ---- MRtrix ------------------------------------------------------------------------------------------------------ */

static void tck_types(void **state)
{
    place *p = *state;
    static const char *const TYPES[] = { "Float32LE", "Float32BE", "Float64LE", "Float64BE", "float32le" };
    static const char *const COUNTS[] = { NULL, "3", "0000000003", "0" };
    for (int k = 0; k < 5 * 4 * 2; k++) {
        track_bytes b = { 0 }, zipped = { 0 };
        put_tck(&b, TYPES[k % 5], COUNTS[k / 5 % 4]);
        track_zip(&b, 2, &zipped);
        const track_bytes *file = k < 20 ? &b : &zipped;
        assert_lines(put_bytes(p, k < 20 ? "a.tck" : "a.tck.gz", file->data, file->size), NULL, AFFINE_IDENTITY);
        track_free(&b);
        track_free(&zipped);
    }
}

static void tck_header_of_text(void **state, const char *header, npmd_status expected, const char *words)
{
    place *p = *state;
    track_bytes b = { 0 };
    track_put(&b, header, strlen(header));
    for (int i = 0; i < 3; i++)
        tck_line(&b, "Float32LE", POINTS[i], LINES[i]);
    tck_end(&b, "Float32LE");
    const char *path = put_bytes(p, "a.tck", b.data, b.size);
    if (expected == NPMD_OK)
        assert_lines(path, NULL, AFFINE_IDENTITY);
    else
        assert_bad(path, NULL, expected, words);
    track_free(&b);
}

static void tck_headers(void **state)
{
    static const struct {
        const char *header;
        npmd_status status;
        const char *words;
    } CASES[] = {
        { "mrtrix tracks\ndatatype: Float32LE\nEND\n", NPMD_OK, "" }, /* the numbers follow END */
        { "mrtrix tracks    \r\nDatatype :\tFloat32LE \r\nno pair\ncommand_history: a: b\n\nEND\r\n", NPMD_OK, "" },
        { "mrtrix tracks\ndatatype: Float32LE\nfile: . 49\nEND\n", NPMD_OK, "" },
        { "mrtrix tracks\nEND\n", NPMD_ERR_FORMAT, "its header has no datatype" },
        { "mrtrix tracks\ndatatype: Int16LE\nEND\n", NPMD_ERR_FORMAT, "datatype: 'Int16LE', expected Float32LE" },
        { "mrtrix tracks\ndatatype: Float32\nEND\n", NPMD_ERR_FORMAT, "datatype: 'Float32', expected" },
        { "mrtrix tracks\ndatatype: Float32LE\n", NPMD_ERR_FORMAT, "its header has no line END" },
        { "mrtrix tracks\ndatatype: Float32LE\ncount: three\nEND\n", NPMD_ERR_FORMAT, "count: 'three'" },
        { "mrtrix tracks\ndatatype: Float32LE\ncount: 99999999999999999999999\nEND\n", NPMD_ERR_FORMAT, "count: '9" },
        { "mrtrix tracks\ndatatype: Float32LE\nfile: other.dat 0\nEND\n", NPMD_ERR_FORMAT, "file: 'other.dat 0'" },
        { "mrtrix tracks\ndatatype: Float32LE\nfile: .\nEND\n", NPMD_ERR_FORMAT, "file: '.'" },
        { "mrtrix tracks\ndatatype: Float32LE\nfile: . 40\nEND\n", NPMD_ERR_FORMAT, "byte 40, within the header" },
        { "mrtrix tracks\ndatatype: Float32LE\nfile: . 4000\nEND\n", NPMD_ERR_FORMAT, "is cut short" },
        { "mrtrix tracks\ndatatype: Float32LE\ncount: 4\nEND\n", NPMD_ERR_FORMAT, "says 4 streamlines, but it has 3" },
        { "mrtrix tracks\ndatatype: Float32LE\ncount: 2\nEND\n", NPMD_ERR_FORMAT, "says 2 streamlines, but it has 3" },
        { "mrtrix track\n", NPMD_ERR_FORMAT, "is no file of streamlines" },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
        tck_header_of_text(state, CASES[k].header, CASES[k].status, CASES[k].words);
}

static void tck_numbers(void **state)
{
    place *p = *state;
    static const double INF = (double)INFINITY, NOT = (double)NAN;
    const double mixed[1][3] = { { 1, NOT, 2 } }, half[1][3] = { { INF, INF, 2 } }, end[1][3] = { { INF, -INF, INF } };
    track_bytes b = { 0 };
    tck_begin(&b, "Float64BE", NULL);
    tck_line(&b, "Float64BE", 1, mixed);
    assert_bad(put_bytes(p, "a.tck", b.data, b.size), NULL, NPMD_ERR_FORMAT,
               "byte 201: a point is not finite in streamline 1");
    track_free(&b);
    tck_begin(&b, "Float32BE", NULL);
    tck_line(&b, "Float32BE", 3, LINES[0]);
    tck_line(&b, "Float32BE", 1, half);
    assert_bad(put_bytes(p, "a.tck", b.data, b.size), NULL, NPMD_ERR_FORMAT,
               "byte 249: a point is not finite in streamline 2");
    track_free(&b);
    put_tck(&b, "Float32LE", NULL); /* the last streamline is not closed */
    memmove(b.data + b.size - 24, b.data + b.size - 12, 12);
    assert_bad(put_bytes(p, "a.tck", b.data, b.size - 12), NULL, NPMD_ERR_FORMAT,
               "the infinities that end the file stand");
    track_free(&b);
    put_tck(&b, "Float32LE", NULL); /* something behind the end */
    track_put(&b, "x", 1);
    assert_bad(put_bytes(p, "a.tck", b.data, b.size), NULL, NPMD_ERR_FORMAT, "more follows the infinities");
    track_free(&b);
    /* Streamlines without points count; an end of either sign is one. */
    tck_begin(&b, "Float32LE", "2");
    tck_line(&b, "Float32LE", 0, NULL);
    tck_line(&b, "Float32LE", 0, NULL);
    for (int k = 0; k < 3; k++)
        track_put_real(&b, end[0][k], 4);
    tracts *t = NULL;
    npmd_error err = { 0 };
    streamline s = { .points = 7 };
    bool more = false;
    must(tracts_open(put_bytes(p, "a.tck", b.data, b.size), NULL, &t, &err), &err);
    for (int i = 0; i < 2; i++) {
        must(tracts_next(t, &s, &more, &err), &err);
        assert_true(more && s.points == 0);
    }
    must(tracts_next(t, &s, &more, &err), &err);
    assert_false(more);
    tracts_close(t);
    track_free(&b);
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static void other_files(void **state)
{
    place *p = *state;
    track_bytes b = { 0 };
    assert_bad(put_text(p, "a.trk", ""), NULL, NPMD_ERR_FORMAT, "a.trk is empty");
    assert_bad(put_text(p, "a.trk", "solid\n"), NULL, NPMD_ERR_FORMAT, "begins neither with TRACK");
    assert_bad(put_text(p, "a.trk.gz", "TRACK"), NULL, NPMD_ERR_FORMAT, "a.trk.gz is no gzip file");
    assert_bad(in_folder(p, "absent.trk"), NULL, NPMD_ERR_FILE, "absent.trk: No such file");
    put_tck(&b, "Float32LE", NULL);
    assert_bad(put_bytes(p, "a.tck", b.data, b.size), &AFFINE_IDENTITY, NPMD_ERR_ARGUMENT, "in RAS mm already");
    track_free(&b);
}

/* A streamline longer than the window it is read through, with scalars so that points straddle its edge. */
static void long_streamlines(void **state)
{
    place *p = *state;
    enum { LONG = 100000 };
    double(*x)[3] = calloc(LONG, sizeof *x);
    trk_header h = TRK_PLAIN;
    assert_non_null(x);
    for (int i = 0; i < LONG; i++)
        x[i][0] = i;
    h.scalars = 2;
    h.count = 2;
    for (int k = 0; k < 4; k++) {
        track_bytes b = { 0 }, zipped = { 0 };
        if (k & 1)
            trk_begin(&b, &h);
        else
            tck_begin(&b, "Float32BE", "2");
        for (int i = 0; i < 2; i++)
            if (k & 1)
                trk_line(&b, &h, LONG, (const double(*)[3])x);
            else
                tck_line(&b, "Float32BE", LONG, (const double(*)[3])x);
        if (!(k & 1))
            tck_end(&b, "Float32BE");
        assert_true(b.size > 2 * TRACTS_WINDOW);
        if (k & 2)
            track_zip(&b, 3, &zipped);
        tracts *t = NULL;
        npmd_error err = { 0 };
        streamline s = { 0 };
        bool more = true;
        const track_bytes *file = k & 2 ? &zipped : &b;
        must(tracts_open(put_bytes(p, "long", file->data, file->size), NULL, &t, &err), &err);
        for (int i = 0; i < 2; i++) {
            must(tracts_next(t, &s, &more, &err), &err);
            assert_true(more && s.points == LONG && s.end[0] - s.start[0] == LONG - 1);
        }
        must(tracts_next(t, &s, &more, &err), &err);
        assert_false(more);
        tracts_close(t);
        track_free(&b);
        track_free(&zipped);
    }
    free(x);
}

/* Every beginning of a good file is refused; a .trk without a count may end behind any streamline. */
static void cut_anywhere(void **state)
{
    place *p = *state;
    for (int k = 0; k < 6; k++) {
        trk_header h = TRK_PLAIN;
        track_bytes b = { 0 }, zipped = { 0 };
        h.count = k == 0 ? 3 : 0;
        h.properties = 1;
        if (k % 3 == 2)
            put_tck(&b, "Float64LE", NULL);
        else
            put_lines(&b, &h);
        track_zip(&b, 2, &zipped);
        const track_bytes *file = k < 3 ? &b : &zipped;
        for (size_t size = 0; size < file->size; size++) {
            tracts *t = NULL;
            npmd_error err = { 0 };
            streamline s = { 0 };
            size_t lines = 0;
            npmd_status st = tracts_open(put_bytes(p, "cut", file->data, size), NULL, &t, &err);
            for (bool more = true; st == NPMD_OK && more; lines += more && st == NPMD_OK)
                st = tracts_next(t, &s, &more, &err);
            /* 1000 bytes of header; 4 and 4 of counts and properties, 12 a point. gzip's members join in the middle. */
            const bool whole = k == 1 && (size == 1000 || size == 1044 || size == 1064);
            if (st != (whole ? NPMD_OK : NPMD_ERR_FORMAT))
                fail_msg("file %d, %zu bytes: status %d %s", k, size, (int)st, err.text);
            if (whole)
                assert_true(lines == (size == 1000 ? 0 : size == 1044 ? 1 : 2));
            else
                assert_says(&err, "cut");
            tracts_close(t);
            unlink(p->path);
        }
        track_free(&b);
        track_free(&zipped);
    }
}

/* ---- Affine maps ------------------------------------------------------------------------------------------------- */

static void affine_files(void **state)
{
    place *p = *state;
    static const struct {
        const char *text, *words;
    } CASES[] = {
        { "1 0 0 2\n0 1 0 3\n0 0 1 4\n", "has 3 rows of 4 numbers, expected the 4 x 4" },
        { "1 0 0 2\n0 1 0 3\n0 0 1 4\n0 0 1 1\n", "its last row 0 0 0 1" },
        { "1 0 0 2\n0 1 0 3\n1 1 0 4\n0 0 0 1\n", "flattens space" },
        { "1 0 0 2\n0 1 0 3\n1 1 nan 4\n0 0 0 1\n", "line 3, column 3" },
    };
    affine m;
    npmd_error err = { 0 };
    must(affine_read(put_text(p, "m.mtx", "# voxels\n2 0 0 -90\n0\t3 0 -126\n0 1 4 72.5\n0 0 0 1\n"), &m, &err), &err);
    assert_true(m.a[0][0] == 2 && m.a[1][3] == -126 && m.a[2][1] == 1 && m.a[2][3] == 72.5);
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        assert_int_equal(affine_read(put_text(p, "m.txt", CASES[k].text), &m, &err), NPMD_ERR_FORMAT);
        assert_says(&err, CASES[k].words);
    }
    assert_int_equal(affine_from_space("talairach", &m, &err), NPMD_ERR_ARGUMENT);
    assert_says(&err, "'talairach' is no space that is known");
}

/* The inverse undoes FreeSurfer's matrix: coordinates up to 100 mm, some ten operations of 1e-16 each. */
static void mni152_to_mni305(void **state)
{
    (void)state;
    static const double M[3][4] = { { 0.9975, -0.0073, 0.0176, -0.0429 },
                                    { 0.0146, 1.0009, -0.0024, 1.5496 },
                                    { -0.0130, -0.0093, 0.9971, 1.1840 } };
    static const double X[3] = { -42.5, 60.25, 100 };
    affine back;
    double y[3], x[3];
    must(affine_from_space("mni152", &back, NULL), NULL);
    for (int i = 0; i < 3; i++)
        y[i] = M[i][0] * X[0] + M[i][1] * X[1] + M[i][2] * X[2] + M[i][3];
    affine_apply(&back, y, x);
    check_below("MNI152 to MNI305 and back", relative_norm(x, X, 3), 20 * DBL_EPSILON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trk_layouts),
        cmocka_unit_test(trk_matrix),
        cmocka_unit_test(trk_voxel_orders),
        cmocka_unit_test(trk_order_left_out),
        cmocka_unit_test(orientations_of_oblique_matrices),
        cmocka_unit_test(trk_refusals),
        cmocka_unit_test(tck_types),
        cmocka_unit_test(tck_headers),
        cmocka_unit_test(tck_numbers),
        cmocka_unit_test(other_files),
        cmocka_unit_test(long_streamlines),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(affine_files),
        cmocka_unit_test(mni152_to_mni305),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
