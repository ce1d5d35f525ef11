/* p-qsort: quicksort, a thread for each part.
 *
 * Sorts 4-byte integers. A thread partitions its segment of the array about a pivot and forks a
 * thread for either part, or, of ten elements or fewer, bubble sorts that part itself.
 *
 * Sharing: which processor sorts which segment is as good as random, and adjacent segments are
 * sorted by different ones at the same time. Segments are the true unit of communication; a block
 * larger than ten words holds several, so large blocks are falsely shared from end to end. Threads
 * and their stacks (presto.h) move as well.
 *
 * Source: Bolosky's thesis, section 2.2.12 (a Presto program, written at Rice University): 20,000
 * integers, bubble sort at ten, 2000 threads, no attention to locality. Ours: own code.
 */
#include "presto.h"

static const struct workload p_qsort = {
    .name = "p-qsort",
    .summary = "Quicksort of 4-byte integers, a thread for each part, no locality",
    .size_help = "integers",
    .size_default = 20000, .size_quick = 400, .size_min = 1, .size_max = 100000000,
};

enum { BUBBLE_MAX = 10 };

static struct options o;
static uint32_t *values;

static void swap(unsigned i, unsigned j)
{
    uint32_t value = values[i];
    values[i] = values[j];
    values[j] = value;
}

static void bubble_sort(unsigned low, unsigned high)
{
    for (unsigned end = high; end > low + 1; end--)
        for (unsigned i = low; i + 1 < end; i++)
            if (values[i] > values[i + 1])
                swap(i, i + 1);
}

/* Puts the middle element where it belongs, smaller ones before it; gives its place. */
static unsigned partition(unsigned low, unsigned high)
{
    swap(low + (high - low) / 2, high - 1);
    uint32_t pivot = values[high - 1];
    unsigned place = low;
    for (unsigned i = low; i + 1 < high; i++)
        if (values[i] < pivot)
            swap(i, place++);
    swap(place, high - 1);
    return place;
}

static void sort(unsigned low, unsigned high);

/* Sorts a part, in a thread of its own if it is large. */
static void sort_part(unsigned low, unsigned high)
{
    if (high - low > BUBBLE_MAX)
        fork_thread(sort, low, high);
    else
        bubble_sort(low, high);
}

/* What a thread does: elements low .. high - 1. */
static void sort(unsigned low, unsigned high)
{
    unsigned place = partition(low, high);
    sort_part(low, place);
    sort_part(place + 1, high);
}

static void work(unsigned id)
{
    struct processor *processor = start_processor(id);
    meet(); /* or the first thread would have sorted much before the last one exists */
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
        sort_part(0, o.size);
        join_threads(processor);
        end_threads();
    } else {
        serve_threads(processor);
    }
}

static UNRECORDED uint32_t input(unsigned i)
{
    return (uint32_t)random_at(o.seed, i);
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
        wrong += expected[i] != values[i];
    free(expected);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned i = 0; i < o.size; i++)
        sum = mix(sum, values[i]);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&p_qsort, argc, argv);
    values = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *values)));
    for (unsigned i = 0; i < o.size; i++)
        values[i] = input(i);
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        values[o.size / 2]++;
    begin_check();
    int status = verdict(&p_qsort, wrong_elements(), checksum());
    free(values);
    release_threads();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
