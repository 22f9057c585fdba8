/* cli.h - what some commands of the program `neuropmd` share; console.h has what all of them share.
 *
 * A command is one file cmd_NAME.c with one table (cli_command), and one line in the list of main.c. */
#ifndef NEUROPMD_CLI_H
#define NEUROPMD_CLI_H

#include "console.h"
#include "neuropmd-draw.h"

/* ---- Options of several commands --------------------------------------------------------------------------------- */

#define CLI_TEXT_OF(x) #x
#define CLI_TEXT(macro) CLI_TEXT_OF(macro)
/* clang-format off */
#define CLI_OPTION_ACCURACY                                                                                            \
    { "accuracy", "X", .fallback = CLI_TEXT(NPMD_ACCURACY),                                                            \
      .help = "standard error wanted of the log of each integral" }
#define CLI_OPTION_COORDS(who)                                                                                         \
    { "coords", "latlon|degrees|latlon,degrees",                                                                       \
      .help = who " latitude, longitude in degrees for each S2; degrees for each S1" }
#define CLI_OPTION_DOMAIN                                                                                              \
    { "domain", "D", .required = true,                                                                                 \
      .help = "product of circles, spheres and closed triangulated surfaces: S1^2, T4 (= S1^4), \"S2 x S1\", "         \
              "mesh:lh.white.gii^2 (.obj .off .ply .vtk .gii or FreeSurfer's)" }
#define CLI_OPTION_MAX_DISTANCE                                                                                        \
    { "max-distance", "X",                                                                                             \
      .help = "how far from its surface a point may lie, in the mesh's units; inf: any distance; usually "             \
              "a thousandth of the square root of the area" }
#define CLI_OPTION_DATA                                                                                                \
    { "data", "FILE", .required = true,                                                                                \
      .help = "the points, one in each row: an angle in radians for each S1, x y z for each S2 or surface; "           \
              ".csv .tsv .txt (or .gz), .npy, .mat:VARIABLE" }
#define CLI_OPTIONS_OF_A_FIT                                                                                           \
    { "weights", "FILE", .help = "one weight for each point, none negative" },                                         \
    CLI_OPTION_COORDS("the data hold"),                                                                                \
    CLI_OPTION_MAX_DISTANCE,                                                                                           \
    { "elements", "1|2", .help = "finite elements of a surface's eigenfunctions: linear (default) or quadratic" },     \
    { "config", "FILE", .help = "options from a JSON object; read after --preset, before the other options" },         \
    { "truth", "FILE", .help = "a known density: the reports then hold nise and ae against it" },                      \
    { "log", "FILE", .help = "one JSON line a report" }
/* clang-format on */

/* ---- cmd_fit.c: what fit and select share ------------------------------------------------------------------------ */

/* over NULL: a plain fit; else options are chosen first from these lists "option=v1:v2" (lists, may be 0). */
int cli_fit(const cli_args *args, const char *const *over, int lists);

/* ---- cmd_marginal.c: densities that are integrals ---------------------------------------------------------------- */

/* The marginal density of these factors, or the conditional one given them, at points, to --out, with their errors to
 * --errors; worst: the largest of these. */
int cli_integrals(const cli_args *args, bool marginal, const npmd_model *model, unsigned factors,
                  const npmd_points *points, npmd_what what, double accuracy, uint64_t seed, const npmd_compute *how,
                  double *worst);

/* ---- cmd_probability.c -------------------------------------------------------------------------------------------- */

const char *cli_interval(bool knows_bias); /* what an interval holds */

/* ---- marginal_regions.c ------------------------------------------------------------------------------------------ */

int marginal_regions(const cli_args *args); /* marginal, with --roi */

/* ---- choice_words.c: how a model's options were chosen ----------------------------------------------------------- */

void cli_choice_line(const npmd_model *model);                  /* prints to stdout; nothing if there was no choice */
void cli_choice_words(const npmd_model *model);                 /* the table, and the criterion against tau */
void cli_rivals_line(const npmd_model *model, const char *own); /* own: the name of the model's estimator */
void cli_rivals_json(cli_json *j, const npmd_model *model);
void cli_choice_json(cli_json *j, const npmd_model *model);
int cli_choice_write(const cli_args *args, const npmd_model *model, const char *path);

/* ---- plot_surfaces.c: plot for surfaces, streamlines and eigenfunctions ------------------------------------------ */

#define PLOT_SURFACES_MOST 64
typedef struct plot_surfaces {
    npmd_plot_surfaces ask;
    bool used; /* some such option was given */
    const char *folder[PLOT_SURFACES_MOST], *tracks[PLOT_SURFACES_MOST];
} plot_surfaces;
/* Takes a file of values or a folder of results; false: path is neither. */
bool plot_surfaces_operand(plot_surfaces *s, const char *path);
int plot_surfaces_read(const cli_args *args, plot_surfaces *s); /* after the operands */

#endif
