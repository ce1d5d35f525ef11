/* p-matmult: product of two matrices, rows for whichever thread is free.
 *
 * Multiplies two square matrices of 4-byte integers, modulo 2^32; a row of the product is a task.
 *
 * Sharing: both factors are written by the first thread and then only read, the second one whole
 * by every thread. Each row of the product is written by one thread; neighbouring rows are on
 * different processors, and no row is a whole number of blocks, so these are falsely shared.
 *
 * Source: Bolosky's thesis, section 2.2.13 (a Presto program, written at Rice University): 100 by
 * 100, one thread for each row of the product, multiplied once. Ours: own code; Presto put a thread
 * on whichever processor was free, here -p threads, by default one for each row, take rows. The
 * thesis does not say who writes the factors.
 */
#include "workload.h"

static const struct workload p_matmult = {
    .name = "p-matmult",
    .summary = "Product of two matrices of 4-byte integers, rows for whichever thread is free",
    .size_help = "rows and columns",
    .size_default = 100, .size_quick = 24, .size_min = 2, .size_max = 4096,
    .threads_default = 100,
};

static struct options o;
static unsigned size;
static uint32_t *left, *right, *product; /* row after row */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken; /* rows */

static UNRECORDED uint32_t input(unsigned matrix, unsigned at)
{
    return (uint32_t)random_at(o.seed, 2 * (uint64_t)at + matrix);
}

/* The next row, or `size` when all are taken. */
static unsigned take(void)
{
    pthread_mutex_lock(&lock);
    unsigned row = taken < size ? taken++ : size;
    pthread_mutex_unlock(&lock);
    return row;
}

static void work(unsigned id)
{
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned row = take(); row < size; row = take())
        for (unsigned col = 0; col < size; col++) {
            uint32_t sum = 0;
            for (unsigned k = 0; k < size; k++)
                sum += left[row * size + k] * right[k * size + col];
            product[row * size + col] = sum;
        }
    meet();
}

/* Compares P v with L (R v) for odd random v (after Freivalds); counts the rows that differ. */
static UNRECORDED uint64_t wrong_rows(uint64_t trial)
{
    uint32_t *v = allocated(calloc(2 * (size_t)size, sizeof *v)), *rv = v + size;
    uint64_t wrong = 0;
    for (unsigned i = 0; i < size; i++)
        v[i] = (uint32_t)random_at(o.seed + trial, 2 * (uint64_t)size * size + i) | 1;
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++)
            rv[row] += input(1, row * size + col) * v[col];
    for (unsigned row = 0; row < size; row++) {
        uint32_t expected = 0, found = 0;
        for (unsigned col = 0; col < size; col++) {
            expected += input(0, row * size + col) * rv[col];
            found += product[row * size + col] * v[col];
        }
        wrong += expected != found;
    }
    free(v);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned at = 0; at < size * size; at++)
        sum = mix(sum, product[at]);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&p_matmult, argc, argv);
    size = o.size;
    size_t bytes = (size_t)size * size * sizeof(uint32_t);
    left = allocated(malloc(bytes));
    right = allocated(malloc(bytes));
    product = allocated(malloc(bytes));
    for (unsigned at = 0; at < size * size; at++) {
        left[at] = input(0, at);
        right[at] = input(1, at);
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        product[size + 1]++;
    begin_check();
    int status = verdict(&p_matmult, wrong_rows(1) + wrong_rows(2), checksum());
    free(left);
    free(right);
    free(product);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
