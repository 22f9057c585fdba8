/* bench_count.c - operations and bytes of a step, from the shape of the network alone.
 *
 * A layer with I inputs and O outputs takes 2 I O operations for each row, three times: forward, for the gradient of
 * its weights, and for the gradient of its input, which the first layer does not need. Jets travel as directions + 2
 * rows. Sines, encodings and the update are not counted: they are the time of a step above its floor. */
#include "bench.h"

/* sum over the layers first .. depth of inputs x outputs. */
static double weights_from(const field_shape *f, int first)
{
    double sum = 0.0;
    for (int l = first; l <= f->depth; l++)
        sum += (double)field_inputs(f, l) * field_outputs(f, l);
    return sum;
}

static double skip_weights(const field_shape *f)
{
    return f->skip ? f->features : 0.0;
}

double bench_forward_flop(const field_shape *f)
{
    return 2.0 * (weights_from(f, 1) + skip_weights(f));
}

double bench_row_flop(const field_shape *f)
{
    return 2.0 * (2.0 * (weights_from(f, 1) + skip_weights(f)) + weights_from(f, 2));
}

double bench_step_rows(const field_shape *f, double batch, double q1, double q2)
{
    return batch + q1 + (f->directions + 2.0) * q2;
}

double bench_step_flop(const field_shape *f, double batch, double q1, double q2)
{
    return bench_row_flop(f) * bench_step_rows(f, batch, q1, q2);
}

double bench_step_bytes(const field_shape *f, double batch)
{
    const double parameters = (double)field_parameters(f);
    const double encodings = batch * f->features * (double)sizeof(float);
    const double update = 2.0 * VECTORS * parameters * (double)sizeof(double); /* all are read and written */
    const double lanes = 3.0 * LANES * parameters * (double)sizeof(float);     /* filled, read, and set to zero */
    return encodings + update + lanes;
}
