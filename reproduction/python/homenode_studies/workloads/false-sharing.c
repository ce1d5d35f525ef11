/* false-sharing: every thread counts for itself, in memory next to the others'.
 *
 * Thread i draws SIZE random numbers and counts how many have their lowest bit set, in counter i;
 * or, with `--counters K`, in K counters by turns, each beside the same one of the other threads.
 *
 * Sharing: no word is used by two threads. But the counters are adjacent, eight bytes each, so one
 * cache line holds those of eight threads and is written by all of them. With `--padded` they are
 * 128 bytes apart (a line, and the line that many processors fetch with it), and blocks up to that
 * size are private.
 *
 * Source: what Bolosky's thesis, chapter 7, finds to be the main reason for the cost of large
 * blocks, reduced to its core; own code.
 */
#include "workload.h"

#include <stdalign.h>

static const struct workload false_sharing = {
    .name = "false-sharing",
    .summary = "Counters of each thread's own, in adjacent words",
    .size_help = "numbers each thread draws",
    .size_default = 200000, .size_quick = 1000, .size_min = 1, .size_max = 2000000000,
    .flag = "--padded", .flag_help = "keep the counters 128 bytes apart",
    .parameters = {{"--counters", "counters of each thread", 1, 1, 64}},
};

/* Volatile: a counter in a register would share nothing. */
struct adjacent {
    volatile uint64_t count;
};
struct padded {
    alignas(128) volatile uint64_t count;
};

enum { COUNTERS_MAX = 64 * THREADS_MAX };

static alignas(PAGE_BYTES) struct adjacent adjacent_counters[COUNTERS_MAX];
static alignas(PAGE_BYTES) struct padded padded_counters[COUNTERS_MAX];
static struct options o;

/* Counter `turn` of a thread, modulo how many there are; those of all threads are side by side. */
static volatile uint64_t *counter_of(unsigned id, unsigned turn)
{
    size_t at = (size_t)(turn % o.values[0]) * o.threads + id;
    return o.flag ? &padded_counters[at].count : &adjacent_counters[at].count;
}

static UNRECORDED bool counts(unsigned id, unsigned draw)
{
    return random_at(o.seed, (uint64_t)id << 32 | draw) & 1;
}

static void work(unsigned id)
{
    for (unsigned k = 0; k < o.values[0]; k++)
        *counter_of(id, k) = 0;
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned draw = 0; draw < o.size; draw++)
        *counter_of(id, draw) += counts(id, draw);
}

static UNRECORDED uint64_t wrong_counters(void)
{
    uint64_t wrong = 0;
    for (unsigned id = 0; id < o.threads; id++)
        for (unsigned k = 0; k < o.values[0]; k++) {
            uint64_t expected = 0;
            for (uint64_t draw = k; draw < o.size; draw += o.values[0])
                expected += counts(id, (unsigned)draw);
            wrong += expected != *counter_of(id, k);
        }
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned id = 0; id < o.threads; id++)
        for (unsigned k = 0; k < o.values[0]; k++)
            sum = mix(sum, *counter_of(id, k));
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&false_sharing, argc, argv);
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ++*counter_of(o.threads / 2, 0);
    begin_check();
    int status = verdict(&false_sharing, wrong_counters(), checksum());
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
