// kind: atomic operations
// expect: level written=800 read=1608
// compile: gcc clang; O0 O2
// with: -latomic -lm
// why: += loads 8 bytes, then compares and exchanges them, 100 times; one plain load at the end.
#include "truth.h"
#include <stdatomic.h>

_Atomic double level;

NOINLINE void add(_Atomic double *to, double by)
{
    *to += by;
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        add(&level, 0.5);
    return level != 50;
}
