// kind: loops over arrays
// expect: values written=0 read=4096
// compile: gcc clang; O0 O2 O3-v3
// why: 1,024 ints are added up, each read once.
#include "truth.h"

int values[1024];

NOINLINE int sum(const int *v, int n)
{
    int total = 0;

    for (int i = 0; i < n; i++)
        total += v[i];
    return total;
}

int main(void)
{
    return sum(values, 1024);
}
