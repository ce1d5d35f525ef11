/* p-gauss: Gaussian elimination, a thread for each column.
 *
 * Computes the factors L and U of a square matrix of unsigned 4-byte integers, modulo 2^32, exactly
 * as gauss does, but by columns: in each step a thread is forked for every column behind the
 * pivot's, and runs on whichever processor is free. That of the next pivot's column also makes the
 * factors of the next step from it.
 *
 * Sharing: in each step nearly every column moves to another processor, and the pivot's column to
 * all. Columns of 400 bytes lie side by side: a block that holds more than one is written by
 * several processors in every step. Threads and their stacks (presto.h) move as well.
 *
 * Source: Bolosky's thesis, section 2.2.11 (a Presto program, written at Rice University): 100 by
 * 100, a thread forked for each column, no attention to locality. Ours: own code; arithmetic modulo
 * 2^32. That the matrix is stored by columns is our reading of the figures.
 */
#include "presto.h"

static const struct workload p_gauss = {
    .name = "p-gauss",
    .summary = "Gaussian elimination of 4-byte integers, a thread for each column",
    .size_help = "rows and columns",
    .size_default = 100, .size_quick = 24, .size_min = 2, .size_max = 4096,
};

static struct options o;
static unsigned size;
static uint32_t *a; /* column after column */

/* Element of the input: odd on the diagonal, even below it, so that every pivot has an inverse. */
static UNRECORDED uint32_t input(unsigned row, unsigned col)
{
    uint32_t value = (uint32_t)random_at(o.seed, (uint64_t)row * size + col);
    if (row == col)
        return value | 1;
    return row > col ? value & ~UINT32_C(1) : value;
}

/* Inverse of an odd number modulo 2^32, by Newton's iteration. */
static uint32_t inverse(uint32_t odd)
{
    uint32_t x = odd; /* right in the lowest 3 bits */
    for (int bits = 3; bits < 32; bits *= 2)
        x *= 2 - odd * x;
    return x;
}

/* Turns what is below the pivot into the factors of the rows. */
static void make_factors(unsigned pivot)
{
    uint32_t reciprocal = inverse(a[pivot * size + pivot]);
    for (unsigned row = pivot + 1; row < size; row++)
        a[pivot * size + row] *= reciprocal;
}

/* What a thread does: a column in the step of a pivot. */
static void eliminate(unsigned pivot, unsigned col)
{
    for (unsigned row = pivot + 1; row < size; row++)
        a[col * size + row] -= a[col * size + pivot] * a[pivot * size + row];
    if (col == pivot + 1)
        make_factors(col);
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    struct processor *processor = start_processor(id);
    for (unsigned col = low; col < high; col++)
        for (unsigned row = 0; row < size; row++)
            a[col * size + row] = input(row, col);
    if (low == 0 && high > 0)
        make_factors(0);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
        for (unsigned pivot = 0; pivot + 1 < size; pivot++) {
            for (unsigned col = pivot + 1; col < size; col++)
                fork_thread(eliminate, pivot, col);
            join_threads(processor);
        }
        end_threads();
    } else {
        serve_threads(processor);
    }
}

/* Compares A v with L (U v) for odd random v (after Freivalds); counts the rows that differ. */
static UNRECORDED uint64_t wrong_rows(uint64_t trial)
{
    uint32_t *v = allocated(calloc(2 * (size_t)size, sizeof *v)), *uv = v + size;
    uint64_t wrong = 0;
    for (unsigned i = 0; i < size; i++)
        v[i] = (uint32_t)random_at(o.seed + trial, (uint64_t)size * size + i) | 1;
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = row; col < size; col++)
            uv[row] += a[col * size + row] * v[col];
    for (unsigned row = 0; row < size; row++) {
        uint32_t expected = 0, found = uv[row];
        for (unsigned col = 0; col < size; col++)
            expected += input(row, col) * v[col];
        for (unsigned col = 0; col < row; col++)
            found += a[col * size + row] * uv[col];
        wrong += expected != found;
    }
    free(v);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned at = 0; at < size * size; at++)
        sum = mix(sum, a[at]);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&p_gauss, argc, argv);
    size = o.size;
    a = allocated(malloc((size_t)size * size * sizeof *a));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        a[size / 3 * size + size / 2] += 1;
    begin_check();
    uint64_t wrong = wrong_rows(1) + wrong_rows(2);
    int status = verdict(&p_gauss, wrong, checksum());
    free(a);
    release_threads();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
