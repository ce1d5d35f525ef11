// kind: read, change, write
// expect: to written=32 read=0
// expect: from written=0 read=32
// compile: gcc clang; O0 O2 O3-v3
// why: four doubles side by side, which compilers join to one or two vectors.
#include "truth.h"

double to[4], from[4];

NOINLINE void twice(double *restrict a, const double *restrict b)
{
    a[0] = 2 * b[0];
    a[1] = 2 * b[1];
    a[2] = 2 * b[2];
    a[3] = 2 * b[3];
}

int main(void)
{
    twice(to, from);
    return 0;
}
