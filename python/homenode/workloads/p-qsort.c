/* p-qsort: quicksort from a shared queue of tasks.
 *
 * Sorts 4-byte integers. A task is a segment of the array: it is partitioned about a pivot and both
 * parts become tasks, or, with ten elements or fewer, it is bubble sorted. Tasks go through one
 * first-in-first-out queue from which the threads take whatever is next.
 *
 * Sharing: which thread sorts which segment is as good as random, and adjacent segments are sorted
 * by different threads at the same time. Segments are the true unit of communication; a block
 * larger than ten words holds several, so large blocks are falsely shared from end to end.
 *
 * Source: Bolosky's thesis, section 2.2.12 (a Presto program, written at Rice University): 20,000
 * integers, bubble sort at ten, no attention to locality. Ours: own code; Presto made a thread of
 * each task (2000), here as many tasks are served by `-p` threads.
 */
#include "workload.h"

static const struct workload p_qsort = {
    .name = "p-qsort",
    .summary = "Quicksort of 4-byte integers, tasks from a shared queue, no locality",
    .size_help = "integers",
    .size_default = 20000, .size_quick = 1000, .size_min = 1, .size_max = 100000000,
};

enum { BUBBLE_MAX = 10 };

struct segment {
    unsigned low, high; /* elements low .. high - 1 */
};

static struct options o;
static uint32_t *values;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct segment *queue; /* a ring of `size` places: segments are disjoint and not empty */
static unsigned queue_first, queue_count;
static unsigned unsorted; /* elements that are not yet where they belong */

/* Called with the lock held. */
static void put(unsigned low, unsigned high)
{
    if (low == high)
        return;
    unsigned at = (queue_first + queue_count) % o.size;
    queue[at] = (struct segment){.low = low, .high = high};
    queue_count++;
    pthread_cond_signal(&changed);
}

/* The next task, or false when everything is sorted. */
static bool take(struct segment *task)
{
    pthread_mutex_lock(&lock);
    while (queue_count == 0 && unsorted > 0)
        pthread_cond_wait(&changed, &lock);
    bool found = queue_count > 0;
    if (found) {
        *task = queue[queue_first];
        queue_first = (queue_first + 1) % o.size;
        queue_count--;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* `sorted` elements are in their final places. */
static void done(unsigned sorted)
{
    unsorted -= sorted;
    if (unsorted == 0)
        pthread_cond_broadcast(&changed);
}

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

static void work(unsigned id)
{
    struct segment task;
    meet(); /* or the first thread would have sorted much before the last one exists */
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    while (take(&task)) {
        bool small = task.high - task.low <= BUBBLE_MAX;
        unsigned place = 0;
        if (small)
            bubble_sort(task.low, task.high);
        else
            place = partition(task.low, task.high);
        pthread_mutex_lock(&lock);
        if (!small) {
            put(task.low, place);
            put(place + 1, task.high);
        }
        done(small ? task.high - task.low : 1);
        pthread_mutex_unlock(&lock);
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
    queue = allocated(calloc(o.size, sizeof *queue));
    for (unsigned i = 0; i < o.size; i++)
        values[i] = input(i);
    unsorted = o.size;
    put(0, o.size);
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        values[o.size / 2]++;
    begin_check();
    int status = verdict(&p_qsort, wrong_elements(), checksum());
    free(values);
    free(queue);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
