// kind: copies, clears and searches by the library
// expect: from written=0 read=8192
// expect: to written=8192 read=0
// compile: gcc clang; O0 O2
// why: one copy; where the library makes it, its first and last vectors overlap by under 2 %.
#include "truth.h"
#include <string.h>

char from[8192], to[8192];

NOINLINE void copy(char *a, const char *b)
{
    memcpy(a, b, 8192);
}

int main(void)
{
    copy(to, from);
    return 0;
}
