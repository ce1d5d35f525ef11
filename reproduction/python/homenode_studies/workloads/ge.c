/* ge: Gaussian elimination of a matrix of doubles, the rows that are left divided anew each step.
 *
 * Computes the factors L and U of a square matrix with a heavy diagonal, in place and without
 * pivoting.
 *
 * Sharing: in step k all threads read row k, the pivot row, which is not written again: one writer,
 * then as many readers as there are threads, all at the same time. The rows below it are divided
 * among all threads again in each step, a band of adjacent rows to each, so a row passes from
 * thread to thread, mostly from one to the next higher, and none is idle before the end. The thread
 * that touched a page first has nothing to do with it later, and the work draws together on the
 * pages of the last rows. With `--cyclic` row i belongs to thread i mod THREADS for good: only
 * pivot rows move. A barrier ends each step, and is all the synchronisation there is. With
 * `--flags 1` there is none: a thread waits for the pivot row and for rows that it takes over, each
 * of which has a count of its steps under a lock, so threads read a pivot row one after the other.
 *
 * Source: Talbot and Kelly, section 1.4 and table 1.3 (GE, 512 by 512, after the program of
 * Bianchini and LeBlanc's study of eager combining): widely shared pivot rows, and responsibility
 * for rows that shifts during execution. Ours: own code; the paper does not say how it shifts.
 */
#include "workload.h"

#include <math.h>
#include <stdalign.h>

static const struct workload ge = {
    .name = "ge",
    .summary = "Gaussian elimination of a matrix of doubles, remaining rows divided anew each step",
    .size_help = "rows and columns",
    .size_default = 256, .size_quick = 48, .size_min = 2, .size_max = 8192,
    .flag = "--cyclic", .flag_help = "row i belongs to thread i mod THREADS all the time",
    .parameters = {{"--flags", "1: wait for single rows, not for all threads", 0, 0, 1}},
};

/* How far a row is, in a block of its own. */
struct progress {
    alignas(128) pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned steps; /* pivot rows that have been subtracted */
};

static struct options o;
static size_t size;
static double *matrix; /* row after row */
static bool flags;
static struct progress *progress; /* of each row, if there are flags */

ALLOCATES double *new_matrix(size_t bytes)
{
    double *elements = allocated(aligned_alloc(PAGE_BYTES, bytes));
    return elements;
}

static double *row_at(size_t row)
{
    return matrix + row * size;
}

/* Element of the input, between -1 and 1; the diagonal outweighs the rest of its row. */
static UNRECORDED double input(size_t row, size_t col)
{
    double value = (double)(random_at(o.seed, row * size + col) >> 40) / 8388608 - 1;
    return row == col ? value + (double)size : value;
}

static void eliminate(const double *pivot_row, double *row, size_t pivot)
{
    double factor = row[pivot] / pivot_row[pivot];
    row[pivot] = factor;
    for (size_t col = pivot + 1; col < size; col++)
        row[col] -= pivot_row[col] * factor;
}

/* First row of a thread's band among the rows from `start` on. */
static unsigned band(unsigned id, unsigned start)
{
    return start + first_of(id, o.threads, o.size - start);
}

static void await(unsigned row, unsigned steps)
{
    struct progress *p = &progress[row];
    must(pthread_mutex_lock(&p->lock), "pthread_mutex_lock");
    while (p->steps < steps)
        must(pthread_cond_wait(&p->changed, &p->lock), "pthread_cond_wait");
    must(pthread_mutex_unlock(&p->lock), "pthread_mutex_unlock");
}

static void advance(unsigned row)
{
    struct progress *p = &progress[row];
    must(pthread_mutex_lock(&p->lock), "pthread_mutex_lock");
    p->steps++;
    must(pthread_cond_broadcast(&p->changed), "pthread_cond_broadcast");
    must(pthread_mutex_unlock(&p->lock), "pthread_mutex_unlock");
}

/* Subtracts the pivot row from every `by`-th of the rows from `first` to `end`. */
static void eliminate_rows(unsigned pivot, unsigned first, unsigned end, unsigned by)
{
    if (flags && first < end)
        await(pivot, pivot);
    for (unsigned row = first; row < end; row += by) {
        /* Another thread may have had it in the step before, but not with --cyclic. */
        if (flags && !o.flag)
            await(row, pivot);
        eliminate(row_at(pivot), row_at(row), pivot);
        if (flags)
            advance(row);
    }
}

static void work(unsigned id)
{
    unsigned step_of_rows = o.flag ? o.threads : 1;
    for (unsigned row = o.flag ? id : band(id, 0); row < (o.flag ? o.size : band(id + 1, 0));
         row += step_of_rows)
        for (size_t col = 0; col < size; col++)
            row_at(row)[col] = input(row, col);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned pivot = 0; pivot + 1 < o.size; pivot++) {
        unsigned low = pivot + 1, first = band(id, low), end = band(id + 1, low);
        if (o.flag) {
            first = low + (id + o.threads - low % o.threads) % o.threads;
            end = o.size;
        }
        eliminate_rows(pivot, first, end, step_of_rows);
        if (!flags)
            meet();
    }
}

/* Compares A v with L (U v) for a random v without small elements; counts the rows that differ. */
static UNRECORDED uint64_t wrong_rows(void)
{
    double *v = allocated(calloc(2 * size, sizeof *v)), *uv = v + size;
    uint64_t wrong = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t bits = random_at(o.seed, size * size + i);
        v[i] = (1 + (double)(bits >> 40) / 16777216) * (bits & 1 ? 1 : -1);
    }
    for (size_t row = 0; row < size; row++)
        for (size_t col = row; col < size; col++)
            uv[row] += row_at(row)[col] * v[col];
    for (size_t row = 0; row < size; row++) {
        double expected = 0, found = uv[row];
        for (size_t col = 0; col < size; col++)
            expected += input(row, col) * v[col];
        for (size_t col = 0; col < row; col++)
            found += row_at(row)[col] * uv[col];
        wrong += !(fabs(expected - found) < 1e-12 * (double)size * (double)size);
    }
    free(v);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t k = 0; k < size * size; k++)
        sum = mix(sum, (uint64_t)(int64_t)floor(matrix[k] * 1048576 + 0.5));
    return sum;
}

static void make_progress(void)
{
    progress = allocated(aligned_alloc(alignof(struct progress), size * sizeof *progress));
    for (size_t row = 0; row < size; row++) {
        must(pthread_mutex_init(&progress[row].lock, NULL), "pthread_mutex_init");
        must(pthread_cond_init(&progress[row].changed, NULL), "pthread_cond_init");
        progress[row].steps = 0;
    }
}

static UNRECORDED void end_progress(void)
{
    for (size_t row = 0; flags && row < size; row++) {
        must(pthread_mutex_destroy(&progress[row].lock), "pthread_mutex_destroy");
        must(pthread_cond_destroy(&progress[row].changed), "pthread_cond_destroy");
    }
    free(progress);
}

int main(int argc, char **argv)
{
    o = parse_options(&ge, argc, argv);
    size = o.size;
    flags = o.values[0];
    if (flags)
        make_progress();
    matrix = new_matrix(whole_pages(size * size * sizeof *matrix));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        row_at(size / 2)[size / 3] += 0.001;
    begin_check();
    int status = verdict(&ge, wrong_rows(), checksum());
    end_progress();
    free(matrix);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
