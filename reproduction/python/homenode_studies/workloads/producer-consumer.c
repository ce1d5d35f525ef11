/* producer-consumer: objects that one thread writes and others read, over and over.
 *
 * Object k has a producer, thread k mod THREADS, and `--readers` (1) consumers, the threads that
 * follow it. In each of `-i` rounds the producer waits until all its consumers have read what the
 * object holds, writes new random numbers into all its words, and says so; each consumer waits
 * for that and adds up what it reads.
 *
 * Sharing: producer and consumers. The writer of an object is always the same thread, and so are
 * its readers. No thread reads what it wrote itself, unless there are fewer threads than consumers
 * and a producer. Where the objects are, as in migratory: `--bytes` (64) each, adjacent, or with
 * `--padded` in lines of 128 bytes of their own; neighbours have different producers.
 *
 * Source: the pattern as it is commonly named; the pairs of threads that share the edges of bands
 * in sor and mgrid have it (Marchetti et al., section 4.1). Ours: own code.
 */
#include "pattern.h"

enum { BYTES, READERS };

static const struct workload producer_consumer = {
    .name = "producer-consumer",
    .summary = "Objects that one thread writes and others read, over and over",
    .size_help = "objects",
    .size_default = 256, .size_quick = 16, .size_min = 1, .size_max = 1000000,
    .iterations_default = 100, .iterations_quick = 12,
    .flag = "--padded", .flag_help = "keep the objects in lines of 128 bytes of their own",
    .parameters = {{"--bytes", "size of an object", 64, 8, 65536},
                   {"--readers", "consumers of an object", 1, 1, 64}},
};

/* Whose turn it is with an object. */
struct turn {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned round;     /* whose numbers the object holds; 0: none yet */
    unsigned unread;    /* consumers that have still to read them */
};

static struct options o;
static struct objects objects;
static struct turn *turns;
static uint64_t *sums; /* of what each thread has read */

static UNRECORDED uint64_t content(unsigned number, unsigned round)
{
    return random_at(o.seed, (uint64_t)round << 32 | number);
}

static void produce(unsigned number, unsigned round)
{
    struct turn *turn = &turns[number];
    volatile uint64_t *object = object_at(&objects, number);
    must(pthread_mutex_lock(&turn->lock), "pthread_mutex_lock");
    while (turn->unread)
        must(pthread_cond_wait(&turn->changed, &turn->lock), "pthread_cond_wait");
    must(pthread_mutex_unlock(&turn->lock), "pthread_mutex_unlock");
    uint64_t start = content(number, round);
    for (unsigned word = 0; word < objects.words; word++)
        object[word] = start + word;
    must(pthread_mutex_lock(&turn->lock), "pthread_mutex_lock");
    turn->round = round;
    turn->unread = o.values[READERS];
    must(pthread_cond_broadcast(&turn->changed), "pthread_cond_broadcast");
    must(pthread_mutex_unlock(&turn->lock), "pthread_mutex_unlock");
}

static uint64_t consume(unsigned number, unsigned round)
{
    struct turn *turn = &turns[number];
    const volatile uint64_t *object = object_at(&objects, number);
    must(pthread_mutex_lock(&turn->lock), "pthread_mutex_lock");
    while (turn->round != round)
        must(pthread_cond_wait(&turn->changed, &turn->lock), "pthread_cond_wait");
    must(pthread_mutex_unlock(&turn->lock), "pthread_mutex_unlock");
    uint64_t sum = 0;
    for (unsigned word = 0; word < objects.words; word++)
        sum += object[word];
    must(pthread_mutex_lock(&turn->lock), "pthread_mutex_lock");
    turn->unread--;
    must(pthread_cond_broadcast(&turn->changed), "pthread_cond_broadcast");
    must(pthread_mutex_unlock(&turn->lock), "pthread_mutex_unlock");
    return sum;
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
    uint64_t sum = 0;
    for (unsigned round = 1; round <= o.iterations; round++) {
        for (unsigned number = id; number < o.size; number += o.threads)
            produce(number, round);
        for (unsigned reader = 0; reader < o.values[READERS]; reader++) {
            unsigned producer = (id + o.threads - (reader + 1) % o.threads) % o.threads;
            for (unsigned number = producer; number < o.size; number += o.threads)
                sum += consume(number, round);
        }
    }
    sums[id] = sum;
}

/* Words that are not what was written last, and one more if other numbers were read. */
static UNRECORDED uint64_t wrong_words(uint64_t total)
{
    uint64_t wrong = 0, words = objects.words;
    for (unsigned number = 0; number < o.size; number++) {
        for (unsigned round = 1; round <= o.iterations; round++)
            total -= o.values[READERS]
                     * (words * content(number, round) + words * (words - 1) / 2);
        for (unsigned word = 0; word < words; word++)
            wrong += object_at(&objects, number)[word] != content(number, o.iterations) + word;
    }
    return wrong + (total != 0);
}

int main(int argc, char **argv)
{
    o = parse_options(&producer_consumer, argc, argv);
    objects = make_objects(o.size, o.values[BYTES], o.flag);
    turns = allocated(calloc(o.size, sizeof *turns));
    sums = allocated(calloc(o.threads, sizeof *sums));
    for (unsigned number = 0; number < o.size; number++) {
        must(pthread_mutex_init(&turns[number].lock, NULL), "pthread_mutex_init");
        must(pthread_cond_init(&turns[number].changed, NULL), "pthread_cond_init");
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ++*object_at(&objects, o.size / 2);
    begin_check();
    uint64_t total = 0;
    for (unsigned id = 0; id < o.threads; id++)
        total += sums[id];
    uint64_t checksum = mix(checksum_of_objects(&objects), total);
    int status = verdict(&producer_consumer, wrong_words(total), checksum);
    for (unsigned number = 0; number < o.size; number++) {
        must(pthread_cond_destroy(&turns[number].changed), "pthread_cond_destroy");
        must(pthread_mutex_destroy(&turns[number].lock), "pthread_mutex_destroy");
    }
    free(sums);
    free(turns);
    free((void *)objects.memory);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
