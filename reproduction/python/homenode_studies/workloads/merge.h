/* What bsort and kmerge share: all but who merges what.
 *
 * An array is divided into one piece a thread, which that thread sorts by heapsort. In each phase
 * after that, two neighbouring runs are merged into one, from the array that holds them into the
 * other; after the last phase there is one run.
 *
 * Pieces are whole pages long, but the arrays begin behind the header of an allocation. So the last
 * words of a piece lie on the page on which the next one begins, and that page, with the top of the
 * heap, has most of the references of the next thread. This one's are few, but a policy that pins a
 * page after a few invalidations pins it.
 */
#ifndef MERGE_H
#define MERGE_H

#include "workload.h"

enum { HEADER_WORDS = 2 };

static struct options o;
static uint32_t *memory[2], *arrays[2]; /* of each, from the header on */

/* Elements low .. high - 1. */
struct run {
    unsigned low, high;
};

/* The run that begins with the piece of thread `id` and holds those of `count` threads; what would
 * belong to threads that do not exist is empty. */
static inline struct run run_of(unsigned id, unsigned count)
{
    unsigned first = id < o.threads ? id : o.threads;
    unsigned end = o.threads - first < count ? o.threads : first + count;
    return (struct run){first_of(first, o.threads, o.size), first_of(end, o.threads, o.size)};
}

/* The including program has thread `id` do its part of merging runs of `reach` pieces. */
static void merge_runs(unsigned id, unsigned reach, const uint32_t *from, uint32_t *to);

static UNRECORDED uint32_t input(unsigned index)
{
    return (uint32_t)random_at(o.seed, index);
}

/* Merges two sorted sequences. */
static void merge(const uint32_t *left, const uint32_t *left_end, const uint32_t *right,
                  const uint32_t *right_end, uint32_t *to)
{
    while (left < left_end && right < right_end)
        *to++ = *left <= *right ? *left++ : *right++;
    while (left < left_end)
        *to++ = *left++;
    while (right < right_end)
        *to++ = *right++;
}

/* Lets the element at `hole` sink to its place in the heap of `size` elements, which changes places
 * with the greater child at each level. Volatile, because a compiler of today would keep it in a
 * register on its way, with half of the references. */
static void sink(volatile uint32_t *heap, unsigned hole, unsigned size)
{
    for (unsigned child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
        uint32_t greater = heap[child], other = child + 1 < size ? heap[child + 1] : 0;
        if (other > greater) {
            greater = other;
            child++;
        }
        uint32_t value = heap[hole];
        if (greater <= value)
            break;
        heap[hole] = greater;
        heap[child] = value;
        hole = child;
    }
}

static void heapsort_piece(uint32_t *values, unsigned size)
{
    for (unsigned root = size / 2; root-- > 0;)
        sink(values, root, size);
    for (unsigned last = size; last-- > 1;) {
        uint32_t greatest = values[0];
        values[0] = values[last];
        values[last] = greatest;
        sink(values, 0, last);
    }
}

static void work(unsigned id)
{
    struct run own = run_of(id, 1);
    for (unsigned i = own.low; i < own.high; i++)
        arrays[0][i] = input(i);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    heapsort_piece(arrays[0] + own.low, own.high - own.low);
    meet();
    unsigned phase = 0;
    for (unsigned reach = 1; reach < o.threads; reach *= 2) {
        if (id == 0)
            homenode_phase(phase + 2);
        merge_runs(id, reach, arrays[phase % 2], arrays[(phase + 1) % 2]);
        meet();
        phase++;
    }
}

/* The array that holds the result. */
static UNRECORDED uint32_t *result(void)
{
    unsigned phases = 0;
    for (unsigned reach = 1; reach < o.threads; reach *= 2)
        phases++;
    return arrays[phases % 2];
}

static UNRECORDED int compare(const void *left, const void *right)
{
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    return (x > y) - (x < y);
}

/* Sorts the input again with the library; counts the elements that differ. */
static UNRECORDED uint64_t wrong_elements(void)
{
    uint32_t *expected = allocated(malloc(o.size * sizeof *expected));
    uint64_t wrong = 0;
    for (unsigned i = 0; i < o.size; i++)
        expected[i] = input(i);
    qsort(expected, o.size, sizeof *expected, compare);
    for (unsigned i = 0; i < o.size; i++)
        wrong += expected[i] != result()[i];
    free(expected);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned i = 0; i < o.size; i++)
        sum = mix(sum, result()[i]);
    return sum;
}

static int run(const struct workload *w, int argc, char **argv)
{
    o = parse_options(w, argc, argv);
    size_t bytes = whole_pages((HEADER_WORDS + o.size) * sizeof(uint32_t));
    for (unsigned k = 0; k < 2; k++) {
        memory[k] = allocated(aligned_alloc(PAGE_BYTES, bytes));
        arrays[k] = memory[k] + HEADER_WORDS;
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        result()[o.size / 2]++;
    begin_check();
    int status = verdict(w, wrong_elements(), checksum());
    free(memory[0]);
    free(memory[1]);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}

#endif
