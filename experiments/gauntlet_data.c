/* gauntlet_data.c - real data sets of the gauntlet: where their files lie in a folder, and which rows are held out.
 *
 * Splits that others published are read from .npz archives of row numbers (stored, not compressed, as numpy.savez
 * writes them). Of the others a fifth of the rows is held out, by a hash of the seed and the row; of pairs of places by
 * a hash of both that does not know their order, so that a pair and its way back stand on one side. Rows in order of
 * time end with the test. */
#include "gauntlet.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const gauntlet_set SETS[] = {
    { "floods", "S2", "earth/flood_xyz.npy", "earth/flood_rfm_seed%d.npz", 5, SPLIT_ROWS },
    { "fires", "S2", "earth/fire_xyz.npy", "earth/fire_rfm_seed%d.npz", 5, SPLIT_ROWS },
    { "histidine", "T2", "protein/his_chi_T2.npy", NULL, 0, SPLIT_ROWS },
    { "histidine-t4", "T4", "protein/his_phi_psi_chi_T4.npy", NULL, 0, SPLIT_ROWS },
    { "glutamine", "T3", "protein/gln_chi_T3.npy", NULL, 0, SPLIT_ROWS },
    { "glutamine-t5", "T5", "protein/gln_phi_psi_chi_T5.npy", NULL, 0, SPLIT_ROWS },
    { "storms", "S2 x S1", "storms/genesis_xyz_theta.npy", NULL, 0, SPLIT_ROWS },
    { "storm-tracks", "S2 x S1", "storms/tracks_xyz_theta.npy", NULL, 0, SPLIT_LAST },
    { "flights", "S2 x S2", "flights/routes_unique_xyz6.npy", NULL, 0, SPLIT_PAIRS },
    { "streamlines", "S2 x S2", "streamlines/endpoints_LL_xyz6.npy", NULL, 0, SPLIT_PAIRS },
};

void gauntlet_sets_find(const cli_args *args, const char *folder, const char *pattern, gauntlet_subject *subject,
                        int *at)
{
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS && *at < GAUNTLET_SUBJECTS_MOST; i++) {
        const gauntlet_set *set = &SETS[i];
        if (pattern && fnmatch(pattern, set->name, 0) != 0)
            continue;
        char *path = reproduce_words("%s/%s", folder, set->file);
        if (path && access(path, R_OK) == 0)
            subject[(*at)++] = (gauntlet_subject){
                .name = set->name, .family = "real", .domain = set->domain, .set = set
            };
        else
            cli_note(args, "%s is left out: %s/%s cannot be read", set->name, folder, set->file);
        free(path);
    }
}

/* ---- Splits ------------------------------------------------------------------------------------------------------ */

static npmd_status read_whole(const char *path, unsigned char **out, size_t *size, npmd_error *err)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length = -1;
    if (f && fseek(f, 0, SEEK_END) == 0 && (length = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)length + 1);
    const bool whole = bytes && fread(bytes, 1, (size_t)length, f) == (size_t)length;
    if (f)
        fclose(f);
    if (!whole) {
        free(bytes);
        return reproduce_fail(err, NPMD_ERR_FILE, "%.300s: cannot be read", path);
    }
    *out = bytes;
    *size = (size_t)length;
    return NPMD_OK;
}

/* Marks the rows that an array of the archive names: its member, then its .npy header, then int64, little-endian. */
static bool mark_rows(const unsigned char *bytes, size_t size, const char *member, unsigned char mark,
                      unsigned char *side, size_t rows)
{
    static const char MAGIC[] = "\x93NUMPY", TYPE[] = "'<i8'", SHAPE[] = "'shape': (";
    const unsigned char *name = memmem(bytes, size, member, strlen(member));
    const unsigned char *at = name ? memmem(name, size - (size_t)(name - bytes), MAGIC, strlen(MAGIC)) : NULL;
    if (!at || at - name > 128 || size - (size_t)(at - bytes) < 10)
        return false;
    const size_t header = (size_t)at[8] + 256 * (size_t)at[9];
    const size_t left = size - (size_t)(at + 10 - bytes);
    const unsigned char *shape = header < left ? memmem(at + 10, header, SHAPE, strlen(SHAPE)) : NULL;
    if (at[6] != 1 || !shape || !memmem(at + 10, header, TYPE, strlen(TYPE)))
        return false;
    const unsigned long long count = strtoull((const char *)shape + strlen(SHAPE), NULL, 10);
    if (count > (left - header) / 8)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t row = 0;
        for (int b = 7; b >= 0; b--)
            row = row << 8 | at[10 + header + 8 * i + (size_t)b];
        if (row >= rows)
            return false;
        side[row] = mark;
    }
    return true;
}

