// kind: loops over arrays
// expect: values written=0 read=8000
// compile: gcc clang; O0 O2 O3-v3
// with: -ffast-math
// why: a thousand doubles are added up, each read once.
#include "truth.h"

double values[1000];

NOINLINE double sum(const double *v, int n)
{
    double total = 0;

    for (int i = 0; i < n; i++)
        total += v[i];
    return total;
}

int main(void)
{
    return sum(values, 1000) != 0;
}
