// kind: copies and clears of constant size
// expect: marks written=1024 read=0
// compile: gcc clang; O2 O3-v3
// why: reset() clears all 8,192 bits; `rep stos` may overlap its first store.
#include "truth.h"
#include <bitset>

std::bitset<8192> marks;

NOINLINE void clear(std::bitset<8192> &at)
{
    at.reset();
}

int main()
{
    clear(marks);
}
