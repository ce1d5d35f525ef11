// kind: read, change, write
// expect: count written=800 read=800
// compile: gcc clang; O0 O2
// why: a hundred elements chosen at run time, each read and written back.
#include "truth.h"

long count[8];

NOINLINE void add(long *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i * 5 & 7] += i;
}

int main(void)
{
    add(count, 100);
    return 0;
}
