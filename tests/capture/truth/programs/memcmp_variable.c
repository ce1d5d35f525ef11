// kind: copies, clears and searches by the library
// expect: left written=0 read=64
// expect: right written=0 read=64
// compile: gcc clang; O0 O2
// why: 64 equal bytes are compared by the library.
#include "truth.h"
#include <string.h>

char left[64], right[64];

NOINLINE int order(const char *a, const char *b, size_t size)
{
    return memcmp(a, b, size);
}

int main(void)
{
    return order(left, right, sizeof left);
}
