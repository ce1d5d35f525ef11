// kind: copies and clears of constant size
// expect: block written=400 read=800
// compile: gcc clang; O0 O2
// why: 100 ints of a cleared block are written once and read twice; the clearing is the kernel's.
#include "truth.h"
#include <stdlib.h>

NOINLINE int use(volatile int *at)
{
    int sum = 0;

    for (int i = 0; i < 100; i++) {
        sum += at[i];
        at[i] = i;
        sum += at[i];
    }
    return sum;
}

int main(void)
{
    int *block = calloc(250000, sizeof *block);

    announce("block", block, 400);
    count_from_here();
    int wrong = use(block) != 4950;

    count_to_here();
    return wrong;
}
