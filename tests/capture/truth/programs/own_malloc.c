// kind: a program's own allocator
// expect: arena written=400 read=400
// compile: gcc clang; O0 O2
// why: the program's own malloc gives 400 bytes of the arena, which are written and read once.
#include "truth.h"
#include <stdlib.h>

_Alignas(16) char arena[1 << 20];
static size_t taken;

void *malloc(size_t size)
{
    void *given = arena + taken;

    taken += (size + 15) & ~(size_t)15;
    return given;
}

void free(void *given)
{
}

NOINLINE int use(volatile int *at)
{
    int sum = 0;

    for (int i = 0; i < 100; i++)
        at[i] = i;
    for (int i = 0; i < 100; i++)
        sum += at[i];
    return sum;
}

int main(void)
{
    return use(malloc(400)) != 4950;
}
