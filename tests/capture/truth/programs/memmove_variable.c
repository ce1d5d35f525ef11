// kind: copies, clears and searches by the library
// expect: line written=64 read=64
// compile: gcc clang; O0 O2
// why: 64 bytes move up by 8 inside one object, in the library.
#include "truth.h"
#include <string.h>

char line[128];

NOINLINE void shift(char *at, size_t size)
{
    memmove(at + 8, at, size);
}

int main(void)
{
    shift(line, 64);
    return 0;
}
