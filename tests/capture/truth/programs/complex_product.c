// kind: loops over arrays
// expect: r written=8192 read=0
// expect: a written=0 read=8192
// expect: b written=0 read=8192
// expect machine gcc O3-v3: a written=0 read=16384
// expect machine gcc O3-v3: b written=0 read=16384
// compile: gcc clang; O2 O3-v3
// why: each part of 1,024 numbers is loaded to a variable of its own once and stored once.
// gcc at -O3 with wide vectors loads every vector twice, once for each half of a shuffle.
#include "truth.h"

struct z { float re, im; } r[1024], a[1024], b[1024];

NOINLINE void product(struct z *restrict x, const struct z *restrict y,
                      const struct z *restrict z)
{
    for (int i = 0; i < 1024; i++) {
        float p = y[i].re, q = y[i].im, s = z[i].re, t = z[i].im;

        x[i].re = p * s - q * t;
        x[i].im = p * t + q * s;
    }
}

int main(void)
{
    product(r, a, b);
    return 0;
}
