// kind: bit-fields
// expect: marks written=800 read=800
// compile: gcc clang; O0 O2
// why: one bit is set 100 times: the long around it is read and written.
#include "truth.h"
#include <bitset>

std::bitset<1024> marks;

NOINLINE void mark(std::bitset<1024> &at, unsigned i)
{
    at[i] = true;
}

int main()
{
    for (unsigned i = 0; i < 100; i++)
        mark(marks, 10 * i);
}
