// expect: marks written=128 read=0
// compile: gcc clang; O2 O3-v3
// why: reset() clears all 1,024 bits.
#include "truth.h"
#include <bitset>

std::bitset<1024> marks;

NOINLINE void clear(std::bitset<1024> &at)
{
    at.reset();
}

int main()
{
    clear(marks);
}
