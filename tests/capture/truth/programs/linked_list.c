// kind: read, change, write
// expect: nodes written=1600 read=1600
// compile: gcc clang; O0 O2
// why: a hundred nodes of two words are linked (each written once) and walked (each read once).
#include "truth.h"

struct node { struct node *next; long value; } nodes[100];

NOINLINE struct node *push(struct node *at, struct node *next, long value)
{
    at->next = next;
    at->value = value;
    return at;
}

NOINLINE long sum(const struct node *at)
{
    long total = 0;

    for (; at; at = at->next)
        total += at->value;
    return total;
}

int main(void)
{
    struct node *first = NULL;

    for (int i = 0; i < 100; i++)
        first = push(&nodes[i], first, i);
    return sum(first) != 4950;
}
