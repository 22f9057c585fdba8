/* truths.h - known densities for the tests: mixtures from text, recipes by name, and Bessel functions for their
 * moments. */
#ifndef NPMD_TEST_TRUTHS_H
#define NPMD_TEST_TRUTHS_H

#include "place.h"
#include "truth.h"

npmd_status truth_from_text(place *p, const char *text, npmd_truth **out, npmd_error *err);
npmd_truth *truth_of(place *p, const char *text); /* a failure ends the test */
npmd_truth *recipe_of(const char *name, uint64_t seed);

/* exp(-kappa) I_0 or I_1, as the mean of exp(kappa (cos x - 1)) (cos x) over N nodes of the circle; its error is about
 * exp(-N^2 / (2 kappa)), here below exp(-512). */
long double scaled_bessel(int order, double kappa);

extern const char T1_WIDE[], T2_WIDE[], T1_FISHER[], S2_FISHER[], S2S1_FISHER[];

#endif
