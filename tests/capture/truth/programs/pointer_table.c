// kind: constant tables
// expect: rows written=800 read=800
// expect: cells written=400 read=400
// compile: gcc clang; O0 O2
// why: 100 pointers are stored and followed, each to an int that is read and written once.
#include "truth.h"

int *rows[100], cells[100];

NOINLINE void store(int **at, int *row)
{
    *at = row;
}

NOINLINE void step(int **at)
{
    int *row = *at;

    *row += 1;
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        store(&rows[i], &cells[99 - i]);
    for (int i = 0; i < 100; i++)
        step(&rows[i]);
    return 0;
}
