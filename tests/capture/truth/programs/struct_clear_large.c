// kind: structures
// expect: record written=16384 read=0
// compile: gcc clang; O0 O2
// why: one assignment of an empty value, which becomes a call of memset; it must not count twice.
#include "truth.h"

struct large { char bytes[16384]; } record;

NOINLINE void clear(struct large *at)
{
    *at = (struct large){0};
}

int main(void)
{
    clear(&record);
    return 0;
}
