// kind: loops over arrays
// expect: values written=400 read=400
// compile: gcc clang; O0 O2
// why: std::for_each calls back once for each of 100 ints, which it reads and writes.
#include "truth.h"
#include <algorithm>

int values[100];

NOINLINE void twice(int &value)
{
    value *= 2;
}

int main()
{
    std::for_each(values, values + 100, twice);
}
