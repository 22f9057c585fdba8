/* stack_weights.h - the weights of a stack. */
#ifndef NPMD_STACK_WEIGHTS_H
#define NPMD_STACK_WEIGHTS_H

#include "choose.h"

#define STACK_MOST_PARTS 16
typedef struct stack_judged {
    int parts;
    size_t n;
    const double *logs;   /* (parts, n): log densities of the points held out, relative to the uniform measure */
    const double *weight; /* (n) of the points */
    int by;               /* choice_criterion */
    const double *gram;   /* (parts, parts): means of f_p f_q over the domain; for CRITERION_ISE alone */
} stack_judged;
npmd_status stack_weights(const stack_judged *j, double *mix, npmd_error *err); /* mix (parts), sum 1 */

#endif
