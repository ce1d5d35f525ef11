// kind: atomic operations
// expect: wins written=800 read=800
// expect: fails written=400 read=400
// compile: gcc clang; O0 O2
// why: a compare-and-exchange is one atomic access, as in hardware, also when it fails.
#include "truth.h"

long wins;
int fails = 7;

int main(void)
{
    for (long i = 0; i < 100; i++) {
        long expected = i;
        int never = 1;

        __atomic_compare_exchange_n(&wins, &expected, i + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        __atomic_compare_exchange_n(&fails, &never, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
    return 0;
}
