/* rotate.c - features that are not products: random orthogonal combinations within an eigenspace.
 *
 * Products of one eigenvalue may be combined by any orthogonal matrix and stay orthonormal eigenfunctions of that
 * eigenvalue. An eigenspace of a product has thousands of members, so a matrix acts on a block of at most
 * ENCODING_BLOCK of them. The K drawn products are grouped by eigenvalue (those of S1 and S2 are whole numbers, so
 * equal ones are equal to the bit), large groups are split evenly, and every block takes in companions with its
 * eigenvalue, found by further draws without replacement. Given the eigenvalue, all members are equally likely under
 * either law, so companions are uniform in the rest of the eigenspace. A block with m drawn products among its B has m
 * features: the first m rows of a uniformly distributed orthogonal (B, B) matrix, which are normal vectors made
 * orthonormal one after another. */
#include "spectrum.h"

#define MOST_COMPANION_ATTEMPTS 65536 /* then a block of a product that is not listed stays as it is */

typedef struct eigenspaces { /* blocks while they grow */
    const spectrum *spectrum;
    int blocks;
    encoding_block *block; /* (blocks), eigenvalues rising */
    double *lambda;        /* (blocks) */
    int *function;         /* (blocks, ENCODING_BLOCK, factors) */
} eigenspaces;

typedef struct ordered {
    double lambda;
    int member;
} ordered;

static int by_lambda(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    if (x->lambda != y->lambda)
        return x->lambda < y->lambda ? -1 : 1;
    return x->member < y->member ? -1 : x->member > y->member;
}

static double member_lambda(const spectrum *s, const int *function)
{
    double lambda = 0.0;
    for (int d = 0; d < s->factors; d++)
        lambda += s->lambda[d][function[d]];
    return lambda;
}

static int *block_functions(const eigenspaces *e, int b)
{
    return e->function + (size_t)b * ENCODING_BLOCK * (size_t)e->spectrum->factors;
}

static void block_append(eigenspaces *e, int b, const int *function)
{
    const size_t row = (size_t)e->spectrum->factors;
    memcpy(block_functions(e, b) + (size_t)e->block[b].functions++ * row, function, row * sizeof *function);
}

/* Members first .. first + count - 1 of the order have one eigenvalue: as few blocks as hold them, of nearly
 * equal size. */
static void group_split(eigenspaces *e, const ordered *first, int count, const int *drawn)
{
    const int parts = (count + ENCODING_BLOCK - 1) / ENCODING_BLOCK;
    for (int p = 0, at = 0; p < parts; p++) {
        const int size = count / parts + (p < count % parts), b = e->blocks++;
        e->lambda[b] = first->lambda;
        e->block[b].features = size;
        for (int i = 0; i < size; i++, at++)
            block_append(e, b, drawn + (size_t)first[at].member * (size_t)e->spectrum->factors);
    }
}

static void eigenspaces_close(eigenspaces *e)
{
    memory_free(e->block);
    memory_free(e->lambda);
    memory_free(e->function);
}

/* Blocks with the drawn products alone; drawn (K, factors). */
static npmd_status eigenspaces_open(const spectrum *s, int K, const int *drawn, eigenspaces *e, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    ordered *order = NULL;
    int blocks = 0;
    *e = (eigenspaces){ .spectrum = s };
    TRY(memory_new(&order, K, err));
    for (int k = 0; k < K; k++)
        order[k] = (ordered){ member_lambda(s, drawn + (size_t)k * (size_t)s->factors), k };
    qsort(order, (size_t)K, sizeof *order, by_lambda);
    for (int pass = 0; pass < 2; pass++) { /* counted, then filled */
        for (int k = 0, next = 0; k < K; k = next) {
            while (next < K && order[next].lambda == order[k].lambda)
                next++;
            if (pass == 0)
                blocks += (next - k + ENCODING_BLOCK - 1) / ENCODING_BLOCK;
            else
                group_split(e, order + k, next - k, drawn);
        }
        if (pass == 0) {
            TRY(memory_new(&e->block, blocks, err));
            TRY(memory_new(&e->lambda, blocks, err));
            TRY(memory_new(&e->function, (size_t)blocks * ENCODING_BLOCK * (size_t)s->factors, err));
        }
    }
done:
    memory_free(order);
    return st;
}

