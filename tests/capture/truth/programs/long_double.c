// kind: wide and odd types
// expect: values written=1000 read=1000
// compile: gcc clang; O0 O2
// why: a hundred numbers are read and written; the processor moves 10 of their 16 bytes.
#include "truth.h"

long double values[100];

NOINLINE void scale(long double *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] *= 2;
}

int main(void)
{
    scale(values, 100);
    return 0;
}
