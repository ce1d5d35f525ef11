// kind: loops over arrays
// expect: a written=0 read=32768
// expect: b written=0 read=32768
// expect: c written=2048 read=0
// compile: gcc clang; O0 O2
// why: 16 by 16 doubles; each element of c takes 16 reads of a and of b and one write.
#include "truth.h"

double a[256], b[256], c[256];

NOINLINE double row_by_column(const double *x, const double *y)
{
    double sum = 0;

    for (int k = 0; k < 16; k++)
        sum += x[k] * y[16 * k];
    return sum;
}

int main(void)
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            c[16 * i + j] = row_by_column(a + 16 * i, b + j);
    return 0;
}
