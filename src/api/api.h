/* api.h - the public functions: each checks its arguments, calls one part of the library, and returns. Nothing inside
 * the library calls them. */
#ifndef NPMD_API_H
#define NPMD_API_H

#include "blend.h"
#include "kde.h"
#include "psnf.h"
#include "tracts.h"

/* catalog.c: the estimator that fits such settings on this domain. */
const estimator *estimators_all(const settings *set, const npmd_domain *dom);

/* *own = *given, after a check of threads and device. */
npmd_status compute_take(const npmd_compute *given, npmd_compute *own, npmd_error *err);

#endif
