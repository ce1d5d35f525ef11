/* read-mostly: objects that all threads read at random and that change now and then.
 *
 * In each of `-i` rounds the threads together make `--reads` (256) readings of objects chosen at
 * random, meet, and then change `--writes` (2) objects chosen at random, each by the thread whose
 * turn it is; and meet again.
 *
 * Sharing: read-mostly. Every object is read by all threads, most of them many times before it
 * changes, and the writer is a different one each time. Copies everywhere are right until a write
 * invalidates or updates them all: that is what this program prices, by the ratio of `--reads` to
 * `--writes`. With `--writes 0` nothing changes after initialisation.
 *
 * Source: the pattern as it is commonly named; the tables of speech and of fft's roots, and the
 * tree of barnes, are read this way. Ours: own code.
 */
#include "pattern.h"

enum { BYTES, READS, WRITES };

static const struct workload read_mostly = {
    .name = "read-mostly",
    .summary = "Objects that all threads read and that change now and then",
    .size_help = "objects",
    .size_default = 1024, .size_quick = 64, .size_min = 1, .size_max = 1000000,
    .iterations_default = 200, .iterations_quick = 8,
    .flag = "--padded", .flag_help = "keep the objects in lines of 128 bytes of their own",
    .parameters = {{"--bytes", "size of an object", 64, 8, 65536},
                   {"--reads", "readings in a round", 256, 0, 1000000},
                   {"--writes", "changes in a round", 2, 0, 1000000}},
};

static struct options o;
static struct objects objects;
static uint64_t *sums; /* of what each thread has read */

/* The object that is read, or changed, as number `turn` of a round. */
static UNRECORDED unsigned chosen(unsigned round, unsigned turn, bool change)
{
    uint64_t at = (uint64_t)round << 32 | (uint64_t)change << 31 | turn;
    return (unsigned)(random_at(o.seed, at) % o.size);
}

static UNRECORDED uint64_t content(unsigned number, unsigned round)
{
    return random_at(o.seed + 1, (uint64_t)round << 32 | number);
}

static void write_object(unsigned number, unsigned round)
{
    uint64_t start = content(number, round);
    for (unsigned word = 0; word < objects.words; word++)
        object_at(&objects, number)[word] = start + word;
}

static uint64_t read_object(unsigned number)
{
    uint64_t sum = 0;
    for (unsigned word = 0; word < objects.words; word++)
        sum += object_at(&objects, number)[word];
    return sum;
}

/* Gives the sum of all that this thread reads. */
static uint64_t run_round(unsigned id, unsigned round)
{
    uint64_t sum = 0;
    unsigned end = first_of(id + 1, o.threads, o.values[READS]);
    for (unsigned turn = first_of(id, o.threads, o.values[READS]); turn < end; turn++)
        sum += read_object(chosen(round, turn, false));
    meet();
    /* An object chosen twice is written by one thread, or two would write it at once. */
    for (unsigned turn = 0; turn < o.values[WRITES]; turn++) {
        unsigned number = chosen(round, turn, true);
        if ((number + round) % o.threads == id)
            write_object(number, round);
    }
    meet();
    return sum;
}

static void work(unsigned id)
{
    unsigned end = first_of(id + 1, o.threads, o.size);
    for (unsigned number = first_of(id, o.threads, o.size); number < end; number++)
        write_object(number, 0);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    meet();
    uint64_t sum = 0;
    for (unsigned round = 1; round <= o.iterations; round++)
        sum += run_round(id, round);
    sums[id] = sum;
}

/* The same by one thread; gives the number of wrong words, and the sum of what is read. */
static UNRECORDED uint64_t wrong_words(uint64_t *total)
{
    uint64_t wrong = 0, words = objects.words;
    unsigned *changed = allocated(calloc(o.size, sizeof *changed)); /* in which round */
    for (unsigned round = 1; round <= o.iterations; round++) {
        for (unsigned turn = 0; turn < o.values[READS]; turn++) {
            unsigned number = chosen(round, turn, false);
            *total -= words * content(number, changed[number]) + words * (words - 1) / 2;
        }
        for (unsigned turn = 0; turn < o.values[WRITES]; turn++)
            changed[chosen(round, turn, true)] = round;
    }
    for (unsigned number = 0; number < o.size; number++)
        for (unsigned word = 0; word < words; word++)
            wrong += object_at(&objects, number)[word] != content(number, changed[number]) + word;
    free(changed);
    return wrong + (*total != 0);
}

int main(int argc, char **argv)
{
    o = parse_options(&read_mostly, argc, argv);
    objects = make_objects(o.size, o.values[BYTES], o.flag);
    sums = allocated(calloc(o.threads, sizeof *sums));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ++*object_at(&objects, o.size / 2);
    begin_check();
    uint64_t total = 0;
    for (unsigned id = 0; id < o.threads; id++)
        total += sums[id];
    uint64_t checksum = mix(checksum_of_objects(&objects), total);
    int status = verdict(&read_mostly, wrong_words(&total), checksum);
    free(sums);
    free((void *)objects.memory);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
