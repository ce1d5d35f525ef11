// kind: constant tables
// expect: own written=0 read=4000
// expect: shared written=0 read=4000
// expect: passed written=0 read=4000
// compile: gcc clang; O0 O2
// why: a thousand look-ups of 4 bytes each in a static, an external and a passed constant table.
#include "truth.h"

#define SIXTEEN(n) {n, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597}

static const unsigned own[16] = SIXTEEN(1);
const unsigned shared[16] = SIXTEEN(2);
const unsigned passed[16] = SIXTEEN(4);

NOINLINE unsigned look(const unsigned *table, int i)
{
    return own[i & 15] + shared[i & 15] + table[i & 15];
}

int main(void)
{
    unsigned sum = 0;

    for (int i = 0; i < 1000; i++)
        sum += look(passed, i);
    return sum == 0;
}
