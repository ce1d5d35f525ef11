// kind: bit-fields
// expect: packed written=0 read=400
// compile: gcc clang; O0 O2
// why: a field of 22 bits is read 100 times, by a load of the int around it.
#include "truth.h"

struct packed { unsigned f : 3, g : 7, h : 22; } packed;

NOINLINE unsigned get(const struct packed *at)
{
    return at->h;
}

int main(void)
{
    unsigned sum = 0;

    for (int i = 0; i < 100; i++) {
        barrier();
        sum += get(&packed);
    }
    return sum;
}
