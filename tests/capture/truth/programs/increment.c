// kind: read, change, write
// expect: count written=800 read=800
// expect: bits written=800 read=800
// expect: ticks written=400 read=400
// compile: gcc clang; O0 O2 O3-v3
// why: each call reads and writes a long (++), a long (|=) and a volatile int (+=), 100 times.
#include "truth.h"

long count, bits;
volatile int ticks;

NOINLINE void step(long *n, long *mask, int i)
{
    ++*n;
    *mask |= 1L << (i & 63);
    ticks += i;
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        step(&count, &bits, i);
    return 0;
}
