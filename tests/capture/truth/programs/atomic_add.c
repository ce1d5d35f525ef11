// kind: atomic operations
// expect: one written=100 read=100
// expect: two written=200 read=200
// expect: four written=400 read=400
// expect: eight written=800 read=800
// compile: gcc clang; O0 O2 O3-v3
// why: a hundred fetch-and-adds of each size, whose old values are used.
#include "truth.h"

unsigned char one;
unsigned short two;
unsigned four;
unsigned long eight, sum;

int main(void)
{
    for (int i = 0; i < 100; i++) {
        sum += __atomic_fetch_add(&one, 1, __ATOMIC_SEQ_CST);
        sum += __atomic_fetch_add(&two, 1, __ATOMIC_RELAXED);
        sum += __atomic_fetch_add(&four, 1, __ATOMIC_ACQ_REL);
        sum += __atomic_fetch_add(&eight, 1, __ATOMIC_RELEASE);
    }
    return 0;
}
