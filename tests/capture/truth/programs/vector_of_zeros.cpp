// kind: copies and clears of constant size
// expect: zeros written=32000 read=8
// compile: gcc clang; O2 O3-v3
// why: a vector of 4,000 longs is made of zeros; one is looked at.
#include "truth.h"
#include <vector>

NOINLINE long look(const std::vector<long> &at)
{
    return at[50];
}

int main()
{
    std::vector<long> zeros(4000);

    announce("zeros", zeros.data(), 32000);
    bool wrong = static_cast<int>(look(zeros));

    count_to_here();
    return wrong;
}
