/* fem_solve.c - the lowest eigenpairs of K phi = lambda M phi, by shift-invert Lanczos.
 *
 * The operator (K - sigma M)^-1 M has the same functions and the values 1 / (lambda - sigma): with sigma below zero the
 * lowest lambda give the largest values, well separated, and K - sigma M is positive definite. ARPACK restarts the
 * Lanczos process, SuperLU factorises K - sigma M once, with pivots on the diagonal, in METIS' order of elimination.
 *
 * Lanczos may overlook a copy of a multiple eigenvalue. So the values are counted: by Sylvester's law of inertia K - mu
 * M, factorised, has as many negative pivots as there are eigenvalues below mu.
 *
 * ARPACK keeps its state in static variables: one solve at a time, behind a lock. Sums in BLAS depend on its number of
 * threads: OpenBLAS is limited to one meanwhile. SuperLU ends the program if memory for one of its small arrays is
 * missing (not for the factors, nor in METIS), so that much memory is tried for before it is called. */
#include "surface.h"

#include <arpack.h>
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <slu_ddefs.h>

const bool FEM_SOLVES = true;

/* LAPACK: A z = w B z, all of it, symmetric, by columns; a becomes the vectors. Lengths of the texts come last. */
void dsygv_(const int *kind, const char *vectors, const char *half, const int *n, double *a, const int *a_step,
            double *b, const int *b_step, double *w, double *work, const int *room, int *info, size_t vectors_length,
            size_t half_length);

/* Of OpenBLAS; absent (NULL) where another BLAS is linked. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* ---- Small problems: dense --------------------------------------------------------------------------------------- */

enum { DENSE = 500 }; /* nodes; a quarter of a second, and any number of pairs, all nodes of them */

static npmd_status solve_dense(const fem_matrices *a, int pairs, double *lambda, double *phi, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int n = (int)a->nodes, room = 34 * n, kind = 1; /* room: (block of 32 + 2) n */
    int info = 0;
    double *stiffness = NULL, *mass = NULL, *value = NULL, *work = NULL;
    TRY(memory_new(&stiffness, a->nodes * a->nodes, err));
    TRY(memory_new(&mass, a->nodes * a->nodes, err));
    TRY(memory_new(&value, a->nodes, err));
    TRY(memory_new(&work, room, err));
    for (size_t i = 0; i < a->nodes; i++)
        for (int32_t c = a->start[i]; c < a->start[i + 1]; c++) {
            stiffness[i * a->nodes + (size_t)a->column[c]] = a->stiffness[c];
            mass[i * a->nodes + (size_t)a->column[c]] = a->mass[c];
        }
    dsygv_(&kind, "V", "L", &n, stiffness, &n, mass, &n, value, work, &room, &info, 1, 1);
    if (info != 0)
        TRY(npmd_fail(err, NPMD_ERR_NUMERIC, "the eigenpairs of %d nodes were not found (LAPACK: %d)", n, info));
    memcpy(lambda, value, (size_t)pairs * sizeof *lambda);
    memcpy(phi, stiffness, (size_t)pairs * a->nodes * sizeof *phi);
done:
    memory_free_all(stiffness, mass, value, work);
    return st;
}

static npmd_status out_of_memory(size_t nodes, npmd_error *err)
{
    return npmd_fail(err, NPMD_ERR_MEMORY, "not enough memory for the factors of a matrix of %zu rows", nodes);
}

/* Where this succeeds METIS and SuperLU's arrays of a known size will find room: graphs, trees and panels, some 60
 * numbers for each row, and twice the pattern. */
static npmd_status memory_try(const fem_matrices *a, npmd_error *err)
{
    const size_t bytes = a->nodes * 60 * sizeof(double) + (size_t)a->start[a->nodes] * 4 * sizeof(int);
    char *room = malloc(bytes);
    if (room == NULL)
        return out_of_memory(a->nodes, err);
    free(room);
    return NPMD_OK;
}

/* ---- The order of elimination ------------------------------------------------------------------------------------ */

