// expect: zeros written=800 read=8
// compile: gcc clang; O2 O3-v3
// why: a vector of 100 longs is made of zeros; one is looked at.
#include "truth.h"
#include <vector>

NOINLINE long look(const std::vector<long> &at)
{
    return at[50];
}

int main()
{
    std::vector<long> zeros(100);

    announce("zeros", zeros.data(), 800);
    return static_cast<int>(look(zeros));
}
