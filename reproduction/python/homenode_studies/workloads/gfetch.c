/* gfetch: fetches from shared memory and nothing else.
 *
 * Reads all of a shared array, again and again, and adds it up. Beforehand all threads have written
 * to every word of it in turn.
 *
 * Sharing: the array is written by all in turn, which moves every page from processor to processor
 * until a policy like the ACE's gives up and leaves it in global memory for good. From then on it
 * is only read, by all. So the ACE fetches everything from global memory, though copies would do.
 *
 * Source: Bolosky's thesis, section 3.2.2 (Gfetch): nothing but fetches from shared memory; a check
 * of the model by which the ACE's programs are judged (alpha is 0, beta is 1). Ours: own code; the
 * thesis does not say how its array comes to be global.
 */
#include "workload.h"

static const struct workload gfetch = {
    .name = "gfetch",
    .summary = "Fetches from a shared array, nothing else",
    .size_help = "words of 4 bytes",
    .size_default = 16384, .size_quick = 1024, .size_min = 1, .size_max = 100000000,
    .iterations_default = 60, .iterations_quick = 10,
};

/* Times that the array is written before it is read, by one thread after another; more than any
 * policy's limit of moves. */
enum { TURNS = 16 };

static struct options o;
static uint32_t *array;
static uint32_t *sums; /* of each thread */

static UNRECORDED uint32_t input(unsigned index, unsigned turn)
{
    return (uint32_t)random_at(o.seed, index) + turn;
}

static void work(unsigned id)
{
    for (unsigned turn = 0; turn < TURNS; turn++) {
        for (unsigned index = 0; index < o.size && turn % o.threads == id; index++)
            array[index] = input(index, turn);
        meet();
    }
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    meet();
    uint32_t sum = 0;
    for (unsigned pass = 0; pass < o.iterations; pass++)
        for (unsigned index = 0; index < o.size; index++)
            sum = sum * 31 + array[index];
    sums[id] = sum;
}

/* The same sum over what the array should hold; counts the threads that have another one. */
static UNRECORDED uint64_t wrong_sums(void)
{
    uint32_t sum = 0;
    uint64_t wrong = 0;
    for (unsigned pass = 0; pass < o.iterations; pass++)
        for (unsigned index = 0; index < o.size; index++)
            sum = sum * 31 + input(index, TURNS - 1);
    for (unsigned id = 0; id < o.threads; id++)
        wrong += sums[id] != sum;
    return wrong;
}

int main(int argc, char **argv)
{
    o = parse_options(&gfetch, argc, argv);
    array = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *array)));
    sums = allocated(calloc(o.threads, sizeof *sums));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        sums[0]++;
    begin_check();
    int status = verdict(&gfetch, wrong_sums(), mix(CHECKSUM_START, sums[0]));
    free(array);
    free(sums);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
