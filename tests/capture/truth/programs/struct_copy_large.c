// kind: structures
// expect: from written=0 read=16384
// expect: to written=16384 read=0
// compile: gcc clang; O0 O2
// why: one assignment of 16,384 bytes, which becomes a call of memcpy; it must not count twice.
#include "truth.h"

struct large { char bytes[16384]; } from, to;

NOINLINE void copy(struct large *a, const struct large *b)
{
    *a = *b;
}

int main(void)
{
    copy(&to, &from);
    return 0;
}
