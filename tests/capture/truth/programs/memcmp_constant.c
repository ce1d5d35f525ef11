// kind: copies and clears of constant size
// expect: left written=0 read=16
// expect: right written=0 read=16
// compile: gcc clang; O2 O3-v3
// why: the 16 bytes are equal, so all of both sides must be looked at.
#include "truth.h"
#include <string.h>

char left[16], right[16];

NOINLINE int same(const char *a, const char *b)
{
    return memcmp(a, b, 16) == 0;
}

int main(void)
{
    return !same(left, right);
}