/* The smallest block of this eigenvalue, or -1 if there is none with room. */
static int block_with_room(const eigenspaces *e, double lambda)
{
    int low = 0, high = e->blocks, found = -1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (e->lambda[middle] < lambda)
            low = middle + 1;
        else
            high = middle;
    }
    for (int b = low; b < e->blocks && e->lambda[b] == lambda; b++)
        if (e->block[b].functions < ENCODING_BLOCK && (found < 0 || e->block[b].functions < e->block[found].functions))
            found = b;
    return found;
}

static npmd_status find_companions(eigenspaces *e, drawing *more, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    member_set known = { 0 };
    int candidate[NPMD_MAX_FACTORS];
    size_t room = 0;
    TRY(member_set_open(e->spectrum->factors, (size_t)e->blocks * ENCODING_BLOCK, &known, err));
    for (int b = 0; b < e->blocks; b++) {
        for (int i = 0; i < e->block[b].functions; i++)
            member_set_add(&known, e->function, b * ENCODING_BLOCK + i);
        room += (size_t)(ENCODING_BLOCK - e->block[b].functions);
    }
    more->most_attempts = more->attempt + MOST_COMPANION_ATTEMPTS;
    while (room > 0 && drawing_next(more, candidate)) {
        const int b = block_with_room(e, member_lambda(e->spectrum, candidate));
        if (b < 0)
            continue;
        const int row = b * ENCODING_BLOCK + e->block[b].functions;
        block_append(e, b, candidate);
        if (member_set_add(&known, e->function, row) == row)
            room--;
        else
            e->block[b].functions--;
    }
done:
    member_set_close(&known);
    return st;
}

/* matrix (m, B): rows first .. first + m - 1 of normal numbers, made orthonormal. Twice, for what the first
 * pass leaves by rounding is no longer small after the row was scaled up. */
static void random_rows(rng_key key, int first, int m, int B, double *matrix)
{
    for (int i = 0; i < m; i++) {
        double *row = matrix + (size_t)i * (size_t)B;
        for (int j = 0; j < B; j++)
            row[j] = rng_normal(key, (uint64_t)(first + i), (uint32_t)j);
        for (int pass = 0; pass < 2; pass++) {
            double norm2 = 0.0;
            for (int k = 0; k < i; k++) {
                const double *above = matrix + (size_t)k * (size_t)B;
                double dot = 0.0;
                for (int j = 0; j < B; j++)
                    dot += above[j] * row[j];
                for (int j = 0; j < B; j++)
                    row[j] -= dot * above[j];
            }
            for (int j = 0; j < B; j++)
                norm2 += row[j] * row[j];
            for (int j = 0; j < B; j++)
                row[j] /= sqrt(norm2);
        }
    }
}

npmd_status encoding_rotate(const npmd_domain *dom, const settings *opt, const int *drawn, drawing *more, encoding *out,
                            npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const rng_key key = rng_key_make(opt->seed, RNG_ENCODING, KEY_ROTATION);
    const size_t D = (size_t)dom->factors;
    eigenspaces e = { 0 };
    double *rotation = NULL;
    size_t functions = 0, numbers = 0;
    TRY(eigenspaces_open(more->spectrum, opt->encoding.features, drawn, &e, err));
    TRY(find_companions(&e, more, err));
    for (int b = 0; b < e.blocks; b++)
        numbers += (size_t)e.block[b].features * (size_t)e.block[b].functions;
    TRY(memory_new(&rotation, numbers, err));
    numbers = 0;
    for (int b = 0, first = 0; b < e.blocks; b++) {
        const encoding_block *block = &e.block[b];
        random_rows(key, first, block->features, block->functions, rotation + numbers);
        /* the functions of all blocks close up */
        memmove(e.function + functions * D, block_functions(&e, b), (size_t)block->functions * D * sizeof *e.function);
        first += block->features;
        functions += (size_t)block->functions;
        numbers += (size_t)block->features * (size_t)block->functions;
    }
    TRY(encoding_make_rotated(dom, opt->encoding.features, (int)functions, e.function, e.blocks, e.block, rotation,
                              (feature_scale)opt->encoding.scale, out, err));
done:
    memory_free(rotation);
    eigenspaces_close(&e);
    return st;
}
