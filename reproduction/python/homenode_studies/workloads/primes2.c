/* primes2: prime numbers, by division by smaller primes.
 *
 * Finds the primes in a range: divides every odd number by all odd primes up to its square root.
 * Every thread first makes its own list of those primes.
 *
 * Sharing: next to none. Nearly all references are to the thread's own list; shared are the counter
 * from which pieces of the range are taken, and a byte for each odd number, written once by the
 * thread that has the piece.
 *
 * Source: Bolosky's thesis, section 3.2.2 (Primes2): numbers to 10,000,000, a private list of
 * divisors for each thread. Ours: own code; the list is made before, up to the root of the limit.
 */
#include "primes.h"

static const struct workload primes2 = {
    .name = "primes2",
    .summary = "Prime numbers, by division by smaller primes in private lists",
    .size_help = "end of the range",
    .size_default = 600000, .size_quick = 40000, .size_min = 10, .size_max = 100000000,
};

struct own {
    unsigned count;
    unsigned primes[]; /* odd ones, ascending, then one whose square is beyond the limit */
};

static bool is_prime(unsigned odd, const struct own *own)
{
    for (const unsigned *prime = own->primes; *prime * *prime <= odd; prime++)
        if (odd % *prime == 0)
            return false;
    return true;
}

static struct own *make_own(void)
{
    unsigned root = 3;
    while (root * root <= limit)
        root += 2;
    size_t bytes = whole_pages(sizeof(struct own) + (root / 2 + 2) * sizeof(unsigned));
    struct own *own = allocated(aligned_alloc(PAGE_BYTES, bytes));
    homenode_private(own, bytes);
    own->primes[0] = 3;
    own->count = 1;
    for (unsigned odd = 5; odd < root; odd += 2)
        if (is_prime(odd, own))
            own->primes[own->count++] = odd;
    own->primes[own->count] = root; /* ends every search, prime or not */
    return own;
}

static void free_own(struct own *own)
{
    free(own);
}

int main(int argc, char **argv)
{
    return run(&primes2, argc, argv);
}
