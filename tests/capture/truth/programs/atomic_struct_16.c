// kind: atomic operations by libatomic
// expect: head written=1600 read=1600
// compile: gcc clang; O0 O2
// with: -mcx16 -latomic
// why: a hundred compare-and-exchanges of a structure; libatomic makes them with cmpxchg16b.
#include "truth.h"
#include <stdatomic.h>

typedef struct { _Alignas(16) unsigned long at; unsigned long tag; } top;
_Atomic top head;

NOINLINE void push(_Atomic top *to, top old)
{
    top new = {old.at + 1, old.tag + 1};

    atomic_compare_exchange_strong(to, &old, new);
}

int main(void)
{
    for (unsigned long i = 0; i < 100; i++)
        push(&head, (top){i, i});
    return 0;
}
