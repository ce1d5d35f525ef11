/* work-queue: tasks from a queue in shared memory, each about an object.
 *
 * At first the queue holds one task for each object. A thread that is free takes a task, passes
 * `--passes` (4) times over the object's words, adding to each, and puts the object's next task
 * into the queue, until it has had `-i` of them. Who waits for a task sleeps.
 *
 * Sharing: the queue, its ends and the tasks in it, is read and written by all threads all the
 * time, under one lock. An object is used by a free thread: one at a time, but no thread
 * more likely than another, as in p-qsort, chip and cholesky. With `--lifo` the task put last is
 * taken first, so an object mostly stays with its thread and some wait for long. Objects are of
 * `--bytes` (256), adjacent.
 *
 * Source: work queues of Bolosky's thesis, sections 2.2.5, 2.2.9 and 2.2.12, reduced to their
 * core; own code.
 */
#include "pattern.h"

enum { BYTES, PASSES };

static const struct workload work_queue = {
    .name = "work-queue",
    .summary = "Tasks from a queue in shared memory, each about an object",
    .size_help = "objects",
    .size_default = 256, .size_quick = 24, .size_min = 1, .size_max = 1000000,
    .iterations_default = 32, .iterations_quick = 6,
    .flag = "--lifo", .flag_help = "take the task that was put last",
    .parameters = {{"--bytes", "size of an object", 256, 8, 65536},
                   {"--passes", "passes over an object in a task", 4, 1, 1000}},
};

struct task {
    unsigned object;
    unsigned generation; /* from 1 */
};

static struct options o;
static struct objects objects;

/* Tasks in a ring, which has room for all there can be at a time: one for each object. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct task *ring;
    unsigned first, count;
    unsigned unfinished; /* objects that have not had their last task */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static UNRECORDED uint64_t amount(unsigned object, unsigned generation)
{
    return random_at(o.seed, (uint64_t)generation << 32 | object);
}

static void put_task(unsigned object, unsigned generation)
{
    must(pthread_mutex_lock(&queue.lock), "pthread_mutex_lock");
    if (generation > o.iterations) {
        queue.unfinished--;
        if (queue.unfinished == 0)
            must(pthread_cond_broadcast(&queue.changed), "pthread_cond_broadcast");
    } else {
        unsigned at = (queue.first + queue.count++) % o.size;
        queue.ring[at].object = object;
        queue.ring[at].generation = generation;
        must(pthread_cond_signal(&queue.changed), "pthread_cond_signal");
    }
    must(pthread_mutex_unlock(&queue.lock), "pthread_mutex_unlock");
}

/* Takes a task, or gives false when there will be none any more. */
static bool take_task(unsigned *object, unsigned *generation)
{
    must(pthread_mutex_lock(&queue.lock), "pthread_mutex_lock");
    while (queue.count == 0 && queue.unfinished > 0)
        must(pthread_cond_wait(&queue.changed, &queue.lock), "pthread_cond_wait");
    bool some = queue.count > 0;
    if (some) {
        unsigned at = o.flag ? (queue.first + queue.count - 1) % o.size : queue.first;
        *object = queue.ring[at].object;
        *generation = queue.ring[at].generation;
        queue.count--;
        if (!o.flag)
            queue.first = (queue.first + 1) % o.size;
    }
    must(pthread_mutex_unlock(&queue.lock), "pthread_mutex_unlock");
    return some;
}

static void work(unsigned id)
{
    clear_band(&objects, id, o.threads);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
        for (unsigned object = 0; object < o.size; object++)
            put_task(object, 1);
    }
    unsigned object, generation;
    while (take_task(&object, &generation)) {
        volatile uint64_t *words = object_at(&objects, object);
        uint64_t more = amount(object, generation);
        for (unsigned pass = 0; pass < o.values[PASSES]; pass++)
            for (unsigned word = 0; word < objects.words; word++)
                words[word] += more + word;
        put_task(object, generation + 1);
    }
}

static UNRECORDED uint64_t wrong_words(void)
{
    uint64_t wrong = 0, passes = o.values[PASSES];
    for (unsigned object = 0; object < o.size; object++) {
        uint64_t sum = 0;
        for (unsigned generation = 1; generation <= o.iterations; generation++)
            sum += passes * amount(object, generation);
        for (unsigned word = 0; word < objects.words; word++)
            wrong += object_at(&objects, object)[word] != sum + passes * o.iterations * word;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    o = parse_options(&work_queue, argc, argv);
    objects = make_objects(o.size, o.values[BYTES], false);
    queue.ring = allocated(calloc(o.size, sizeof *queue.ring));
    queue.unfinished = o.size;
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ++*object_at(&objects, o.size / 2);
    begin_check();
    int status = verdict(&work_queue, wrong_words(), checksum_of_objects(&objects));
    free(queue.ring);
    free((void *)objects.memory);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
