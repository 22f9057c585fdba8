/* truths.c - mixtures from text, through a file as a user's are. */
#include "truths.h"

npmd_status truth_from_text(place *p, const char *text, npmd_truth **out, npmd_error *err)
{
    return npmd_truth_read(put_text(p, "truth.json", text), out, err);
}

npmd_truth *truth_of(place *p, const char *text)
{
    npmd_truth *t = NULL;
    npmd_error err = { 0 };
    if (truth_from_text(p, text, &t, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return t;
}

npmd_truth *recipe_of(const char *name, uint64_t seed)
{
    npmd_truth *t = NULL;
    npmd_error err = { 0 };
    if (npmd_truth_make(name, seed, &t, &err) != NPMD_OK)
        fail_msg("%s", err.text);
    return t;
}

long double scaled_bessel(int order, double kappa)
{
    const int N = 256 + (int)(32.0 * sqrt(kappa));
    long double sum = 0.0L;
    for (int i = 0; i < N; i++) {
        const long double x = 2.0L * CHECK_PI * i / N, s = sinl(0.5L * x);
        sum += expl(-2.0L * (long double)kappa * s * s) * (order == 0 ? 1.0L : cosl(x)) / N;
    }
    return sum;
}

const char T1_WIDE[] = "{\"domain\":\"S1\",\"kind\":\"wrapped normal mixture\",\"weights\":[1],"
                       "\"means\":[[1]],\"covariances\":[[[9]]]}";
const char T2_WIDE[] = "{\"domain\":\"T2\",\"kind\":\"wrapped normal mixture\",\"weights\":[0.25,0.75],"
                       "\"means\":[[1,2],[-3,40]],\"covariances\":[[[4,1],[1,2]],[[1.5,-1],[-1,3]]]}";
const char T1_FISHER[] = "{\"domain\":\"S1\",\"kind\":\"von Mises-Fisher mixture\",\"weights\":[0.4,0.6],"
                         "\"means\":[[1],[4]],\"kappas\":[[3],[40]]}";
const char S2_FISHER[] = "{\"domain\":\"S2\",\"kind\":\"von Mises-Fisher mixture\",\"weights\":[0.3,0.7],"
                         "\"means\":[[0,0,-1],[0.6,0,0.8]],\"kappas\":[[5],[60]],\"measure\":\"volume\"}";
const char S2S1_FISHER[] =
    "{\"domain\":\"S2 x S1\",\"kind\":\"von Mises-Fisher mixture\",\"weights\":[0.2,0.3,0.5],"
    "\"means\":[[0,0,1,0],[0.6,0,0.8,3],[0,-1,0,6]],\"kappas\":[[0,2],[8,0],[20,9]],\"measure\":\"volume\"}";
