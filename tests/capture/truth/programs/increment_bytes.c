// kind: read, change, write
// expect: bytes written=256 read=256
// expect: shorts written=512 read=512
// compile: gcc clang; O0 O2 O3-v3
// why: every element is read and written once, one at a time or as vectors.
#include "truth.h"

unsigned char bytes[256];
unsigned short shorts[256];

NOINLINE void add(unsigned char *a, unsigned short *b)
{
    for (int i = 0; i < 256; i++)
        a[i]++;
    for (int i = 0; i < 256; i++)
        b[i] += 3;
}

int main(void)
{
    add(bytes, shorts);
    return 0;
}
