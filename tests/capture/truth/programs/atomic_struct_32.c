// kind: atomic operations by libatomic
// expect: head written=3200 read=3200
// expect qemu: head written=6400 read=6400
// compile: gcc clang; O0 O2
// with: -latomic
// why: a hundred exchanges of 32 bytes by libatomic, which reads and writes them under a lock.
#include "truth.h"
#include <stdatomic.h>

typedef struct { long v[4]; } four;
_Atomic four head;

NOINLINE long swap(_Atomic four *with, four value)
{
    four before = atomic_exchange(with, value);

    return before.v[0];
}

int main(void)
{
    long sum = 0;

    for (long i = 0; i < 100; i++)
        sum += swap(&head, (four){{i, i, i, i}});
    return sum != 4851;
}
