// kind: variables on the stack
// expect: count written=400 read=404
// compile: gcc clang; O0 O2
// why: a volatile int is counted up before each of 100 jumps back, and read once at the end.
#include "truth.h"
#include <setjmp.h>

volatile int count;
static jmp_buf again;

NOINLINE void step(void)
{
    count++;
    longjmp(again, 1);
}

int main(void)
{
    volatile int rounds = 0;

    setjmp(again);
    if (rounds++ < 100)
        step();
    return count != 100;
}
