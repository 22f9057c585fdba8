/* derive.h - the fits that other fits need: pilots, members, parts of a stack, a base, a linear start. A table in derive.c says
 * what each inherits. */
#ifndef NPMD_DERIVE_H
#define NPMD_DERIVE_H

#include "plan.h"

typedef struct derived {
    settings set;
    bool weights, encoding; /* does it start from the origin's weights, from the origin's encoding? */
    bool rough;             /* its log integral need not be known */
} derived;
typedef struct part_kind { /* a part of a stack */
    fit_kind estimator;
    kernel_width bandwidth;
    bool chooses_again; /* its choice is cheap and depends on n, so it is made again on all points */
} part_kind;
/* What of a field the data may choose (usual.c). */
typedef struct open_settings {
    bool tau, omega, size, encoding, length;
} open_settings;
open_settings settings_open(const settings *asked);
/* The network that is tried where a small one takes long to learn. */
void settings_larger(const npmd_domain *dom, int *width, int *depth);

typedef struct course_kind { /* a network and its penalty */
    double omega, tau;
    int width, depth, from; /* from: encoding_features */
} course_kind;
derived derive_course(const settings *asked, const settings *full, const course_kind *kind, int64_t steps);
derived derive_pilot(const settings *base, double tau, int64_t steps);
derived derive_member(const settings *from, bool first, uint64_t seed, const npmd_domain *dom);
/* The same for points that were drawn again from the points. */
derived derive_resampled(derived d);
/* The same with its smoothing times e^way, where the settings say how much there is; has none: false, and d is as it was. */
bool derive_smoothed(derived *d, double way);
derived derive_part(const settings *asked, const part_kind *kind, int members, bool resampled, bool last,
                    const settings *before);
derived derive_as_before(derived d, const settings *before); /* what a series chose stands, a choice that takes long */
derived derive_base(const settings *asked, const npmd_domain *dom);
derived derive_over(const settings *asked, int base); /* the same field over a base (base_kind) */
derived derive_linear(const settings *asked, const settings *full, int features);

#endif
