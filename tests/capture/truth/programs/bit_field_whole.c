// expect: halves written=600 read=600
// compile: gcc clang; O0 O2
// why: fields of 16 and of 32 bits fill whole units: they are stored and loaded without a mask.
#include "truth.h"

struct halves { unsigned low : 16, high : 16, all : 32; } halves;

NOINLINE unsigned step(struct halves *at, unsigned i)
{
    at->high = i;
    at->all = i;
    __asm__ volatile("" ::: "memory");
    return at->high + at->all;
}

int main(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < 100; i++)
        sum += step(&halves, i);
    return sum != 9900;
}
