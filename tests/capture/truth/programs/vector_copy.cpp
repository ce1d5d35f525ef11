// kind: copies, clears and searches by the library
// expect: from written=8192 read=8192
// expect: to written=8192 read=0
// compile: gcc clang; O2
// why: 1,024 longs are pushed, then copied as a whole to a block that is large enough.
#include "truth.h"
#include <vector>

NOINLINE void copy(std::vector<long> &to, const std::vector<long> &from)
{
    to.assign(from.begin(), from.end());
}

int main()
{
    std::vector<long> from, to;

    from.reserve(1024);
    to.reserve(1024);
    announce("from", from.data(), 8192);
    announce("to", to.data(), 8192);
    count_from_here();
    for (long i = 0; i < 1024; i++)
        from.push_back(i);
    copy(to, from);
    count_to_here();
}
