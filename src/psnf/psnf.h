/* psnf.h - the product squared neural family (psnf.c), and the parts of it that tests compare with formulas. */
#ifndef NPMD_PSNF_H
#define NPMD_PSNF_H

#include "model.h"

extern const estimator ESTIMATOR_PSNF;

/* log M(r) for the mean M of exp(r e_1) over the unit sphere of R^embedding; *slope = (log M)'(r) / r. */
double sphere_log_mean(int embedding, double r, double *slope);

typedef struct psnf { /* rate = |V psi|^2 + v0^2, psi_i = exp(w_i . e + b_i) */
    int width, embedding;
    double *theta; /* W (width, embedding), V (width, width), v0 */
    double *bias;  /* (width), fixed */
} psnf;
size_t psnf_parameters(const psnf *p);
typedef struct psnf_work psnf_work;
npmd_status psnf_work_open(const npmd_domain *dom, const psnf *p, int threads, psnf_work **out, npmd_error *err);
void psnf_work_close(psnf_work *w);
/* The data term -mean log rate, and the integral; adds their gradients to gradient. */
void psnf_terms(psnf_work *w, const psnf *p, const point_source *data, double *gradient, double *data_term,
                double *integral);
double psnf_log_integral(psnf_work *w, const psnf *p);

#endif
