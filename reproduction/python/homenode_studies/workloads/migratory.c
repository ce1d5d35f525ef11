/* migratory: objects that one thread after another reads and then writes.
 *
 * In each of `-i` rounds every object is visited once: a thread takes its lock, adds a random
 * number to each of its words, and lets the lock go. The visitor of object k in round r is thread
 * (k + r) mod THREADS, so an object goes from each thread to the next, round after round.
 *
 * Sharing: migratory. At any time one thread uses an object, reads before it writes, and is
 * followed by a different one; a copy for reading only is always followed by a request to write.
 * Objects of `--bytes` (64) are adjacent and aligned to a page; `--padded` keeps them in lines of
 * 128 bytes of their own, which matters when they are smaller than a block.
 *
 * Source: the pattern as it is commonly named; Marchetti et al.'s mp3d has it in
 * its cells, Talbot and Kelly's Water-Nsq in its sums of forces. Ours: own code.
 */
#include "pattern.h"

enum { BYTES };

static const struct workload migratory = {
    .name = "migratory",
    .summary = "Objects that one thread after another reads and writes",
    .size_help = "objects",
    .size_default = 256, .size_quick = 16, .size_min = 1, .size_max = 1000000,
    .iterations_default = 200, .iterations_quick = 24,
    .flag = "--padded", .flag_help = "keep the objects in lines of 128 bytes of their own",
    .parameters = {{"--bytes", "size of an object", 64, 8, 65536}},
};

static struct options o;
static struct objects objects;
static pthread_mutex_t *locks;

static UNRECORDED uint64_t amount(unsigned number, unsigned round)
{
    return random_at(o.seed, (uint64_t)round << 32 | number);
}

static void visit(unsigned number, unsigned round)
{
    volatile uint64_t *object = object_at(&objects, number);
    uint64_t more = amount(number, round);
    must(pthread_mutex_lock(&locks[number]), "pthread_mutex_lock");
    for (unsigned word = 0; word < objects.words; word++)
        object[word] += more + word;
    must(pthread_mutex_unlock(&locks[number]), "pthread_mutex_unlock");
}

static void work(unsigned id)
{
    clear_band(&objects, id, o.threads);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    meet();
    for (unsigned round = 0; round < o.iterations; round++) {
        unsigned first = (id + o.threads - round % o.threads) % o.threads;
        for (unsigned number = first; number < o.size; number += o.threads)
            visit(number, round);
    }
}

static UNRECORDED uint64_t wrong_words(void)
{
    uint64_t wrong = 0;
    for (unsigned number = 0; number < o.size; number++) {
        uint64_t sum = 0;
        for (unsigned round = 0; round < o.iterations; round++)
            sum += amount(number, round);
        for (unsigned word = 0; word < objects.words; word++)
            wrong += object_at(&objects, number)[word] != sum + (uint64_t)o.iterations * word;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    o = parse_options(&migratory, argc, argv);
    objects = make_objects(o.size, o.values[BYTES], o.flag);
    locks = allocated(calloc(o.size, sizeof *locks));
    for (unsigned number = 0; number < o.size; number++)
        must(pthread_mutex_init(&locks[number], NULL), "pthread_mutex_init");
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ++*object_at(&objects, o.size / 2);
    begin_check();
    int status = verdict(&migratory, wrong_words(), checksum_of_objects(&objects));
    for (unsigned number = 0; number < o.size; number++)
        must(pthread_mutex_destroy(&locks[number]), "pthread_mutex_destroy");
    free(locks);
    free((void *)objects.memory);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
