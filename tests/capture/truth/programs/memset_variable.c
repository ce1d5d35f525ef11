// kind: copies, clears and searches by the library
// expect: short_one written=64 read=0
// expect: long_one written=4096 read=0
// compile: gcc clang; O0 O2
// why: the compiler does not know the size, so it calls the library's memset once for each.
#include "truth.h"
#include <string.h>

char short_one[64], long_one[4096];

NOINLINE void fill(void *at, int byte, size_t size)
{
    memset(at, byte, size);
}

int main(void)
{
    fill(short_one, 1, sizeof short_one);
    fill(long_one, 2, sizeof long_one);
    return 0;
}
