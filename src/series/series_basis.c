/* series_basis.c - tensors of coefficients and of values on product grids, and the maps between them. */
#include "series.h"

static size_t round_panel(size_t n)
{
    return (n + PANEL - 1) / PANEL * PANEL;
}

double series_count(const npmd_domain *dom, const int *frequency)
{
    double count = 1.0;
    for (int d = 0; d < dom->factors; d++)
        count *= dom->factor[d]->functions(dom->factor[d], frequency[d]);
    return count;
}

npmd_status series_basis_open(series_basis *b, const npmd_domain *dom, const int *frequency, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *b = (series_basis){ .domain = dom, .factors = dom->factors, .size = 1, .coefficients = 1 };
    for (int d = 0; d < b->factors; d++) {
        b->frequency[d] = frequency[d];
        b->functions[d] = (size_t)dom->factor[d]->functions(dom->factor[d], frequency[d]);
        b->coefficients *= b->functions[d];
        b->size *= d < b->factors - 1 ? b->functions[d] : 1;
    }
    b->last = round_panel(b->functions[b->factors - 1]);
    b->size *= b->last;
    b->coefficients -= 1;
    TRY(memory_new(&b->lambda, b->size, err));
    for (size_t k = 0; k < b->size; k++) {
        size_t at = k / b->last, last = k % b->last;
        if (last >= b->functions[b->factors - 1])
            continue;
        b->lambda[k] = dom->factor[b->factors - 1]->eigenvalue(dom->factor[b->factors - 1], (int)last);
        for (int d = b->factors - 2; d >= 0; at /= b->functions[d--])
            b->lambda[k] += dom->factor[d]->eigenvalue(dom->factor[d], (int)(at % b->functions[d]));
    }
done:
    return st;
}

void series_basis_close(series_basis *b)
{
    memory_free(b->lambda);
    *b = (series_basis){ 0 };
}

