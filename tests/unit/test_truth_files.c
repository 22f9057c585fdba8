/* test_truth_files.c - files of known densities: written, read and written again they are the same to the last bit, and
 * what makes no sense is refused in words. */
#include "truths.h"

static void check_round_trip(place *p, npmd_truth *t)
{
    npmd_truth *back = NULL;
    size_t size[2] = { 0 };
    const size_t C = (size_t)t->components, columns = (size_t)t->domain->columns;
    unsigned char *text[2];
    assert_int_equal(npmd_truth_write(t, in_folder(p, "first.json"), NULL), NPMD_OK);
    text[0] = get_bytes(p->path, &size[0]);
    assert_int_equal(npmd_truth_read(p->path, &back, NULL), NPMD_OK);
    assert_string_equal(back->domain->text, t->domain->text);
    assert_memory_equal(back->weight, t->weight, C * sizeof(double));
    assert_memory_equal(back->mean, t->mean, C * columns * sizeof(double));
    assert_memory_equal(back->constant, t->constant, C * sizeof(double));
    if (t->covariance != NULL)
        assert_memory_equal(back->covariance, t->covariance, C * columns * columns * sizeof(double));
    else
        assert_memory_equal(back->kappa, t->kappa, C * (size_t)t->domain->factors * sizeof(double));
    assert_int_equal(npmd_truth_write(back, in_folder(p, "second.json"), NULL), NPMD_OK);
    text[1] = get_bytes(p->path, &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(text[0], text[1], size[0]);
    free(text[0]);
    free(text[1]);
    npmd_truth_free(back);
    npmd_truth_free(t);
}

static void files_come_back_bit_for_bit(void **state)
{
    place *p = *state;
    check_round_trip(p, recipe_of("t2-authors", 0));
    for (uint64_t seed = 0; seed < 20; seed++)
        check_round_trip(p, recipe_of("t4", seed));
    check_round_trip(p, truth_of(p, T2_WIDE));
    check_round_trip(p, truth_of(p, S2S1_FISHER));
    /* rounded weights and a mean of length 1.0003: made exact once, then kept */
    npmd_truth *t = truth_of(p, "{\"domain\":\"S2\",\"kind\":\"von Mises-Fisher mixture\","
                                "\"weights\":[0.3333333,0.3333333,0.3333333],\"kappas\":[[1],[2],[3]],"
                                "\"means\":[[0.57752,0.57752,0.57752],[0.577,0.577,0.5777],[0,1,0]]}");
    check_quiet("sum of the weights", fabs(t->weight[0] + t->weight[1] + t->weight[2] - 1.0), 1e-15);
    check_quiet("length of a mean", fabs(3.0 * t->mean[0] * t->mean[0] - 1.0), 1e-15);
    check_round_trip(p, t);
}

#define NORMAL(rest) "{\"domain\":\"S1^2\",\"kind\":\"wrapped normal mixture\"," rest "}"
#define FISHER(rest) "{\"domain\":\"S2 x S1\",\"kind\":\"von Mises-Fisher mixture\"," rest "}"
#define UNIT "\"covariances\":[[[1,0],[0,1]]]"

static void bad_files_are_refused_in_words(void **state)
{
    static const struct {
        const char *text, *words;
    } BAD[] = {
        { "", "line 1" },
        { "{\"domain\":\"S1\",", "line 1" },
        { "[1,2]", "expected one JSON object" },
        { "{\"domain\":\"S1\",\"domain\":\"S1\"}", "duplicate" },
        { "{\"domain\":\"S1\",\"weights\":[1]}", "\"kind\" is missing" },
        { "{\"domain\":\"S1\",\"kind\":3,\"weights\":[1]}", "\"kind\" is not a text" },
        { "{\"domain\":\"S1\",\"kind\":\"cauchy\",\"weights\":[1]}", "\"cauchy\"" },
        { "{\"kind\":\"wrapped normal mixture\",\"weights\":[1]}", "\"domain\" is missing" },
        { "{\"domain\":\"S3\",\"kind\":\"wrapped normal mixture\",\"weights\":[1]}", "S3" },
        { "{\"domain\":\"S2\",\"kind\":\"wrapped normal mixture\",\"weights\":[1]}", "needs a torus" },
        { NORMAL("\"measure\":\"uniform\",\"weights\":[1],\"means\":[[0,0]]," UNIT), "measure is \"uniform\"" },
        { NORMAL("\"means\":[[0,0]]," UNIT), "\"weights\" is missing" },
        { NORMAL("\"weights\":[],\"means\":[]," UNIT), "not a filled array" },
        { NORMAL("\"weights\":[\"1\"],\"means\":[[0,0]]," UNIT), "weights[0] is not a number" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0],[1,1]]," UNIT), "means has 2 elements, expected an array of 1" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0,0]]," UNIT), "means[0] has 3 elements" },
        { NORMAL("\"weights\":[1],\"means\":[[0,null]]," UNIT), "means[0][1] is not a number" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]]"), "\"covariances\" is missing" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1,0]]]"), "covariances[0] has 1 elements" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1,0],[0,1,2]]]"), "covariances[0][1] has 3" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1,0.5],[0.4,1]]]"), "not symmetric" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1,2],[2,1]]]"), "not positive definite" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1,1],[1,1]]]"), "not positive definite" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[0,0],[0,1]]]"), "covariances[0][0][0] is 0" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[-1,0],[0,1]]]"), "covariances[0][0][0] is -1" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1e9,0],[0,1e9]]]"), "so wide" },
        { NORMAL("\"weights\":[1],\"means\":[[0,0]],\"covariances\":[[[1e12,0],[0,1e-11]]]"), "so wide" },
        { NORMAL("\"weights\":[0.9],\"means\":[[0,0]]," UNIT), "sum to 0.9" },
        { NORMAL("\"weights\":[0],\"means\":[[0,0]]," UNIT), "weights[0] is 0" },
        { NORMAL("\"weights\":[2,-1],\"means\":[[0,0],[0,0]],\"covariances\":[[[1,0],[0,1]],[[1,0],[0,1]]]"),
          "weights[1] is -1" },
        { FISHER("\"weights\":[1],\"means\":[[0,0,1,0]]"), "\"kappas\" is missing" },
        { FISHER("\"weights\":[1],\"means\":[[0,0,1,0]],\"kappas\":[[1]]"), "kappas[0] has 1 elements" },
        { FISHER("\"weights\":[1],\"means\":[[0,0,1,0]],\"kappas\":[[1,-2]]"), "kappas[0][1] is -2" },
        { FISHER("\"weights\":[1],\"means\":[[0,0,1,0]],\"kappas\":[[1,1e300]]"), "kappas[0][1] is 1e+300" },
        { FISHER("\"weights\":[1],\"means\":[[0,0,1.1,0]],\"kappas\":[[1,1]]"), "length 1.1" },
        { FISHER("\"weights\":[1],\"means\":[[0,0,0,0]],\"kappas\":[[1,1]]"), "length 0" },
    };
    place *p = *state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        npmd_truth *t = NULL;
        npmd_error err = { 0 };
        assert_int_equal(truth_from_text(p, BAD[i].text, &t, &err), NPMD_ERR_FORMAT);
        assert_null(t);
        if (strstr(err.text, BAD[i].words) == NULL || strstr(err.text, "truth.json") == NULL)
            fail_msg("found \"%s\", expected \"%s\" and the file's name", err.text, BAD[i].words);
    }
    npmd_truth *t = NULL;
    assert_int_equal(npmd_truth_read(in_folder(p, "absent.json"), &t, NULL), NPMD_ERR_FILE);
    assert_int_equal(npmd_truth_read(in_folder(p, "absent.npy"), &t, NULL), NPMD_ERR_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back_bit_for_bit),
        cmocka_unit_test(bad_files_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
