/* matmult: product of two matrices of 4-byte integers.
 *
 * Computes C = A B modulo 2^32. Thread i computes a block of adjacent rows of C; a sum is formed in
 * a register, so the inner loop makes two reads.
 *
 * Sharing: A and B are only read after initialisation, B by all threads, a row of A by one. C is
 * written by one thread a row; rows are not aligned, so that neighbours share the block where
 * their rows meet. The first thread makes A and B, which therefore all begin in one place.
 *
 * Source: Bolosky's thesis, section 2.2.7 (program by R. Fitzgerald): 200 by 200 integers, blocks
 * of rows. Ours: own code; one multiplication, where the thesis ran nine in a row with fewer and
 * fewer processors for the sake of timing.
 */
#include "workload.h"

static const struct workload matmult = {
    .name = "matmult",
    .summary = "Product of two matrices of 4-byte integers, blocks of rows",
    .size_help = "rows and columns",
    .size_default = 200, .size_quick = 32, .size_min = 1, .size_max = 4096,
};

static struct options o;
static unsigned size;
static uint32_t *a, *b, *c;

static UNRECORDED uint32_t input(unsigned matrix, unsigned row, unsigned col)
{
    return (uint32_t)random_at(o.seed, ((uint64_t)matrix * size + row) * size + col);
}

static void work(unsigned id)
{
    if (id == 0) {
        for (unsigned row = 0; row < size; row++)
            for (unsigned col = 0; col < size; col++) {
                a[row * size + col] = input(0, row, col);
                b[row * size + col] = input(1, row, col);
            }
        homenode_init_done();
        homenode_phase(1);
    }
    meet();
    unsigned high = first_of(id + 1, o.threads, size);
    for (unsigned row = first_of(id, o.threads, size); row < high; row++)
        for (unsigned col = 0; col < size; col++) {
            uint32_t sum = 0;
            for (unsigned k = 0; k < size; k++)
                sum += a[row * size + k] * b[k * size + col];
            c[row * size + col] = sum;
        }
}

/* The product again, in another order of loops; counts the elements that differ. */
static UNRECORDED uint64_t wrong_elements(void)
{
    uint32_t *expected = allocated(malloc(size * sizeof *expected));
    uint64_t wrong = 0;
    for (unsigned row = 0; row < size; row++) {
        for (unsigned k = 0; k < size; k++) {
            uint32_t factor = input(0, row, k);
            /* Not cleared first: a call of memset would be recorded. */
            for (unsigned col = 0; col < size; col++)
                expected[col] = (k > 0 ? expected[col] : 0) + factor * input(1, k, col);
        }
        for (unsigned col = 0; col < size; col++)
            wrong += expected[col] != c[row * size + col];
    }
    free(expected);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned i = 0; i < size * size; i++)
        sum = mix(sum, c[i]);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&matmult, argc, argv);
    size = o.size;
    size_t bytes = whole_pages((size_t)size * size * sizeof(uint32_t));
    a = allocated(aligned_alloc(PAGE_BYTES, bytes));
    b = allocated(aligned_alloc(PAGE_BYTES, bytes));
    c = allocated(aligned_alloc(PAGE_BYTES, bytes));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        c[size * size / 2] ^= 1;
    begin_check();
    int status = verdict(&matmult, wrong_elements(), checksum());
    free(a);
    free(b);
    free(c);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