/* Functions of a lower frequency stand first on every factor, so what both have is a corner of each tensor. */
void series_transfer(const series_basis *from, const double *c, const series_basis *to, double *out)
{
    const int last = from->factors - 1;
    size_t common[NPMD_MAX_FACTORS], rows = 1;
    for (int d = 0; d <= last; d++) {
        common[d] = from->functions[d] < to->functions[d] ? from->functions[d] : to->functions[d];
        rows *= d < last ? common[d] : 1;
    }
    for (size_t row = 0; row < rows; row++) {
        size_t rest = row, source = 0, target = 0, source_stride = 1, target_stride = 1;
        for (int d = last - 1; d >= 0; rest /= common[d--]) {
            source += rest % common[d] * source_stride;
            target += rest % common[d] * target_stride;
            source_stride *= from->functions[d];
            target_stride *= to->functions[d];
        }
        memcpy(out + target * to->last, c + source * from->last, common[last] * sizeof *out);
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* A point's tensor of functions is an outer product: of the first factors (left), and of the others (right). So sums
 * over points and values at points are matrix products of blocks of points. */
#define SERIES_BLOCK 64 /* points */

typedef struct series_sides {
    int split; /* factors 0 .. split - 1 are the left side */
    size_t left, right;
    size_t scratch; /* doubles for the jets of a factor at JET_POINTS points */
} series_sides;

static series_sides sides_of(const series_basis *b)
{
    series_sides s = { .split = b->factors / 2, .left = 1, .right = b->last };
    for (int d = 0; d < b->factors; d++) {
        const size_t need = (size_t)(1 + b->domain->factor[d]->dimension) * b->functions[d] * JET_POINTS;
        s.scratch = need > s.scratch ? need : s.scratch;
        if (d < s.split)
            s.left *= b->functions[d];
        else if (d < b->factors - 1)
            s.right *= b->functions[d];
    }
    return s;
}

typedef struct series_room {               /* of a thread */
    double *jets[NPMD_MAX_FACTORS];        /* (1 + dimension, functions, SERIES_BLOCK) scaled to mean square 1 */
    double *scratch, *left, *right, *work; /* left (points, left), right and work (points, right) */
} series_room;

static void room_close(series_room *r)
{
    for (int d = 0; d < NPMD_MAX_FACTORS; d++)
        memory_free(r->jets[d]);
    memory_free(r->scratch);
    memory_free(r->left);
    memory_free(r->right);
    memory_free(r->work);
}

static npmd_status room_open(series_room *r, const series_basis *b, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const series_sides s = sides_of(b);
    for (int d = 0; d < b->factors; d++)
        TRY(memory_new(&r->jets[d], (size_t)(1 + b->domain->factor[d]->dimension) * b->functions[d] * SERIES_BLOCK,
                       err));
    TRY(memory_new(&r->scratch, s.scratch, err));
    TRY(memory_new(&r->left, SERIES_BLOCK * s.left, err));
    TRY(memory_new(&r->right, SERIES_BLOCK * s.right, err));
    TRY(memory_new(&r->work, SERIES_BLOCK * s.right, err));
done:
    return st;
}

static npmd_status rooms_open(series_room **rooms, int count, const series_basis *b, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(memory_new(rooms, count, err));
    for (int t = 0; t < count; t++)
        TRY(room_open(&(*rooms)[t], b, err));
done:
    return st;
}

static void rooms_close(series_room *rooms, int count)
{
    for (int t = 0; rooms != NULL && t < count; t++)
        room_close(&rooms[t]);
    memory_free(rooms);
}

/* Jets of every factor at m <= SERIES_BLOCK points. */
static void room_jets(series_room *r, const series_basis *b, const double *x, size_t m, bool slopes)
{
    const npmd_domain *dom = b->domain;
    for (int d = 0; d < b->factors; d++) {
        const manifold *man = dom->factor[d];
        const int parts = slopes ? 1 + man->dimension : 1;
        const double unit = sqrt(man->volume);
        for (size_t i = 0; i < m; i += JET_POINTS) {
            const size_t some = m - i < JET_POINTS ? m - i : JET_POINTS;
            man->jets(man, some, x + i * (size_t)dom->columns + dom->column[d], (size_t)dom->columns, b->frequency[d],
                      parts, r->scratch);
            for (size_t j = 0; j < (size_t)parts * b->functions[d]; j++)
                for (size_t k = 0; k < some; k++)
                    r->jets[d][j * SERIES_BLOCK + i + k] = unit * r->scratch[j * some + k];
        }
    }
}

/* Outer product of the values (or of factor d, part t, its derivative) of factors from .. to - 1: side (m, count), the
 * last factor of all padded. */
static void room_side(const series_room *r, const series_basis *b, size_t m, int from, int to, int d, int t,
                      double *side, size_t ld)
{
    for (size_t i = 0; i < m; i++) {
        double *row = side + i * ld;
        size_t count = 1;
        row[0] = 1.0;
        for (int e = from; e < to; e++) {
            const size_t functions = b->functions[e], stride = e == b->factors - 1 ? b->last : functions;
            const double *jet = r->jets[e] + (e == d ? (size_t)t * functions * SERIES_BLOCK : 0) + i;
            for (size_t a = count; a-- > 0;) { /* from the back: a row grows in place */
                const double before = row[a];
                for (size_t j = 0; j < functions; j++)
                    row[a * stride + j] = before * jet[j * SERIES_BLOCK];
                for (size_t j = functions; j < stride; j++)
                    row[a * stride + j] = 0.0;
            }
            count *= stride;
        }
    }
}

static double row_dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* v_i = sum_ab left_ia c_ab right_ib for m points, to every stride-th of out; with d and t a derivative; laplacian:
 * c is that of the Laplacian. */
static void room_values(series_room *r, const series_basis *b, const series_sides *s, const double *c, size_t m, int d,
                        int t, double *out, size_t stride)
{
    const kernels *kern = kernels_select(NULL);
    room_side(r, b, m, 0, s->split, d, t, r->left, s->left);
    room_side(r, b, m, s->split, b->factors, d, t, r->right, s->right);
    kern->product_double(m, s->right, s->left, (strided_double){ r->left, s->left, 1 }, c, s->right, r->work, s->right,
                         0);
    for (size_t i = 0; i < m; i++)
        out[i * stride] = row_dot(s->right, r->work + i * s->right, r->right + i * s->right);
}

npmd_status series_evaluate(const series_basis *b, const double *c, const double *x, size_t n, jet_rows rows,
                            int threads, double *out, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const npmd_domain *dom = b->domain;
    const size_t columns = (size_t)dom->columns, R = rows == JET_ALL ? (size_t)dom->dimension + 2 : 1,
                 blocks = (n + SERIES_BLOCK - 1) / SERIES_BLOCK;
    const int T = threads_wanted(threads);
    const series_sides s = sides_of(b);
    series_room *rooms = NULL;
    double *laplacian = NULL; /* coefficients of Lap v: -lambda c */
    TRY(rooms_open(&rooms, T, b, err));
    if (rows == JET_ALL) {
        TRY(memory_new(&laplacian, b->size, err));
        for (size_t k = 0; k < b->size; k++)
            laplacian[k] = -b->lambda[k] * c[k];
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(T)
    for (size_t block = 0; block < blocks; block++) {
        series_room *r = &rooms[omp_get_thread_num()];
        const size_t first = block * SERIES_BLOCK, m = n - first < SERIES_BLOCK ? n - first : SERIES_BLOCK;
        double *to = out + first * R;
        room_jets(r, b, x + first * columns, m, R > 1);
        room_values(r, b, &s, c, m, -1, 0, to, R);
        for (int d = 0; R > 1 && d < b->factors; d++)
            for (int t = 0; t < dom->factor[d]->dimension; t++)
                room_values(r, b, &s, c, m, d, 1 + t, to + 1 + dom->direction[d] + t, R);
        if (R > 1)
            room_values(r, b, &s, laplacian, m, -1, 0, to + R - 1, R);
    }
done:
    rooms_close(rooms, T);
    memory_free(laplacian);
    return st;
}

static void room_square(series_room *r, const series_basis *b, size_t m)
{
    for (int d = 0; d < b->factors; d++)
        for (size_t j = 0; j < b->functions[d]; j++)
            for (size_t i = 0; i < m; i++)
                r->jets[d][j * SERIES_BLOCK + i] *= r->jets[d][j * SERIES_BLOCK + i];
}

/* The weighted mean of every function, or of its square under the squared weights: the square of a product is the
 * product of the squares. */
static npmd_status moments_of(const series_basis *b, const npmd_points *pts, bool squared, int threads, double *mean,
                              npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const size_t columns = (size_t)b->domain->columns, n = pts->n, blocks = (n + SERIES_BLOCK - 1) / SERIES_BLOCK;
    const int T = threads_wanted(threads);
    const series_sides s = sides_of(b);
    const kernels *kern = kernels_select(NULL);
    series_room *rooms = NULL;
    double *sums = NULL, *rows = NULL; /* (LANES, size): blocks are dealt to lanes */
    TRY(rooms_open(&rooms, T, b, err));
    TRY(memory_new(&sums, LANES * b->size, err));
    TRY(memory_new(&rows, (size_t)T * SERIES_BLOCK * columns, err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(T)
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t block = lane; block < blocks; block += LANES) {
            series_room *r = &rooms[omp_get_thread_num()];
            double *room = rows + (size_t)omp_get_thread_num() * SERIES_BLOCK * columns;
            const size_t first = block * SERIES_BLOCK, m = n - first < SERIES_BLOCK ? n - first : SERIES_BLOCK;
            room_jets(r, b, points_rows(pts, first, m, room), m, false);
            if (squared)
                room_square(r, b, m);
            room_side(r, b, m, 0, s.split, -1, 0, r->left, s.left);
            room_side(r, b, m, s.split, b->factors, -1, 0, r->right, s.right);
            for (size_t i = 0; i < m; i++) {
                const double w = points_weight(pts, first + i), factor = squared ? w * w : w;
                for (size_t a = 0; a < s.left; a++)
                    r->left[i * s.left + a] *= factor;
            }
            kern->product_double(s.left, s.right, m, (strided_double){ r->left, 1, s.left }, r->right, s.right,
                                 sums + lane * b->size, s.right, 1);
        }
    double total = squared ? 0.0 : (double)n;
    for (size_t i = 0; squared && i < n; i++)
        total += points_weight(pts, i) * points_weight(pts, i);
    for (size_t k = 0; k < b->size; k++) {
        mean[k] = 0.0;
        for (size_t lane = 0; lane < LANES; lane++)
            mean[k] += sums[lane * b->size + k];
        mean[k] /= total;
    }
done:
    rooms_close(rooms, T);
    memory_free(sums);
    memory_free(rows);
    return st;
}

npmd_status series_moments(const series_basis *b, const npmd_points *pts, int threads, double *mean, npmd_error *err)
{
    return moments_of(b, pts, false, threads, mean, err);
}

npmd_status series_squares(const series_basis *b, const npmd_points *pts, int threads, double *mean, npmd_error *err)
{
    return moments_of(b, pts, true, threads, mean, err);
}

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* Level 0 carries products of two functions exactly; exp v asks for more, and levels go on until it has enough: 1, 3/2,
 * 2, 3, 4, 6 ... times as fine. */
static size_t grid_resolution(const series_basis *b, int d, int level)
{
    const int frequency = b->frequency[d];
    const double first = b->domain->factor[d]->dimension == 1 ? fmax(6.0, 4.5 * frequency) : fmax(8.0, frequency + 6.0),
                 N = first * (level % 2 == 0 ? 1.0 : 1.5) * pow(2.0, level / 2);
    return ((size_t)N + 1) / 2 * 2;
}

static bool grid_shape(const series_basis *b, int level, series_grid *g)
{
    double size = 1.0;
    g->count = g->size = 1;
    for (int d = 0; d < b->factors; d++) {
        g->resolution[d] = grid_resolution(b, d, level);
        g->nodes[d] = b->domain->factor[d]->rule_nodes(b->domain->factor[d], g->resolution[d]);
        size *= (double)g->nodes[d];
        if (size > (double)SERIES_MOST_NODES || g->nodes[d] * b->functions[d] > SERIES_MOST_TABLE)
            return false;
        g->count *= g->nodes[d];
        g->size *= d < b->factors - 1 ? g->nodes[d] : 1;
    }
    g->last = round_panel(g->nodes[b->factors - 1]);
    g->size *= g->last;
    return true;
}

bool series_grid_allowed(const series_basis *b, int level)
{
    series_grid g;
    return grid_shape(b, level, &g);
}

/* Numbers between two maps: the largest tensor with some sides of the grid and the others of the basis. */
static size_t half_size(const series_basis *b, const series_grid *g)
{
    size_t most = 1, grid = 1;
    for (int d = 0; d <= b->factors - 1; d++) { /* sides before d of the grid, from d on of the basis */
        size_t size = grid * b->last;
        for (int e = d; e < b->factors - 1; e++)
            size *= b->functions[e];
        most = size > most ? size : most;
        grid *= g->nodes[d];
    }
    return most;
}

size_t series_grid_bytes(const series_basis *b, int level)
{
    series_grid g;
    if (!grid_shape(b, level, &g))
        return 0;
    size_t numbers = 2 * (half_size(b, &g) + g.size) + b->functions[b->factors - 1] * g.last;
    for (int d = 0; d < b->factors; d++)
        numbers += g.nodes[d] * (b->functions[d] + 1);
    return numbers * sizeof(double);
}

static npmd_status grid_factor(series_grid *g, int d, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const series_basis *b = g->basis;
    const manifold *man = b->domain->factor[d];
    const bool last = d == b->factors - 1;
    const size_t nodes = g->nodes[d], functions = b->functions[d], ld = last ? b->last : functions;
    const double unit = sqrt(man->volume);
    double *x = NULL, *jet = NULL;
    TRY(memory_new(&x, nodes * (size_t)man->columns, err));
    TRY(memory_new(&jet, functions * JET_POINTS, err));
    TRY(memory_new(&g->weight[d], last ? g->last : nodes, err));
    TRY(memory_new(&g->table[d], nodes * ld, err));
    if (last && b->factors > 1)
        TRY(memory_new(&g->across, functions * g->last, err));
    TRY(man->rule(man, g->resolution[d], x, g->weight[d], err));
    for (size_t i = 0; i < nodes; i += JET_POINTS) {
        const size_t some = nodes - i < JET_POINTS ? nodes - i : JET_POINTS;
        man->jets(man, some, x + i * (size_t)man->columns, (size_t)man->columns, b->frequency[d], 1, jet);
        for (size_t j = 0; j < functions; j++)
            for (size_t k = 0; k < some; k++) {
                g->table[d][(i + k) * ld + j] = unit * jet[j * some + k];
                if (last && g->across != NULL)
                    g->across[j * g->last + i + k] = unit * jet[j * some + k];
            }
    }
done:
    memory_free(x);
    memory_free(jet);
    return st;
}

npmd_status series_grid_open(series_grid *g, const series_basis *b, int level, int threads, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *g = (series_grid){ .basis = b, .kernels = kernels_select(NULL), .threads = threads_wanted(threads) };
    const bool allowed = grid_shape(b, level, g);
    assert(allowed);
    (void)allowed;
    for (int d = 0; d < b->factors; d++)
        TRY(grid_factor(g, d, err));
    for (int i = 0; i < 2; i++)
        TRY(memory_new(&g->half[i], b->factors == 1 ? PANEL * (g->last + b->last) : half_size(b, g), err));
done:
    if (st != NPMD_OK)
        series_grid_close(g);
    return st;
}

void series_grid_close(series_grid *g)
{
    for (int d = 0; d < NPMD_MAX_FACTORS; d++) {
        memory_free(g->table[d]);
        memory_free(g->weight[d]);
    }
    memory_free(g->across);
    memory_free(g->half[0]);
    memory_free(g->half[1]);
    *g = (series_grid){ 0 };
}

/* ---- maps: one factor after another ------------------------------------------------------------------------------ */

#define COLUMNS_AT_ONCE 192 /* of a product that threads share: each result is one thread's, in one order */
#define ROWS_AT_ONCE 48

/* out (left, m, right) = A (m, k) in (left, k, right), for every left. */
static void map_middle(const series_grid *g, size_t left, size_t m, size_t k, size_t right, strided_double A,
                       const double *in, double *out)
{
    const size_t parts = (right + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
#pragma omp parallel for schedule(static) num_threads(g->threads) if (left * m * k * right > WORTH_THREADS)
    for (size_t task = 0; task < left * parts; task++) {
        const size_t l = task / parts, first = task % parts * COLUMNS_AT_ONCE,
                     some = right - first < COLUMNS_AT_ONCE ? right - first : COLUMNS_AT_ONCE;
        g->kernels->product_double(m, some, k, A, in + l * k * right + first, right, out + l * m * right + first, right,
                                   0);
    }
}

/* out (left, n) = in (left, k) B (k, n); rows of in stand ld apart. */
static void map_last(const series_grid *g, size_t left, size_t n, size_t k, const double *in, size_t ld,
                     const double *B, double *out)
{
    const size_t parts = (left + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
#pragma omp parallel for schedule(static) num_threads(g->threads)
    for (size_t part = 0; part < parts; part++) {
        const size_t first = part * ROWS_AT_ONCE, some = left - first < ROWS_AT_ONCE ? left - first : ROWS_AT_ONCE;
        g->kernels->product_double(some, n, k, (strided_double){ in + first * ld, ld, 1 }, B, n, out + first * n, n, 0);
    }
}

/* One factor: the table is by nodes, so values are dot products of its rows with c: c as the first of PANEL columns. */
static void values_of_one(const series_grid *g, const double *c, double *v)
{
    const size_t nodes = g->nodes[0], functions = g->basis->functions[0];
    double *columns = g->half[0], *out = g->half[1];
    memset(columns, 0, functions * PANEL * sizeof *columns);
    for (size_t j = 0; j < functions; j++)
        columns[j * PANEL] = c[j];
#pragma omp parallel for schedule(static) num_threads(g->threads) if (nodes * functions * PANEL > WORTH_THREADS)
    for (size_t i = 0; i < nodes; i += ROWS_AT_ONCE) {
        const size_t some = nodes - i < ROWS_AT_ONCE ? nodes - i : ROWS_AT_ONCE;
        g->kernels->product_double(some, PANEL, functions,
                                   (strided_double){ g->table[0] + i * g->basis->last, g->basis->last, 1 }, columns,
                                   PANEL, out + i * PANEL, PANEL, 0);
    }
    memset(v + nodes, 0, (g->last - nodes) * sizeof *v);
    for (size_t i = 0; i < nodes; i++)
        v[i] = out[i * PANEL];
}

void series_values(const series_grid *g, const double *c, double *v)
{
    const series_basis *b = g->basis;
    const int D = b->factors;
    const double *in = c;
    size_t left = 1, right = b->size;
    if (D == 1) {
        values_of_one(g, c, v);
        return;
    }
    for (int d = 0; d < D - 1; d++) {
        double *out = g->half[d % 2];
        right /= b->functions[d];
        map_middle(g, left, g->nodes[d], b->functions[d], right, (strided_double){ g->table[d], b->functions[d], 1 },
                   in, out);
        left *= g->nodes[d];
        in = out;
    }
    map_last(g, left, g->last, b->functions[D - 1], in, b->last, g->across, v);
}

void series_adjoint(const series_grid *g, const double *q, double *c)
{
    const series_basis *b = g->basis;
    const int D = b->factors;
    size_t left = g->size / g->last, right = b->last;
    const double *in = g->half[(D - 1) % 2];
    if (D == 1) { /* a sum over nodes: columns are shared by threads */
        const size_t parts = (b->last + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->nodes[0] * b->last > WORTH_THREADS)
        for (size_t part = 0; part < parts; part++) {
            const size_t first = part * COLUMNS_AT_ONCE,
                         some = b->last - first < COLUMNS_AT_ONCE ? b->last - first : COLUMNS_AT_ONCE;
            g->kernels->product_double(1, some, g->nodes[0], (strided_double){ q, 0, 1 }, g->table[0] + first, b->last,
                                       c + first, b->last, 0);
        }
        return;
    }
    map_last(g, left, b->last, g->nodes[D - 1], q, g->last, g->table[D - 1], g->half[(D - 1) % 2]);
    for (int d = D - 2; d >= 0; d--) {
        double *out = d == 0 ? c : g->half[d % 2];
        left /= g->nodes[d];
        map_middle(g, left, b->functions[d], g->nodes[d], right, (strided_double){ g->table[d], 1, b->functions[d] },
                   in, out);
        right *= b->functions[d];
        in = out;
    }
}

/* The weight of all factors but the last at a row of the grid. */
static double row_weight(const series_grid *g, size_t row)
{
    double weight = 1.0;
    for (int d = g->basis->factors - 2; d >= 0; d--) {
        weight *= g->weight[d][row % g->nodes[d]];
        row /= g->nodes[d];
    }
    return weight;
}

double series_normalise(const series_grid *g, double *v, double *square)
{
    const size_t nodes = g->nodes[g->basis->factors - 1], rows = g->size / g->last;
    const double *weight = g->weight[g->basis->factors - 1];
    double lane_most[LANES], lane_sum[LANES], lane_square[LANES], most = -INFINITY, Z = 0.0, Z2 = 0.0;
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->size > WORTH_THREADS / 8)
    for (size_t lane = 0; lane < LANES; lane++) {
        double m = -INFINITY;
        for (size_t r = lane; r < rows; r += LANES)
            for (size_t i = 0; i < nodes; i++)
                m = v[r * g->last + i] > m ? v[r * g->last + i] : m;
        lane_most[lane] = m;
    }
    for (int lane = 0; lane < LANES; lane++)
        most = fmax(most, lane_most[lane]);
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->size > WORTH_THREADS / 8)
    for (size_t lane = 0; lane < LANES; lane++) {
        double sum = 0.0, sum2 = 0.0;
        for (size_t r = lane; r < rows; r += LANES) {
            const double here = row_weight(g, r);
            double *row = v + r * g->last;
            for (size_t i = 0; i < nodes; i++) {
                const double e = exp(row[i] - most), w = here * weight[i];
                row[i] = w * e;
                sum += w * e;
                sum2 += w * e * e;
            }
            for (size_t i = nodes; i < g->last; i++)
                row[i] = 0.0;
        }
        lane_sum[lane] = sum;
        lane_square[lane] = sum2;
    }
    for (int lane = 0; lane < LANES; lane++) {
        Z += lane_sum[lane];
        Z2 += lane_square[lane];
    }
    const double inverse = 1.0 / Z;
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->size > WORTH_THREADS / 8)
    for (size_t i = 0; i < g->size; i++)
        v[i] *= inverse;
    *square = Z2 / (Z * Z);
    return most + log(Z);
}
