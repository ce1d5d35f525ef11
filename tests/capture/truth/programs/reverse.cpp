// kind: read, change, write
// expect: keys written=800 read=800
// compile: gcc clang; O0 O2
// why: 100 pairs of ints are reversed: every int is read once and written once.
#include "truth.h"
#include <algorithm>
#include <utility>

struct key { int first, second; } keys[100];

NOINLINE void turn(key *from, key *to)
{
    std::reverse(from, to);
}

int main()
{
    turn(keys, keys + 100);
}
