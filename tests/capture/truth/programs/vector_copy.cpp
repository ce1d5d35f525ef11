// expect: from written=512 read=512
// expect: to written=512 read=0
// compile: gcc clang; O2
// why: 64 longs are pushed, then copied as a whole to a block that is large enough.
#include "truth.h"
#include <vector>

NOINLINE void copy(std::vector<long> &to, const std::vector<long> &from)
{
    to.assign(from.begin(), from.end());
}

int main()
{
    std::vector<long> from, to;

    from.reserve(64);
    to.reserve(64);
    announce("from", from.data(), 512);
    announce("to", to.data(), 512);
    for (long i = 0; i < 64; i++)
        from.push_back(i);
    copy(to, from);
}
