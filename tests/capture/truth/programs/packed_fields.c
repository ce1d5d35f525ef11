// kind: structures
// expect: rows written=1300 read=1300
// compile: gcc clang; O0 O2
// why: rows of 13 bytes, so most fields are unaligned and some cross lines; each is moved once.
#include "truth.h"

struct __attribute__((packed)) row { char a; long b; int c; } rows[100];

NOINLINE long step(struct row *at, int i)
{
    at->a = 1;
    at->b = i;
    at->c = 2;
    barrier();
    return at->a + at->b + at->c;
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 100; i++)
        sum += step(&rows[i], i);
    return sum != 5250;
}
