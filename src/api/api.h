/* api.h - the skin: public functions check their arguments, call one part of the library, and return. Nothing inside
 * calls them. */
#ifndef NPMD_API_H
#define NPMD_API_H

#include "blend.h"
#include "kde.h"
#include "psnf.h"
#include "tracts.h"

/* catalog.c: every estimator there is. */
const estimator *estimators_all(const settings *set, const npmd_domain *dom);

/* Where to compute, with threads and device checked. */
npmd_status compute_take(const npmd_compute *given, npmd_compute *own, npmd_error *err);

#endif
