// kind: a program's own allocator
// expect: arena written=800 read=800
// compile: gcc clang; O0 O2
// why: the program's own operator new gives 100 longs of the arena, written and read once.
#include "truth.h"
#include <cstdlib>
#include <new>

alignas(16) char arena[4096];
static std::size_t taken;

NOINLINE void *operator new[](std::size_t size)
{
    void *given = arena + taken;

    taken += (size + 15) & ~static_cast<std::size_t>(15);
    return given;
}

NOINLINE long use(volatile long *at)
{
    long sum = 0;

    for (long i = 0; i < 100; i++)
        at[i] = i;
    for (long i = 0; i < 100; i++)
        sum += at[i];
    return sum;
}

int main()
{
    return use(new long[100]) != 4950;
}