enum { NEITHER, TRAIN, TEST };

static npmd_status split_given(const char *folder, const gauntlet_set *set, int seed, size_t rows, unsigned char *side,
                               npmd_error *err)
{
    npmd_status st = NPMD_OK;
    char name[256], path[1024];
    unsigned char *bytes = NULL;
    size_t size = 0;
    const char *mark = strstr(set->splits, "%d");
    snprintf(name, sizeof name, "%.*s%d%s", (int)(mark - set->splits), set->splits, seed % set->split_count, mark + 2);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TRY(read_whole(path, &bytes, &size, err));
    if (!mark_rows(bytes, size, "train.npy", TRAIN, side, rows)
        || !mark_rows(bytes, size, "test.npy", TEST, side, rows))
        st = reproduce_fail(err, NPMD_ERR_FORMAT,
                            "%.300s: expected row numbers train.npy and test.npy, int64 and not compressed", path);
done:
    free(bytes);
    return st;
}

/* A number in [0, 1) from a seed and the bits of numbers. */
static double hash_share(int seed, const double *x, int count)
{
    uint64_t h = (uint64_t)seed + UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &x[i], sizeof bits);
        h = (h ^ bits) * UINT64_C(0xbf58476d1ce4e5b9);
        h = (h ^ h >> 29) * UINT64_C(0x94d049bb133111eb);
        h ^= h >> 32;
    }
    return (double)(h >> 11) * 0x1p-53;
}

static void split_drawn(const gauntlet_set *set, int seed, const double *x, size_t rows, int columns,
                        unsigned char *side)
{
    const int half = columns / 2;
    for (size_t i = 0; i < rows; i++) {
        const double *row = x + i * (size_t)columns, number = (double)i;
        double share = set->by == SPLIT_LAST ? 1.0 : hash_share(seed, &number, 1);
        if (set->by == SPLIT_PAIRS) { /* the same both ways round */
            share = hash_share(seed, row, half) + hash_share(seed, row + half, half);
            share -= share >= 1.0 ? 1.0 : 0.0;
        }
        side[i] = share < 0.2 || (set->by == SPLIT_LAST && i >= rows - rows / 10) ? TEST : TRAIN;
    }
}

static npmd_status take_side(const double *x, size_t rows, const unsigned char *side, unsigned char wanted,
                             const npmd_domain *domain, npmd_points **out, npmd_error *err)
{
    const size_t columns = (size_t)npmd_domain_columns(domain);
    double *part = malloc((rows * columns + 1) * sizeof *part);
    size_t n = 0;
    if (!part)
        return reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points");
    for (size_t i = 0; i < rows; i++)
        if (side[i] == wanted)
            memcpy(part + n++ * columns, x + i * columns, columns * sizeof *part);
    const npmd_status st = reproduce_points(part, n, domain, out, err);
    free(part);
    return st;
}

npmd_status gauntlet_set_read(const char *folder, const gauntlet_set *set, int seed, npmd_domain **domain,
                              npmd_points **train, npmd_points **test, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    npmd_points *all = NULL;
    double *x = NULL;
    unsigned char *side = NULL;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, set->file);
    TRY(npmd_domain_parse(set->domain, domain, err));
    TRY(npmd_points_read(path, *domain, NPMD_COORDS_DEFAULT, &all, err));
    const size_t rows = npmd_points_count(all), columns = (size_t)npmd_domain_columns(*domain);
    x = malloc(rows * columns * sizeof *x);
    side = calloc(rows, 1);
    TRY(x && side ? npmd_points_rows(all, NPMD_COORDS_DEFAULT, x, err)
                  : reproduce_fail(err, NPMD_ERR_MEMORY, "not enough memory for the points"));
    if (set->splits)
        TRY(split_given(folder, set, seed, rows, side, err));
    else
        split_drawn(set, seed, x, rows, (int)columns, side);
    TRY(take_side(x, rows, side, TRAIN, *domain, train, err));
    TRY(take_side(x, rows, side, TEST, *domain, test, err));
done:
    npmd_points_free(all);
    free(side);
    free(x);
    return st;
}
