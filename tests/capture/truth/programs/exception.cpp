// kind: variables on the stack
// expect: count written=400 read=400
// compile: gcc clang; O0 O2
// why: every second of 200 calls throws after it has changed the count.
#include "truth.h"

int count;

NOINLINE void step(int *at, int i)
{
    if (i & 1)
        return;
    ++*at;
    throw i;
}

int main()
{
    int caught = 0;

    for (int i = 0; i < 200; i++) {
        try {
            step(&count, i);
        } catch (int) {
            caught++;
        }
    }
    return caught != 100;
}
