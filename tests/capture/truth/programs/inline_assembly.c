// kind: inline assembly
// expect: word written=1200 read=1200
// compile: gcc clang; O0 O2
// why: in each of 100 rounds an inline `lock xadd` of 8 bytes, and an `incl` of 4.
#include "truth.h"

long word;

NOINLINE void step(long *at)
{
    long one = 1;

    __asm__ volatile("lock xaddq %0, %1" : "+r"(one), "+m"(*at));
    __asm__ volatile("incl %0" : "+m"(*(int *)at));
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        step(&word);
    return 0;
}
