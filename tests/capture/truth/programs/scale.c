// kind: loops over arrays
// expect: values written=4096 read=4096
// compile: gcc clang; O0 O2 O3-v3
// why: each of 1,024 floats is read and written once.
#include "truth.h"

float values[1024];

NOINLINE void scale(float *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] *= 2.5f;
}

int main(void)
{
    scale(values, 1024);
    return 0;
}
