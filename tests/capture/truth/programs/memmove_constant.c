// expect: line written=32 read=32
// compile: gcc clang; O0 O2 O3-v3
// why: 32 bytes move up by 8 inside one object: all are read, then all are written.
#include "truth.h"
#include <string.h>

char line[64];

NOINLINE void shift(char *at)
{
    memmove(at + 8, at, 32);
}

int main(void)
{
    shift(line);
    return 0;
}