/* METIS draws from rand(), and leaves by a jump on SIGABRT, which it raises where memory fails (it says so on stderr),
 * and on any SIGTERM; what it puts back is not all that was there. So it is given a state of rand() of its own, SIGTERM
 * waits until it is done, actions and mask are restored. Of the other threads none must get a SIGTERM meanwhile. */
static int dissect(idx_t n, idx_t *start, idx_t *column, idx_t *order, idx_t *position)
{
    struct sigaction on_abort, on_end;
    sigset_t end, mask;
    idx_t how[METIS_NOPTIONS];
    char drawing[128]; /* glibc's size for rand() */
    METIS_SetDefaultOptions(how);
    how[METIS_OPTION_SEED] = 1;
    how[METIS_OPTION_COMPRESS] = 0; /* no nodes share their neighbours; sums of these overflow at a hub */
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, &mask);
    sigaction(SIGABRT, NULL, &on_abort);
    sigaction(SIGTERM, NULL, &on_end);
    char *const drawn = initstate(1, drawing, sizeof drawing);
    const int code = METIS_NodeND(&n, start, column, NULL, how, order, position);
    setstate(drawn);
    sigaction(SIGABRT, &on_abort, NULL);
    sigaction(SIGTERM, &on_end, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return code;
}

/* position (nodes) of each node in an order with little fill: nested dissection of the graph, which is the pattern less
 * its diagonal. METIS checks nothing: symmetric, without loops, and fewer than 2^31 entries it is from fem.c. */
static npmd_status order_make(const fem_matrices *a, int *position, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    idx_t *start = NULL, *column = NULL, *order = NULL, *place = NULL, edges = 0; /* idx_t: 32 or 64 bits */
    TRY(memory_new(&start, a->nodes + 1, err));
    TRY(memory_new(&column, a->start[a->nodes], err));
    TRY(memory_new(&order, a->nodes, err));
    TRY(memory_new(&place, a->nodes, err));
    TRY(memory_try(a, err));
    for (int32_t i = 0; i < (int32_t)a->nodes; i++) {
        for (int32_t c = a->start[i]; c < a->start[i + 1]; c++)
            if (a->column[c] != i)
                column[edges++] = a->column[c];
        start[i + 1] = edges;
    }
    const int code = dissect((idx_t)a->nodes, start, column, order, place);
    if (code == METIS_ERROR_MEMORY)
        st = out_of_memory(a->nodes, err);
    else if (code != METIS_OK)
        st = npmd_fail(err, NPMD_ERR_NUMERIC, "no order of elimination was found (METIS: %d)", code);
    for (size_t i = 0; i < a->nodes; i++)
        position[i] = (int)place[i];
done:
    memory_free_all(start, column, order, place);
    return st;
}

/* ---- The factors of K - sigma M ---------------------------------------------------------------------------------- */

typedef struct factors {
    double *entry;              /* of K - sigma M */
    int *rows, *columns, *tree; /* permutations, and the elimination tree */
    SuperMatrix matrix, ordered, lower, upper;
    SuperLUStat_t count;
    bool counting, made, permuted, factorised;
} factors;

static void factors_free(factors *f)
{
    if (f->factorised) {
        Destroy_SuperNode_Matrix(&f->lower);
        Destroy_CompCol_Matrix(&f->upper);
    }
    if (f->permuted)
        Destroy_CompCol_Permuted(&f->ordered);
    if (f->made)
        Destroy_SuperMatrix_Store(&f->matrix);
    if (f->counting)
        StatFree(&f->count);
    memory_free_all(f->entry, f->rows, f->columns, f->tree);
    *f = (factors){ 0 };
}

