/* What primes1 and primes2 share: all but how a number is found to be prime, and with primes3 the
 * range of numbers and the check.
 *
 * The range is from 1 to a limit, which is the size and, so that there is an input that a seed can
 * choose, a little more that depends on the seed.
 */
#ifndef PRIMES_H
#define PRIMES_H

#include "workload.h"

enum { PIECE = 4096 }; /* odd numbers that a thread takes at a time: a page of results */

static struct options o;
static unsigned limit;

static inline void set_limit(void)
{
    limit = o.size + (unsigned)((o.seed + 99) % 100) * 10;
}

/* --- check ------------------------------------------------------------------------------------ */

/* A byte for each number up to the limit, 0 for primes, by the sieve of Eratosthenes. */
static UNRECORDED uint8_t *composites(void)
{
    uint8_t *is_composite = allocated(calloc((size_t)limit + 1, 1));
    is_composite[0] = is_composite[1] = 1;
    for (unsigned p = 2; (uint64_t)p * p <= limit; p++)
        for (uint64_t at = (uint64_t)p * p; !is_composite[p] && at <= limit; at += p)
            is_composite[at] = 1;
    return is_composite;
}

/* --- primes1 and primes2 ---------------------------------------------------------------------- */

#ifndef PRIMES_BY_SIEVE

static uint8_t *found; /* for each odd number: is it prime? */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken;

/* What the including program keeps for each thread, and how it decides. */
struct own;
static struct own *make_own(void);
static void free_own(struct own *own);
static bool is_prime(unsigned odd, const struct own *own);

/* The first of the next piece of odd numbers, by index, or one beyond the limit. */
static unsigned take(void)
{
    pthread_mutex_lock(&lock);
    unsigned first = taken;
    if (first <= (limit - 1) / 2)
        taken += PIECE;
    pthread_mutex_unlock(&lock);
    return first;
}

static void work(unsigned id)
{
    unsigned odds = (limit + 1) / 2;
    struct own *own = make_own();
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned first = take(); first < odds; first = take())
        for (unsigned at = first; at < first + PIECE && at < odds; at++)
            found[at] = at > 0 && is_prime(2 * at + 1, own);
    meet();
    free_own(own);
}

static UNRECORDED uint64_t wrong_numbers(void)
{
    uint8_t *is_composite = composites();
    uint64_t wrong = 0;
    for (unsigned at = 0; at < (limit + 1) / 2; at++)
        wrong += is_composite[2 * at + 1] == found[at];
    free(is_composite);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = mix(CHECKSUM_START, limit);
    for (unsigned at = 0; at < (limit + 1) / 2; at++)
        sum = mix(sum, found[at]);
    return sum;
}

static int run(const struct workload *w, int argc, char **argv)
{
    o = parse_options(w, argc, argv);
    set_limit();
    found = allocated(aligned_alloc(PAGE_BYTES, whole_pages((limit + 1) / 2)));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        found[(limit + 1) / 4] ^= 1;
    begin_check();
    int status = verdict(w, wrong_numbers(), checksum());
    free(found);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}

#endif
#endif
