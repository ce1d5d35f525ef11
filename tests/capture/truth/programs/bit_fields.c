// kind: bit-fields
// expect: packed written=100 read=100
// expect clang: packed written=400 read=400
// compile: gcc clang; O0 O2
// why: a field of 3 bits is stored 100 times: the byte (clang: the int) around it is changed.
#include "truth.h"

struct packed { unsigned f : 3, g : 7, h : 22; } packed;

NOINLINE void set(struct packed *at, unsigned value)
{
    at->f = value;
}

int main(void)
{
    for (unsigned i = 0; i < 100; i++)
        set(&packed, i & 7);
    return 0;
}