static npmd_status factors_make(const fem_matrices *a, const int *position, double sigma, factors *f, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int n = (int)a->nodes, entries = a->start[n];
    int info = 0;
    superlu_options_t how;
    GlobalLU_t shared;
    TRY(memory_new(&f->entry, entries, err));
    TRY(memory_new(&f->rows, n, err));
    TRY(memory_new(&f->columns, n, err));
    TRY(memory_new(&f->tree, n, err));
    TRY(memory_try(a, err));
    memcpy(f->columns, position, a->nodes * sizeof *position);
    for (int c = 0; c < entries; c++)
        f->entry[c] = a->stiffness[c] - sigma * a->mass[c];
    set_default_options(&how);
    how.SymmetricMode = YES;
    how.ColPerm = MY_PERMC;
    how.DiagPivotThresh = 0.0;
    StatInit(&f->count);
    f->counting = true;
    dCreate_CompCol_Matrix(&f->matrix, n, n, entries, f->entry, a->column, a->start, SLU_NC, SLU_D, SLU_GE);
    f->made = true;
    sp_preorder(&how, &f->matrix, f->columns, f->tree, &f->ordered);
    f->permuted = true;
    dgstrf(&how, &f->ordered, sp_ienv(2), sp_ienv(1), f->tree, NULL, 0, f->columns, f->rows, &f->lower, &f->upper,
           &shared, &f->count, &info);
    f->factorised = info >= 0 && info <= n;
    if (info > n)
        st = out_of_memory(a->nodes, err);
    else if (info != 0)
        st = npmd_fail(err, NPMD_ERR_NUMERIC, "K - sigma M has no factors (SuperLU: %d)", info);
done:
    return st;
}

/* x becomes (K - sigma M)^-1 x. */
static void factors_solve(factors *f, double *x)
{
    int info = 0;
    DNformat values = { .lda = f->matrix.nrow, .nzval = x };
    SuperMatrix right = {
        .Stype = SLU_DN, .Dtype = SLU_D, .Mtype = SLU_GE, .nrow = f->matrix.nrow, .ncol = 1, .Store = &values
    };
    dgstrs(NOTRANS, &f->lower, &f->upper, f->columns, f->rows, &right, &f->count, &info);
    assert(info == 0);
}

/* Pivots below zero: they stand on the diagonals of the supernodes, as L keeps those of U. */
static int factors_negative(const factors *f)
{
    const SCformat *l = f->lower.Store;
    const double *value = l->nzval;
    int count = 0;
    for (int k = 0; k <= l->nsuper; k++)
        for (int j = l->sup_to_col[k]; j < l->sup_to_col[k + 1]; j++)
            count += value[l->nzval_colptr[j] + j - l->sup_to_col[k]] < 0.0;
    return count;
}

/* ---- Lanczos ----------------------------------------------------------------------------------------------------- */

typedef struct lanczos {
    const fem_matrices *a;
    const fem_watch *watch;
    factors inverse;
    int n, pairs, basis;
    double sigma;
    double *v;                           /* (basis, n): the basis, then the functions */
    double *rest, *three, *room, *value; /* ARPACK's: (n), (3, n), (basis, basis + 8), (pairs) */
    int *chosen, which[11], where[11];   /* (basis); its parameters, and places in three */
    int64_t solved;
} lanczos;

static void lanczos_free(lanczos *l)
{
    factors_free(&l->inverse);
    memory_free_all(l->v, l->rest, l->three, l->room, l->value, l->chosen);
    *l = (lanczos){ 0 };
}

/* sigma = -lambda_k / 20: K - sigma M is then well conditioned and the wanted values 1 / (lambda - sigma) lie within a
 * factor of 21, at the price of five in a hundred steps against a shift near zero. lambda_k by Weyl's law, 4 pi k /
 * area; the entries of M add up to the area. */
static double shift(const fem_matrices *a, int pairs)
{
    double area = 0.0;
    for (int32_t c = 0; c < a->start[a->nodes]; c++)
        area += a->mass[c];
    return -4.0 * NPMD_PI * pairs / area / 20.0;
}

static bool goes_on(const fem_watch *w, int64_t solved, int64_t expected)
{
    npmd_report report = report_new(solved, solved > expected ? solved : expected, 1, NAN);
    report.doing = "eigenfunctions";
    report.done = (double)solved / (double)report.steps;
    return w->progress(&report, w->user) == 0;
}

