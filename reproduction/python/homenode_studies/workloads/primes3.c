/* primes3: prime numbers, by the sieve of Eratosthenes.
 *
 * Finds the primes in a range: masks the multiples of each small prime off a vector of bits, one
 * for each odd number, and then makes a vector of the numbers whose bits are left.
 *
 * Sharing: the vector of bits is shared by all. For each small prime the vector is cut into pieces,
 * which go to whichever thread is free, so each page is written by one thread after another, bits
 * far apart. Then the pieces are scanned in the same way; the results of a piece go to one run of
 * the vector of numbers, from which on no one touches them.
 *
 * Source: Bolosky's thesis, section 3.2.2 (Primes3): numbers to 10,000,000, a vector of bits for
 * odd numbers in shared memory, heavily read and written, then a vector of integers.
 * Ours: own code; how work is divided is our choice: no other thread writes to a piece meanwhile.
 */
#define PRIMES_BY_SIEVE
#include "primes.h"

static const struct workload primes3 = {
    .name = "primes3",
    .summary = "Prime numbers, by a sieve of bits in shared memory",
    .size_help = "end of the range",
    .size_default = 2000000, .size_quick = 20000, .size_min = 100, .size_max = 100000000,
};

enum { PIECES = 64, BITS = 32 };

static unsigned words;          /* of the vector of bits */
static uint32_t *composite;     /* bit k of the vector stands for 2 k + 1 */
static unsigned *primes;        /* odd ones, ascending */
static unsigned counts[PIECES]; /* primes in each piece */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken;          /* pieces, in this round */
static unsigned sieving;        /* the prime of this round; 0: none is left */

/* The next piece of this round, or PIECES when all are taken. */
static unsigned take(void)
{
    pthread_mutex_lock(&lock);
    unsigned piece = taken < PIECES ? taken++ : PIECES;
    pthread_mutex_unlock(&lock);
    return piece;
}

static inline unsigned first_word(unsigned piece)
{
    return first_of(piece, PIECES, words);
}

static inline bool is_left(unsigned bit)
{
    return !(composite[bit / BITS] >> bit % BITS & 1);
}

/* Begins a round, for the next prime whose square is in the range. */
static void next_round(unsigned last)
{
    unsigned prime = last + 2;
    while (!is_left(prime / 2))
        prime += 2;
    sieving = prime * prime <= limit ? prime : 0;
    taken = 0;
}

/* Masks the odd multiples of a prime off a piece, from its square on. */
static void mask(unsigned piece, unsigned prime)
{
    unsigned first = first_word(piece) * BITS, end = first_word(piece + 1) * BITS;
    unsigned bit = prime * prime / 2;
    if (bit < first)
        bit += (first - bit + prime - 1) / prime * prime;
    for (; bit < end; bit += prime)
        composite[bit / BITS] |= UINT32_C(1) << bit % BITS;
}

/* Goes through the primes of a piece and stores them at `to`, or only counts them. */
static unsigned scan(unsigned piece, unsigned *to)
{
    unsigned count = 0;
    for (unsigned word = first_word(piece); word < first_word(piece + 1); word++) {
        uint32_t left = ~composite[word];
        for (unsigned bit = 0; bit < BITS; bit++) {
            unsigned number = 2 * (word * BITS + bit) + 1;
            if ((left >> bit & 1) && number > 1 && number <= limit) {
                if (to)
                    to[count] = number;
                count++;
            }
        }
    }
    return count;
}

/* Stores the primes of a piece behind those of the pieces before. */
static void store(unsigned piece)
{
    unsigned before = 0;
    for (unsigned other = 0; other < piece; other++)
        before += counts[other];
    scan(piece, primes + before);
}

static void work(unsigned id)
{
    for (unsigned word = first_of(id, o.threads, words); word < first_of(id + 1, o.threads, words);
         word++)
        composite[word] = 0;
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
        next_round(1);
    }
    meet();
    for (unsigned prime = sieving; prime > 0; prime = sieving) {
        for (unsigned piece = take(); piece < PIECES; piece = take())
            mask(piece, prime);
        meet();
        if (id == 0)
            next_round(prime);
        meet();
    }
    if (id == 0)
        homenode_phase(2);
    for (unsigned piece = take(); piece < PIECES; piece = take())
        counts[piece] = scan(piece, NULL);
    meet();
    if (id == 0)
        taken = 0;
    meet();
    for (unsigned piece = take(); piece < PIECES; piece = take())
        store(piece);
    meet();
}

static UNRECORDED unsigned count_all(void)
{
    unsigned sum = 0;
    for (unsigned piece = 0; piece < PIECES; piece++)
        sum += counts[piece];
    return sum;
}

static UNRECORDED uint64_t wrong_numbers(void)
{
    uint8_t *is_composite = composites();
    unsigned at = 0, count = count_all();
    uint64_t wrong = 0;
    for (unsigned number = 3; number <= limit; number++)
        if (!is_composite[number]) {
            wrong += at >= count || primes[at] != number;
            at++;
        }
    free(is_composite);
    return wrong + (at != count);
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = mix(CHECKSUM_START, limit);
    for (unsigned at = 0; at < count_all(); at++)
        sum = mix(sum, primes[at]);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&primes3, argc, argv);
    set_limit();
    words = (limit / 2 + BITS) / BITS;
    composite = allocated(aligned_alloc(PAGE_BYTES, whole_pages(words * sizeof *composite)));
    primes = allocated(aligned_alloc(PAGE_BYTES, whole_pages(limit / 2 * sizeof *primes)));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        primes[1]++;
    begin_check();
    int status = verdict(&primes3, wrong_numbers(), checksum());
    free(composite);
    free(primes);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
