/* region.h - what the files about regions share; no other file includes it.
 *
 * region_nodes.c makes the nodes. region_sums.c evaluates pairs of nodes, sums over regions and compares two rules.
 * region.c makes the map of a region and the matrix of all regions, region_dense.c the table of all vertices. */
#ifndef NPMD_REGION_H
#define NPMD_REGION_H

#include "ask.h"

/* ---- region_nodes.c: a mesh as nodes of one factor --------------------------------------------------------------- */

typedef struct region_nodes { /* a rule on one factor */
    size_t n;
    double *x;       /* (n, 3): points in the domain's coordinates */
    double *area;    /* (n): their weights; the sum is the volume of the factor */
    int32_t *region; /* (n): regions, numbered as by npmd_region_count; 0 without labels */
} region_nodes;
/* For factor d of the domain: one node for each vertex; with cells, one for each third of a face, at its centroid. */
npmd_status region_nodes_open(region_nodes *out, const npmd_domain *dom, int d, const npmd_region_request *at,
                              bool cells, npmd_error *err);
/* The nodes i for which keep[i] is not 0. */
npmd_status region_nodes_pick(region_nodes *out, const region_nodes *from, const unsigned char *keep, npmd_error *err);
void region_nodes_close(region_nodes *g);

typedef struct node_range {
    const region_nodes *nodes;
    size_t first, count;
} node_range;

/* ---- region_sums.c ----------------------------------------------------------------------------------------------- */

#define REGION_PIECE 131072 /* pairs evaluated together */

typedef struct pair_values {
    const npmd_model *model;
    evaluator of;
    const npmd_region_request *at;
    const char *doing; /* for reports: "map", "matrix", "dense" */
    double *x, *log_f; /* (REGION_PIECE, columns) and (REGION_PIECE) */
    double done, all;  /* pairs */
} pair_values;
npmd_status pairs_open(pair_values *p, const npmd_model *m, const npmd_region_request *at, const char *doing,
                       npmd_error *err);
void pairs_close(pair_values *p);
size_t rows_of_a_piece(size_t nodes); /* rows of this many nodes in a piece; a longer row is cut */
/* p->log_f (rows, nodes), per area of both factors: a row runs over the nodes of factor `over` at one node of the
 * other. */
npmd_status pairs_evaluate(pair_values *p, int over, node_range nodes, node_range rows, npmd_error *err);

typedef struct row_sums { /* of consecutive rows: the integral over region a is sum_a exp(top) */
    size_t regions;
    double *top; /* (rows) */
    double *sum; /* (rows, regions) */
} row_sums;
npmd_status sums_open(row_sums *s, size_t rows, size_t regions, npmd_error *err);
void sums_close(row_sums *s);
/* The integrals over factor `over` with these nodes, at each of the rows, at most rows_of_a_piece. */
npmd_status sums_fill(row_sums *s, pair_values *p, int over, const region_nodes *nodes, node_range rows,
                      npmd_error *err);

typedef struct rule_pair { /* what both rules give at some rows */
    region_nodes rows;
    double *relative;          /* (rows): other rule / vertex rule - 1, over all regions together */
    double *vertices, *others; /* (regions): sums over the rows, weighted by their areas */
} rule_pair;
size_t rules_rows(size_t vertices); /* number of rows compared */
/* Both rules over factor `over` at rows chosen from all nodes of the other. */
npmd_status rules_compare(rule_pair *r, pair_values *p, int over, const region_nodes *vertices,
                          const region_nodes *others, const region_nodes *all, size_t regions, npmd_error *err);
void rules_pair_close(rule_pair *r);

/* ---- region.c ---------------------------------------------------------------------------------------------------- */

/* The quantity asked for, from a log density per area: volume: of the space of the density, area: of the node or
 * region. */
double region_as_asked(const npmd_model *m, npmd_region_what what, double volume, double area, double log_density);

#endif
