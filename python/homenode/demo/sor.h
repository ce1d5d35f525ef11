/* What sorbyr and sorbyc share: all but the order in which a thread updates its points.
 *
 * Successive over-relaxation of Laplace's equation on a square plate whose edge keeps its
 * temperature. The points are coloured like a chess board; a half-sweep updates those of one
 * colour from their four neighbours, which have the other, so that no update depends on another
 * one of the same half-sweep and the result does not depend on the number of threads.
 *
 * Each row is an allocation of its own, on a page of its own (thesis, section 2.2.6); adjacent rows
 * form a band, one a thread. A thread writes only its band and reads one row beyond either side.
 */
#ifndef SOR_H
#define SOR_H

#include "workload.h"

static struct options o;
static unsigned size;
static double **plate; /* the rows */

/* Over-relaxation factor; any number between 1 and 2 converges. */
static const double omega = 1.5;

/* The including program updates the points of one colour in the rows from `low` to `high` - 1. */
static void sweep(unsigned colour, unsigned low, unsigned high);

/* Initial temperature: random on the edge, 0 within. */
static UNRECORDED double input(unsigned row, unsigned col)
{
    bool edge = row == 0 || col == 0 || row + 1 == size || col + 1 == size;
    return edge ? (double)(random_at(o.seed, (uint64_t)row * size + col) >> 40) / 167772.16 : 0;
}

/* First inner column of a row whose points have this colour. */
static inline unsigned first_column(unsigned colour, unsigned row)
{
    return 1 + ((row + 1 + colour) & 1);
}

/* Updates one point. */
static inline void relax(unsigned row, unsigned col)
{
    double sum = plate[row - 1][col] + plate[row + 1][col]
                 + plate[row][col - 1] + plate[row][col + 1];
    plate[row][col] += omega * (sum / 4 - plate[row][col]);
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    for (unsigned row = low; row < high; row++)
        for (unsigned col = 0; col < size; col++)
            plate[row][col] = input(row, col);
    meet();
    if (id == 0)
        homenode_init_done();
    low = low > 1 ? low : 1;
    high = high < size - 1 ? high : size - 1;
    for (unsigned half = 0; half < 2 * o.iterations; half++) {
        if (id == 0)
            homenode_phase(half + 1);
        sweep(half & 1, low, high);
        meet();
    }
}

/* The same computation by one thread, without row pointers; counts the points that differ. */
static UNRECORDED uint64_t wrong_points(void)
{
    double *again = allocated(calloc((size_t)size * size, sizeof *again));
    uint64_t wrong = 0;
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++)
            again[(size_t)row * size + col] = input(row, col);
    for (unsigned half = 0; half < 2 * o.iterations; half++)
        for (unsigned row = 1; row + 1 < size; row++)
            for (unsigned col = 1; col + 1 < size; col++) {
                double *at = &again[(size_t)row * size + col];
                if (((row + col) & 1) == (half & 1))
                    *at += omega * ((at[-(ptrdiff_t)size] + at[size] + at[-1] + at[1]) / 4 - *at);
            }
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++) {
            double difference = plate[row][col] - again[(size_t)row * size + col];
            /* Compilers may fuse multiply and add differently here and there. */
            wrong += !(difference < 1e-9 && difference > -1e-9);
        }
    free(again);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++) {
            union { double value; uint64_t bits; } point = {.value = plate[row][col]};
            sum = mix(sum, point.bits);
        }
    return sum;
}

static int run(const struct workload *w, int argc, char **argv)
{
    o = parse_options(w, argc, argv);
    size = o.size;
    plate = allocated(calloc(size, sizeof *plate));
    for (unsigned row = 0; row < size; row++) {
        /* Asking for less than a page lets the next row follow on the next page. */
        void *memory = NULL;
        must(posix_memalign(&memory, PAGE_BYTES, size * sizeof(double)), "posix_memalign");
        plate[row] = memory;
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        plate[size / 2][size / 3] += 0.001;
    begin_check();
    int status = verdict(w, wrong_points(), checksum());
    for (unsigned row = 0; row < size; row++)
        free(plate[row]);
    free(plate);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}

#endif
