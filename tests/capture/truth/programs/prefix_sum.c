// kind: read, change, write
// expect: values written=3996 read=4000
// compile: gcc clang; O0 O2
// why: each of 999 ints is read and rewritten with the sum so far; the first is only read.
#include "truth.h"

int values[1000];

NOINLINE void accumulate(int *v, int n)
{
    int sum = v[0];

    for (int i = 1; i < n; i++) {
        sum += v[i];
        v[i] = sum;
    }
}

int main(void)
{
    accumulate(values, 1000);
    return 0;
}
