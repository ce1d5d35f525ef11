/* gauss: Gaussian elimination without pivoting.
 *
 * Computes the factors L and U of a square matrix of unsigned 4-byte integers, modulo 2^32 so that
 * the result is exact: the inputs below the diagonal are even and those on it odd, which
 * elimination preserves, and an odd pivot has an inverse.
 *
 * Sharing: each thread owns a band of adjacent rows, allocated on pages of its own. In iteration k
 * every thread with rows below row k reads that row, which its owner finished in iteration k - 1
 * and nobody writes again; all other references are to the thread's own rows. Copies of the pivot
 * row are all that must move, but a block larger than a row also holds rows still being written.
 *
 * Source: Bolosky's thesis, section 2.2.2 (program by R. Fowler): 512 by 512, bands that are
 * multiples of 4 KB and aligned, the inner loop quoted there. Ours: own code, arithmetic modulo
 * 2^32 (the thesis does not say how it divides), factors kept below the diagonal, rows reached
 * through an array of pointers as in the quoted loop. Those are in registers there, as compilers of
 * today keep them; with --reload the loop loads them each time, as the ACE's compiler did.
 */
#include "workload.h"

static const struct workload gauss = {
    .name = "gauss",
    .summary = "Gaussian elimination of a matrix of 4-byte integers, bands of rows",
    .size_help = "rows and columns",
    .size_default = 512, .size_quick = 40, .size_min = 2, .size_max = 8192,
    .flag = "--reload",
    .flag_help = "load where rows are in each turn of the inner loop, as the ACE's compiler did",
};

static struct options o;
static unsigned size;
static uint32_t **a; /* the rows */

/* The same in four bytes each, as the ACE's pointers were: elements from the first row's. Before
 * them, which of the places is the first row's. */
static volatile uint32_t *places;

/* Element of the input. */
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

static void eliminate(unsigned pivot, unsigned row)
{
    uint32_t factor = a[row][pivot] * inverse(a[pivot][pivot]);
    a[row][pivot] = factor;
    for (unsigned col = pivot + 1; col < size; col++)
        a[row][col] -= a[pivot][col] * factor;
}

/* The same, with the five reads of the thesis: of `a`, `a[row]`, `a[pivot]` and two elements. */
static void eliminate_reloading(unsigned pivot, unsigned row)
{
    uint32_t *numbers = a[0], factor = a[row][pivot] * inverse(a[pivot][pivot]);
    unsigned end = size; /* this one stayed in a register */
    a[row][pivot] = factor;
    for (unsigned col = pivot + 1; col < end; col++) {
        uint32_t rows = places[0], to = places[rows + row], from = places[rows + pivot];
        numbers[to + col] -= numbers[from + col] * factor;
    }
}

static void work(unsigned id)
{
    bool reload = o.flag;
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    for (unsigned row = low; row < high; row++)
        for (unsigned col = 0; col < size; col++)
            a[row][col] = input(row, col);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    meet();
    for (unsigned pivot = 0; pivot + 1 < size; pivot++) {
        for (unsigned row = low > pivot + 1 ? low : pivot + 1; row < high; row++)
            if (reload)
                eliminate_reloading(pivot, row);
            else
                eliminate(pivot, row);
        meet();
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
            uv[row] += a[row][col] * v[col];
    for (unsigned row = 0; row < size; row++) {
        uint32_t expected = 0, found = uv[row];
        for (unsigned col = 0; col < size; col++)
            expected += input(row, col) * v[col];
        for (unsigned col = 0; col < row; col++)
            found += a[row][col] * uv[col];
        wrong += expected != found;
    }
    free(v);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++)
            sum = mix(sum, a[row][col]);
    return sum;
}

/* Rows of a band lie side by side; every band begins on a page, and no other shares its last. */
static void allocate_bands(void)
{
    size_t bytes = 0, row_bytes = size * sizeof(uint32_t);
    for (unsigned id = 0; id < o.threads; id++)
        bytes += whole_pages(row_bytes * (size / o.threads + 1) + 1);
    uint32_t *numbers = allocated(aligned_alloc(PAGE_BYTES, bytes));
    places = allocated(aligned_alloc(PAGE_BYTES, whole_pages((1 + size) * sizeof *places)));
    places[0] = 1;
    size_t at = 0;
    for (unsigned id = 0; id < o.threads; id++) {
        unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
        for (unsigned row = low; row < high; row++) {
            places[1 + row] = (uint32_t)(at / sizeof *numbers) + (row - low) * size;
            a[row] = numbers + places[1 + row];
        }
        if (high > low)
            at += whole_pages(row_bytes * (high - low) + 1);
    }
}

int main(int argc, char **argv)
{
    o = parse_options(&gauss, argc, argv);
    size = o.size;
    a = allocated(calloc(size, sizeof *a));
    allocate_bands();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        a[size / 2][size / 3] += 1;
    begin_check();
    uint64_t wrong = wrong_rows(1) + wrong_rows(2);
    int status = verdict(&gauss, wrong, checksum());
    free(a[0]);
    free((void *)(uintptr_t)places);
    free(a);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
