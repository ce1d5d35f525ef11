// kind: loops over arrays
// expect: to written=7984 read=0
// expect: from written=0 read=23952
// compile: gcc clang; O0
// why: 998 sums of three neighbours, at -O0, where no compiler keeps a neighbour in a register.
#include "truth.h"

double to[1000], from[1000];

NOINLINE void smooth(double *a, const double *b)
{
    for (int i = 1; i < 999; i++)
        a[i] = b[i - 1] + b[i] + b[i + 1];
}

int main(void)
{
    smooth(to, from);
    return 0;
}
