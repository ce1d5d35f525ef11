// kind: loops over arrays
// expect: a written=8192 read=0
// expect: b written=0 read=8192
// expect: c written=0 read=8192
// compile: gcc clang; O0 O2 O3-v3
// why: a[i] = b[i] + s * c[i] over 1,024 doubles.
#include "truth.h"

double a[1024], b[1024], c[1024];

NOINLINE void triad(double *restrict x, const double *restrict y, const double *restrict z, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = y[i] + 3.0 * z[i];
}

int main(void)
{
    triad(a, b, c, 1024);
    return 0;
}
