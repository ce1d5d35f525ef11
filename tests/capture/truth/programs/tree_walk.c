// kind: read, change, write
// expect: nodes written=3048 read=3048
// compile: gcc clang; O0 O2
// why: 127 nodes of 24 bytes, each field written once as the tree is built and read once in a walk.
#include "truth.h"

struct node { struct node *left, *right; long value; } nodes[127];

NOINLINE void set(struct node *at, struct node *left, struct node *right, long value)
{
    at->left = left;
    at->right = right;
    at->value = value;
}

NOINLINE long sum(const struct node *at)
{
    return at ? sum(at->left) + at->value + sum(at->right) : 0;
}

int main(void)
{
    for (int i = 0; i < 127; i++)
        set(&nodes[i], i < 63 ? &nodes[2 * i + 1] : NULL, i < 63 ? &nodes[2 * i + 2] : NULL, i);
    return sum(nodes) != 8001;
}
