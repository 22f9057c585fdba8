/* truth_shapes.h - what a component of a truth of kind "shapes" may be: one row of functions for each shape.
 *
 * A shape speaks of some factors of the domain, and is uniform on the others. So its density is relative to the uniform
 * one (volume x density): factors that it does not speak of do not occur in it; and a draw begins as a uniform point,
 * of which the shape replaces its own factors. A new shape is a file, or a part of one, and a row in truth_shapes.c. */
#ifndef NPMD_TRUTH_SHAPES_H
#define NPMD_TRUTH_SHAPES_H

#include "json.h"
#include "truth.h"

/* A field of a component's JSON object: one number, three, one a column, one a factor, columns x columns, or a list, as
 * long as the other lists of the shape. */
typedef enum shape_size { SHAPE_ONE, SHAPE_THREE, SHAPE_COLUMNS, SHAPE_FACTORS, SHAPE_SQUARE, SHAPE_LIST } shape_size;
typedef struct shape_field {
    const char *name; /* NULL ends a list of fields */
    shape_size size;
    double fallback; /* of one number that is not there; NaN: it must be there */
} shape_field;

#define SHAPE_FIELDS_MOST 10
#define SHAPE_MADE_MOST 4
/* Uniform numbers of a draw: 0 chooses the component, from 2 on those of the uniform point, from here on the shape's
 * own. */
#define SHAPE_SLOT 128

typedef struct shape_kind {
    const char *name;
    const shape_field *fields;
    /* Checks the numbers and makes the rest; where (a path and an element) opens each message. */
    npmd_status (*check)(const npmd_domain *dom, truth_shape *s, const char *where, npmd_error *err);
    double (*log_relative)(const npmd_domain *dom, const truth_shape *s, const double *x); /* may be -infinity */
    void (*draw)(const npmd_domain *dom, const truth_shape *s, rng_key key, uint64_t index, double *x);
} shape_kind;

struct truth_shape {
    const shape_kind *kind;
    double *number;                   /* all fields, one behind the other */
    double *field[SHAPE_FIELDS_MOST]; /* where each begins */
    size_t length[SHAPE_FIELDS_MOST];
    double made[SHAPE_MADE_MOST]; /* by check */
    npmd_truth *known;            /* kernel, normal: a mixture of one component; else NULL */
};

extern const shape_kind SHAPE_UNIFORM, SHAPE_KERNEL, SHAPE_NORMAL, SHAPE_RIDGE, SHAPE_RING, SHAPE_BOX, SHAPE_BUMP;

/* For checks: the factor, from 0, that the number at place i of a field names (there from 1); it is one of these. */
npmd_status shape_factor(const npmd_domain *dom, const truth_shape *s, int field, size_t i, const manifold *wanted,
                         const char *where, int *out, npmd_error *err); /* wanted NULL: a surface */
npmd_status shape_number(const truth_shape *s, int field, size_t i, double least, double most, bool whole,
                         const char *where, npmd_error *err);

#endif
