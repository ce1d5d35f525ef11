// kind: copies, clears and searches by the library
// expect: calls written=400 read=400
// compile: gcc clang; O0 O2
// why: two values take one comparison; its callback counts up 4 bytes, in each of 100 sorts.
#include "truth.h"
#include <stdlib.h>

volatile int calls;
static int values[2] = {2, 1};

static int order(const void *a, const void *b)
{
    calls++;
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        qsort(values, 2, sizeof values[0], order);
    return 0;
}