static npmd_status lanczos_open(const fem_matrices *a, const int *position, int pairs, const fem_watch *watch,
                                lanczos *l, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const int n = (int)a->nodes, half = pairs + pairs / 2 + 20;
    *l = (lanczos){ .a = a, .watch = watch, .n = n, .pairs = pairs, .basis = half < n ? half : n };
    l->sigma = shift(a, pairs);
    if (l->basis > 40000) /* its square is an int */
        return npmd_fail(err, NPMD_ERR_ARGUMENT, "%d eigenpairs are too many", pairs);
    TRY(memory_new(&l->v, a->nodes * (size_t)l->basis, err));
    TRY(memory_new(&l->rest, n, err));
    TRY(memory_new(&l->three, 3 * a->nodes, err));
    TRY(memory_new(&l->room, (size_t)l->basis * (size_t)(l->basis + 8), err));
    TRY(memory_new(&l->value, pairs, err));
    TRY(memory_new(&l->chosen, l->basis, err));
    TRY(factors_make(a, position, l->sigma, &l->inverse, err));
done:
    return st;
}

/* What ARPACK asks for by ido: y = (K - sigma M)^-1 M x, the same with M x known, or y = M x. */
static void answer(lanczos *l, int ido)
{
    const double *x = l->three + l->where[0] - 1, *mass_x = l->three + l->where[2] - 1;
    double *y = l->three + l->where[1] - 1;
    if (ido == 1)
        memcpy(y, mass_x, (size_t)l->n * sizeof *y);
    else
        fem_apply(l->a, l->a->mass, x, y);
    if (ido != 2) {
        factors_solve(&l->inverse, y);
        l->solved++;
    }
}

enum { ASK_START = -1, ASK_SOLVE = 1, ASK_MASS = 2, ENDED = 99, MOST_RESTARTS = 300 };
/* Of the estimated error, relative to 1 / (lambda - sigma). More costs half as many steps again and changes nothing:
 * rounding gives residuals of 1e-12. */
#define TOLERANCE 1e-13

/* From a start vector that is a function of the attempt alone. */
static npmd_status lanczos_run(lanczos *l, uint64_t attempt, npmd_error *err)
{
    const rng_key key = rng_key_make(attempt, RNG_START, 0);
    const int room = l->basis * (l->basis + 8), shift_invert = 3;
    const int64_t expected = 3 * (int64_t)l->pairs;
    int ido = 0, info = 1; /* 1: rest is the start vector */
    for (int i = 0; i < l->n; i++)
        l->rest[i] = rng_normal(key, (uint64_t)i, 0);
    memset(l->where, 0, sizeof l->where);
    memset(l->which, 0, sizeof l->which);
    l->which[0] = 1; /* ARPACK's own shifts */
    l->which[2] = MOST_RESTARTS;
    l->which[3] = 1; /* the size of its blocks */
    l->which[6] = shift_invert;
    for (;;) {
        dsaupd_c(&ido, "G", l->n, "LM", l->pairs, TOLERANCE, l->rest, l->basis, l->v, l->n, l->which, l->where,
                 l->three, l->room, room, &info);
        if (ido != ASK_START && ido != ASK_SOLVE && ido != ASK_MASS)
            break;
        answer(l, ido);
        if (l->watch != NULL && ido != ASK_MASS && !goes_on(l->watch, l->solved, expected))
            return npmd_fail(err, NPMD_STOPPED, "stopped after %lld solves", (long long)l->solved);
    }
    if (ido == ENDED && info == 0)
        dseupd_c(1, "A", l->chosen, l->value, l->v, l->n, l->sigma, "G", l->n, "LM", l->pairs, TOLERANCE, l->rest,
                 l->basis, l->v, l->n, l->which, l->where, l->three, l->room, room, &info);
    if (info != 0 || l->which[4] < l->pairs)
        return npmd_fail(err, NPMD_ERR_NUMERIC, "%d of %d eigenpairs were found after %d restarts (ARPACK: %d)",
                         l->which[4], l->pairs, l->which[2], info);
    return NPMD_OK;
}

