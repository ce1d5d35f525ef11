/* p-matmult: product of two matrices, a thread for each row.
 *
 * Multiplies two square matrices of 4-byte integers, modulo 2^32; a row of the product is a thread.
 *
 * Sharing: both factors are written by the first processor and then only read, the second one whole
 * by every processor. Each row of the product is written by one; neighbouring rows are on different
 * processors. A row of either factor and one of the product lie side by side, as the first
 * processor allocated them in one loop: a block larger than a row holds numbers that are read by
 * all and others that are being written.
 *
 * Source: Bolosky's thesis, section 2.2.13 (a Presto program, written at Rice University): 100 by
 * 100, one thread for each row of the product, multiplied once. Ours: own code. The thesis does not
 * say who writes the factors nor where rows lie; that they lie so is our reading of its figures, in
 * which p-matmult is as dear with large blocks as other Presto programs and not so with small ones.
 * The inner loop makes six reads, as that of gauss does (section 2.2.2): where the rows are, where
 * the row is and its element, of either factor.
 */
#include "presto.h"

static const struct workload p_matmult = {
    .name = "p-matmult",
    .summary = "Product of two matrices of 4-byte integers, a thread for each row",
    .size_help = "rows and columns",
    .size_default = 100, .size_quick = 24, .size_min = 2, .size_max = 4096,
};

enum { LEFT, RIGHT, PRODUCT, MATRICES };

static struct options o;
static unsigned size;
static uint32_t *numbers; /* row after row: of the left factor, of the right one, of the product */

/* Places in `numbers` stand for pointers, which had four bytes. First where the places of each
 * matrix's rows begin, then those; volatile because the thesis's compilers loaded them in each
 * turn. */
static volatile uint32_t *places;

static UNRECORDED uint32_t input(unsigned matrix, unsigned at)
{
    return (uint32_t)random_at(o.seed, 2 * (uint64_t)at + matrix);
}

INLINED uint32_t *element(unsigned matrix, unsigned row, unsigned col)
{
    return &numbers[places[places[matrix] + row] + col];
}

/* What a thread does. */
static void multiply(unsigned row, unsigned columns)
{
    for (unsigned col = 0; col < columns; col++) {
        uint32_t sum = 0;
        for (unsigned k = 0; k < size; k++)
            sum += *element(LEFT, row, k) * *element(RIGHT, k, col);
        *element(PRODUCT, row, col) = sum;
    }
}

static void work(unsigned id)
{
    struct processor *processor = start_processor(id);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
        for (unsigned row = 0; row < size; row++)
            fork_thread(multiply, row, size);
        join_threads(processor);
        end_threads();
    } else {
        serve_threads(processor);
    }
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
            found += *element(PRODUCT, row, col) * v[col];
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
        sum = mix(sum, *element(PRODUCT, at / size, at % size));
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&p_matmult, argc, argv);
    size = o.size;
    size_t rows = MATRICES * (size_t)size;
    numbers = allocated(aligned_alloc(PAGE_BYTES, whole_pages(rows * size * sizeof *numbers)));
    size_t bytes = whole_pages((MATRICES + rows) * sizeof *places);
    places = allocated(aligned_alloc(PAGE_BYTES, bytes));
    for (unsigned matrix = 0; matrix < MATRICES; matrix++) {
        places[matrix] = MATRICES + matrix * size;
        for (unsigned row = 0; row < size; row++)
            places[MATRICES + matrix * size + row] = (row * MATRICES + matrix) * size;
    }
    for (unsigned at = 0; at < size * size; at++)
        for (unsigned matrix = LEFT; matrix <= RIGHT; matrix++)
            *element(matrix, at / size, at % size) = input(matrix, at);
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ++*element(PRODUCT, 1, 1);
    begin_check();
    int status = verdict(&p_matmult, wrong_rows(1) + wrong_rows(2), checksum());
    free(numbers);
    free((void *)(uintptr_t)places);
    release_threads();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
