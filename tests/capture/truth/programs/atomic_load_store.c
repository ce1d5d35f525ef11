// kind: atomic operations
// expect: ready written=400 read=400
// expect: value written=800 read=800
// compile: gcc clang; O0 O2
// why: loads read, stores write, also when they are strong or weak.
#include "truth.h"

int ready;
long value;

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 100; i++) {
        __atomic_store_n(&ready, i, __ATOMIC_RELEASE);
        __atomic_store_n(&value, i, __ATOMIC_RELAXED);
        sum += __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
        sum += __atomic_load_n(&value, __ATOMIC_SEQ_CST);
    }
    return sum != 9900;
}
