/* region_dense.c - writes tables of regions and of vertices to files. */
#include "region.h"

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* A name as a field: in quotes where it has what ends one. */
static npmd_status put_name(file_writer *w, const char *name, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    if (name[strcspn(name, ",\"\r\n")] == '\0')
        return file_writer_put(w, name, strlen(name), err);
    TRY(file_writer_put(w, "\"", 1, err));
    for (; *name != '\0'; name++)
        TRY(file_writer_put(w, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1, err));
    TRY(file_writer_put(w, "\"", 1, err));
done:
    return st;
}

npmd_status region_matrix_write(const npmd_region_request *at, const double *matrix, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    file_writer *w = NULL;
    const npmd_labels *l[2] = { at->labels[0], at->labels[1] };
    const int A = region_count(l[0]), B = region_count(l[1]);
    if (!file_has_suffix(path, ".csv"))
        return table_write(path, matrix, (size_t)A, (size_t)B, err);
    TRY(file_writer_open(path, &w, err));
    TRY(file_writer_put(w, "region", 6, err));
    for (int b = 0; b < B; b++) {
        TRY(file_writer_put(w, ",", 1, err));
        TRY(put_name(w, region_name(l[1], b), err));
    }
    TRY(file_writer_put(w, "\n", 1, err));
    for (int a = 0; a < A; a++) {
        TRY(put_name(w, region_name(l[0], a), err));
        TRY(file_writer_put(w, ",", 1, err));
        TRY(csv_put(w, ',', matrix + (size_t)a * (size_t)B, 1, (size_t)B, err));
    }
    st = file_writer_commit(w, err);
    w = NULL;
done:
    file_writer_abandon(w);
    return st;
}

/* ---- vertex by vertex -------------------------------------------------------------------------------------------- */

static size_t room_of_rows(size_t columns)
{
    return columns > REGION_PIECE ? columns : rows_of_a_piece(columns) * columns;
}

size_t region_bytes(const npmd_region_request *at)
{
    size_t doubles = REGION_PIECE * 7, nodes = 0;
    for (int d = 0; d < 2; d++)
        nodes += at->surface[d]->m.vertices + 3 * at->surface[d]->m.faces;
    doubles += room_of_rows(at->surface[1]->m.vertices) + 5 * nodes;
    return doubles * sizeof(double);
}

/* Rows of the table: values at one vertex of factor 1 and all of factor 2. */
static npmd_status dense_rows(pair_values *p, const region_nodes nodes[2], npmd_region_what what, node_range rows,
                              double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = nodes[1].n;
    for (size_t first = 0; first < columns; first += REGION_PIECE) {
        const node_range some = { &nodes[1], first, columns - first < REGION_PIECE ? columns - first : REGION_PIECE };
        TRY(pairs_evaluate(p, 1, some, rows, err));
        for (size_t i = 0; i < rows.count * some.count; i++) {
            const size_t row = i / some.count, column = first + i % some.count;
            const double value = region_as_asked(p->model, what, p->model->domain->volume,
                                                 nodes[0].area[rows.first + row] * nodes[1].area[column], p->log_f[i]);
            if (!isfinite(value))
                TRY(npmd_fail(err, NPMD_ERR_NUMERIC,
                              "the value at vertices %zu and %zu is not finite, nothing was written", rows.first + row,
                              column));
            out[row * columns + column] = value;
        }
    }
done:
    return st;
}

npmd_status model_region_dense(const npmd_model *m, const npmd_region_request *at, npmd_region_what what,
                               const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    pair_values p = { 0 };
    region_nodes nodes[2] = { { 0 } };
    table_writer *w = NULL;
    double *out = NULL;
    TRY(pairs_open(&p, m, at, "dense", err));
    for (int d = 0; d < 2; d++)
        TRY(region_nodes_open(&nodes[d], m->domain, d, at, false, err));
    const size_t columns = nodes[1].n, most = rows_of_a_piece(columns);
    p.all = (double)nodes[0].n * (double)columns;
    TRY(memory_new(&out, room_of_rows(columns), err));
    TRY(table_writer_open(path, columns, nodes[0].n, &w, err));
    for (size_t first = 0; first < nodes[0].n; first += most) {
        const node_range rows = { &nodes[0], first, nodes[0].n - first < most ? nodes[0].n - first : most };
        TRY(dense_rows(&p, nodes, what, rows, out, err));
        TRY(table_writer_put(w, out, rows.count, err));
    }
    st = table_writer_commit(w, err);
    w = NULL;
done:
    table_writer_abandon(w);
    memory_free(out);
    for (int d = 0; d < 2; d++)
        region_nodes_close(&nodes[d]);
    pairs_close(&p);
    return st;
}
