// kind: read, change, write
// expect: values written=312 read=3432
// compile: gcc clang; O0 O2
// why: 40 ints; 780 comparisons read one int each, 39 swaps read two and write two.
#include "truth.h"

int values[40];

NOINLINE int before(const int *a, int least)
{
    return *a < least;
}

NOINLINE void swap(volatile int *a, volatile int *b)
{
    int first = *a;

    *a = *b;
    *b = first;
}

int main(void)
{
    for (int i = 0; i < 39; i++) {
        int *least = &values[i];

        for (int k = i + 1; k < 40; k++)
            if (before(&values[k], 0))
                least = &values[k];
        swap(&values[i], least);
    }
    return 0;
}
