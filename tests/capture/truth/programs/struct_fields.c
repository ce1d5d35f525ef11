// kind: structures
// expect: pair written=80 read=80
// compile: gcc clang; O0 O2
// why: ten calls read and write both ints once; the compiler barrier keeps the two steps apart.
#include "truth.h"

struct pair { int a, b; } pair;

NOINLINE void update(struct pair *at)
{
    at->a++;
    barrier();
    at->b += 2;
}

int main(void)
{
    for (int i = 0; i < 10; i++)
        update(&pair);
    return 0;
}
