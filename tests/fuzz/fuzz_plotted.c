/* fuzz_plotted.c - what plot reads beside models: JSON lines of fits and experiments, matrices with names, and the folder of
 * a connectivity experiment. The first letter says which: l, m or p. */
#include "fuzz.h"
#include "neuropmd-draw.h"

#include <stdio.h>
#include <unistd.h>

static const char SPHERE[] =
    "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 6 float\n1 0 0\n-1 0 0\n0 1 0\n"
    "0 -1 0\n0 0 1\n0 0 -1\nPOLYGONS 8 32\n3 0 2 4\n3 2 1 4\n3 1 3 4\n3 3 0 4\n3 2 0 5\n"
    "3 1 2 5\n3 3 1 5\n3 0 3 5\nPOINT_DATA 6\nSCALARS field double 1\nLOOKUP_TABLE default\n"
    "1 2 3 4 5 6\n";

static void plot(npmd_plot_request *ask)
{
    npmd_error err = { 0 };
    npmd_plot_facts facts = NPMD_SIZED(npmd_plot_facts);
    const npmd_compute how = fuzz_compute(1.0);
    ask->size = sizeof *ask;
    ask->dpi = 20.0;
    ask->how = &how;
    const npmd_status st = npmd_plot(ask, fuzz_output("f.svg"), &facts, &err);
    PROMISE(st == NPMD_OK || err.text[0] != 0);
    PROMISE(st != NPMD_OK || (!isinf(facts.low) && !isinf(facts.high)));
}

/* As what they are, and as each kind that takes logs. */
static void plot_lines(const uint8_t *data, size_t size)
{
    static const char *const KINDS[] = { NULL, "snr", "profiles", "learning", "spectra" };
    const char *path = fuzz_file(data, size), *file[2] = { path, path };
    npmd_plot_is_lines(file[0]);
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        plot(&(npmd_plot_request){ .file = file, .files = 1, .kind = KINDS[k] });
    plot(&(npmd_plot_request){ .file = file, .files = 2, .title = "twice" });
}

static void plot_matrix(const uint8_t *data, size_t size)
{
    const double range[2] = { 0.5 * (double)(size % 5), 4.0 };
    const char *path = fuzz_named("m.csv", data, size);
    const npmd_plot_surfaces ask = { .size = sizeof ask, .values = path, .linear = size % 2 };
    plot(&(npmd_plot_request){ .surfaces = &ask, .kind = "matrix", .range = range, .ranges = size % 3 == 0 });
}

static void plot_partners(const uint8_t *data, size_t size)
{
    char folder[256];
    const char *path = fuzz_named("partners_R.csv", data, size), *one[1] = { folder };
    if (access(fuzz_output("sphere_R.vtk"), F_OK) != 0)
        fuzz_named("sphere_R.vtk", (const uint8_t *)SPHERE, sizeof SPHERE - 1);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const npmd_plot_surfaces ask = { .size = sizeof ask, .folder = one, .folders = 1 };
    plot(&(npmd_plot_request){ .surfaces = &ask });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'm')
        plot_matrix(data + 1, size - 1);
    else if (data[0] == 'p')
        plot_partners(data + 1, size - 1);
    else if (data[0] == 'l')
        plot_lines(data + 1, size - 1);
    return 0;
}