/* The lowest pairs of those found, rising; phi (pairs, n). */
static void take_rising(const lanczos *l, int pairs, double *lambda, double *phi)
{
    for (int i = 0; i < l->pairs; i++) {
        int place = 0; /* how many are lower; of equal ones, those before it */
        for (int j = 0; j < l->pairs; j++)
            place += l->value[j] < l->value[i] || (l->value[j] == l->value[i] && j < i);
        if (place >= pairs)
            continue;
        lambda[place] = l->value[i];
        memcpy(phi + (size_t)place * (size_t)l->n, l->v + (size_t)i * (size_t)l->n, (size_t)l->n * sizeof *phi);
    }
}

/* Counts the eigenvalues below the last gap that is no rounding: a thousandth of the mean one. */
static npmd_status count_agrees(const fem_matrices *a, const int *position, const double *lambda, int pairs, bool *out,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    factors f = { 0 };
    int below = pairs - 1;
    while (below > 1 && lambda[below] - lambda[below - 1] < 1e-3 * lambda[pairs - 1] / pairs)
        below--;
    TRY(factors_make(a, position, 0.5 * (lambda[below - 1] + lambda[below]), &f, err));
    *out = memcmp(f.rows, f.columns, a->nodes * sizeof *f.rows) != 0 /* a pivot off the diagonal: no count */
           || factors_negative(&f) == below;
done:
    factors_free(&f);
    return st;
}

enum { ATTEMPTS = 3, DENSE_IF_NEED_BE = 3000 };

/* On a symmetric mesh Lanczos may overlook copies of a multiple eigenvalue: each attempt asks for more pairs than the
 * one before, in a larger space; then a small mesh is solved as a whole. */
static npmd_status solve_sparse(const fem_matrices *a, int pairs, const fem_watch *watch, double *lambda, double *phi,
                                npmd_error *err)
{
    npmd_status st = NPMD_OK;
    lanczos l = { 0 };
    bool complete = false;
    int *position = NULL;
    TRY(memory_new(&position, a->nodes, err));
    TRY(order_make(a, position, err));
    for (int attempt = 0; attempt < ATTEMPTS && !complete; attempt++) {
        const size_t more = (size_t)pairs + (size_t)attempt * ((size_t)pairs / 4 + 16), most = a->nodes / 2;
        lanczos_free(&l);
        TRY(lanczos_open(a, position, (int)(more < most ? more : most), watch, &l, err));
        TRY(lanczos_run(&l, (uint64_t)attempt, err));
        take_rising(&l, pairs, lambda, phi);
        TRY(count_agrees(a, position, lambda, pairs, &complete, err));
    }
    if (!complete && a->nodes <= DENSE_IF_NEED_BE)
        st = solve_dense(a, pairs, lambda, phi, err);
    else if (!complete)
        st = npmd_fail(err, NPMD_ERR_NUMERIC,
                       "some of the %d eigenpairs were overlooked in %d attempts: the mesh is very symmetric; move "
                       "its vertices a little, or ask for another number",
                       pairs, ATTEMPTS);
done:
    lanczos_free(&l);
    memory_free(position);
    return st;
}

npmd_status fem_solve(const fem_matrices *a, int pairs, const fem_watch *watch, double *lambda, double *phi,
                      npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const bool dense = a->nodes <= DENSE || (size_t)pairs > a->nodes / 2;
    assert(pairs >= 2 && (size_t)pairs <= a->nodes);
    pthread_mutex_lock(&one_at_a_time);
    const int threads = openblas_get_num_threads ? openblas_get_num_threads() : 0;
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    st = dense ? solve_dense(a, pairs, lambda, phi, err) : solve_sparse(a, pairs, watch, lambda, phi, err);
    if (openblas_set_num_threads)
        openblas_set_num_threads(threads);
    pthread_mutex_unlock(&one_at_a_time);
    return st;
}
