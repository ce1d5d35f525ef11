// kind: loops over arrays
// expect: sums written=4096 read=0
// expect: pairs written=0 read=8192
// expect machine gcc O3-v3: pairs written=0 read=16384
// compile: gcc clang; O0 O2 O3-v3
// why: both ints of 1,024 pairs are read once; interleaved loads become shuffled vectors,
// which gcc at -O3 loads twice.
#include "truth.h"

struct pair { int x, y; } pairs[1024];
int sums[1024];

NOINLINE void add(int *restrict to, const struct pair *restrict from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i].x + from[i].y;
}

int main(void)
{
    add(sums, pairs, 1024);
    return 0;
}
