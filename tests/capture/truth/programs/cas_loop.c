// kind: atomic operations
// expect: top written=3200 read=3200
// compile: gcc clang; O0 O2
// why: 400 pushes of 8 bytes onto a list by one thread: each exchange succeeds at once.
#include "truth.h"

void *top;
static void *nodes[400];

NOINLINE void push(void **head, void **node)
{
    while (!__atomic_compare_exchange_n(head, node, node, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

int main(void)
{
    for (int i = 0; i < 400; i++) {
        nodes[i] = i ? (void *)&nodes[i - 1] : NULL;
        push(&top, &nodes[i]);
    }
    return 0;
}
