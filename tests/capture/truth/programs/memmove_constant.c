// kind: copies and clears of constant size
// expect: line written=64 read=64
// compile: gcc clang; O0 O2 O3-v3
// why: 64 bytes move up by 8 inside one object: all are read, then all are written.
#include "truth.h"
#include <string.h>

char line[128];

NOINLINE void shift(char *at)
{
    memmove(at + 8, at, 64);
}

int main(void)
{
    shift(line);
    return 0;
}
