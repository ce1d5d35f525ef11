// kind: atomic operations
// expect: word written=1600 read=1600
// compile: gcc clang; O2
// why: fetch-and-or, and, xor and subtract of an int, a hundred times each
// (at -O0 clang makes loops of a load and a compare-and-exchange instead).
#include "truth.h"

unsigned word;

int main(void)
{
    for (unsigned i = 0; i < 100; i++) {
        __atomic_fetch_or(&word, 1U << (i & 31), __ATOMIC_SEQ_CST);
        __atomic_fetch_and(&word, ~i, __ATOMIC_RELAXED);
        __atomic_fetch_xor(&word, i, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&word, i, __ATOMIC_RELAXED);
    }
    return 0;
}
