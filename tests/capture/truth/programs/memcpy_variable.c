// kind: copies, clears and searches by the library
// expect: from written=0 read=192
// expect: to written=192 read=0
// compile: gcc clang; O0 O2
// why: copies of 64 and 128 bytes by the library, which takes whole vectors for these sizes.
#include "truth.h"
#include <string.h>

char from[192], to[192];

NOINLINE void copy(char *a, const char *b, size_t size)
{
    memcpy(a, b, size);
}

int main(void)
{
    copy(to, from, 64);
    copy(to + 64, from + 64, 128);
    return 0;
}
