// kind: copies and clears of constant size
// expect: word written=4 read=0
// expect: pair written=16 read=0
// expect: line written=64 read=0
// expect qemu O0: word written=8 read=0
// expect qemu O0: pair written=32 read=0
// compile: gcc clang; O0 O2 O3-v3
// why: each is set once as a whole; at -O0 the library
// does it, with two stores that overlap.
#include "truth.h"
#include <string.h>

int word;
long pair[2];
char line[64];

NOINLINE void clear(void *four, void *sixteen, void *all)
{
    memset(four, 0, 4);
    memset(sixteen, 0xff, 16);
    memset(all, 1, 64);
}

int main(void)
{
    clear(&word, pair, line);
    return 0;
}
