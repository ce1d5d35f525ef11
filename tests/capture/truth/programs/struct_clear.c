// kind: copies and clears of constant size
// expect: record written=48 read=0
// expect qemu clang O0: record written=64 read=0
// expect machine clang O3-v3: record written=64 read=0
// compile: gcc clang; O0 O2 O3-v3
// why: an empty compound literal is assigned once to a structure of six longs. clang with
// vectors of 32 bytes, and the library that it calls at -O0, overlap two stores.
#include "truth.h"

struct record { long v[6]; } record;

NOINLINE void clear(struct record *at)
{
    *at = (struct record){0};
}

int main(void)
{
    clear(&record);
    return 0;
}
