/* bench_time.c - the median of repeats. */
#include "bench.h"

#include <time.h>

#define MOST_REPEATS 25

/* Of all threads of this process together. */
static double cpu_seconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

bench_effort bench_effort_kernel(const bench *b)
{
    return b->asked->quick ? (bench_effort){ .repeat = 2e-4, .seconds = 2e-3, .least = 3, .most = 5 }
                           : (bench_effort){ .repeat = 2e-3, .seconds = 0.1, .least = 9, .most = MOST_REPEATS };
}

bench_effort bench_effort_step(const bench *b)
{
    return b->asked->quick ? (bench_effort){ .seconds = 0.02, .least = 3, .most = 5 }
                           : (bench_effort){ .seconds = 2.0, .least = 5, .most = MOST_REPEATS };
}

npmd_status bench_time(const bench *b, bench_effort effort, bench_call call, void *self, bench_times *out,
                       npmd_error *err)
{
    npmd_status st = NPMD_OK;
    double seconds[MOST_REPEATS], start = clock_seconds();
    assert(effort.most <= MOST_REPEATS && effort.least <= effort.most);
    TRY(call(self, err));
    const double once = fmax(clock_seconds() - start, 1e-9);
    const double calls = fmin(fmax(1.0, ceil(effort.repeat / once)), 1e6);
    int repeats = (int)fmin(effort.seconds / (calls * once), effort.most);
    if (repeats < effort.least)
        repeats = effort.least;
    const double cpu = cpu_seconds();
    for (int r = 0; r < repeats; r++) {
        TRY(bench_go_on(b, err));
        start = clock_seconds();
        for (double c = 0.0; c < calls; c += 1.0)
            TRY(call(self, err));
        seconds[r] = (clock_seconds() - start) / calls;
    }
    const double used = cpu_seconds() - cpu;
    qsort(seconds, (size_t)repeats, sizeof *seconds, by_size);
    *out = (bench_times){ .repeats = repeats,
                          .best = seconds[0],
                          .median = seconds[repeats / 2],
                          .low = seconds[repeats / 4],
                          .high = seconds[repeats - 1 - repeats / 4],
                          .cpu = used / (calls * repeats) };
done:
    return st;
}

double bench_slope(const double *x, const double *y, int count)
{
    double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0;
    for (int i = 0; i < count; i++) {
        mx += log(x[i]) / count;
        my += log(y[i]) / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (log(x[i]) - mx) * (log(x[i]) - mx);
        xy += (log(x[i]) - mx) * (log(y[i]) - my);
    }
    return xy / xx;
}
