/* primes1: prime numbers, by division by all odd numbers.
 *
 * Finds the primes in a range: divides every odd number by all odd numbers up to its square root.
 * Each division is a call of a function that gets its two numbers in memory.
 *
 * Sharing: next to none. Nearly all references pass arguments on a thread's own stack; shared are
 * the counter from which pieces of the range are taken, and a byte for each odd number, written
 * once by the thread that has the piece.
 *
 * Source: Bolosky's thesis, section 3.2.2 (Primes1): numbers to 10,000,000, most references to the
 * stack to link subroutines. Ours: own code; present compilers pass arguments in registers, so the
 * program passes them in a structure on the stack, through a pointer that hides the function.
 */
#include "primes.h"

static const struct workload primes1 = {
    .name = "primes1",
    .summary = "Prime numbers, by division by all odd numbers",
    .size_help = "end of the range",
    .size_default = 200000, .size_quick = 30000, .size_min = 10, .size_max = 100000000,
};

/* Arguments of a call. */
struct call {
    unsigned number, divisor;
};

typedef bool decision(const struct call *call);

struct own {
    decision *decide;
};

static bool divides(const struct call *call)
{
    return call->number % call->divisor == 0;
}

/* Read by threads when they begin; volatile, so that no compiler knows what is called. */
static decision *volatile how_to_decide = divides;

static struct own *make_own(void)
{
    struct own *own = allocated(malloc(sizeof *own));
    own->decide = how_to_decide;
    return own;
}

static void free_own(struct own *own)
{
    free(own);
}

static bool is_prime(unsigned odd, const struct own *own)
{
    decision *decide = own->decide;
    struct call call;
    for (unsigned divisor = 3; divisor * divisor <= odd; divisor += 2) {
        call.number = odd;
        call.divisor = divisor;
        if (decide(&call))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    return run(&primes1, argc, argv);
}
