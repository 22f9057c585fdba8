/* derive.h - the fits that other fits need: pilots, members, parts of a stack, a linear start. What each inherits of the
 * settings it comes from stands in one table (derive.c). */
#ifndef NPMD_DERIVE_H
#define NPMD_DERIVE_H

#include "plan.h"

typedef struct derived {
    settings set;
    bool weights, encoding; /* whether it, too, begins with those of the model that its origin names */
} derived;
typedef struct part_kind { /* of a stack */
    fit_kind estimator;
    kernel_width bandwidth;
    bool chooses_again; /* when fitted to all points: its choice is cheap, and not that of fewer points */
} part_kind;
derived derive_pilot(const settings *base, double tau, int64_t steps);
derived derive_member(const settings *from, bool first, uint64_t seed, const npmd_domain *dom);
derived derive_part(const settings *asked, const part_kind *kind, int members, bool resampled, bool last,
                    const settings *before);
derived derive_linear(const settings *asked, const settings *full, int features);

#endif
