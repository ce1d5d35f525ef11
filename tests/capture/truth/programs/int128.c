// kind: wide and odd types
// expect: values written=1600 read=1600
// compile: gcc clang; O0 O2 O3-v3
// why: a hundred numbers of 16 bytes are read and written, in halves.
#include "truth.h"

unsigned __int128 values[100];

NOINLINE void add(unsigned __int128 *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] += i;
}

int main(void)
{
    add(values, 100);
    return 0;
}
