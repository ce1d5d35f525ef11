// kind: atomic operations
// expect: flags written=1600 read=1600
// compile: gcc clang; O0 O2
// why: fetch_add and exchange of a long, 100 times each; both read and write.
#include "truth.h"
#include <atomic>

std::atomic<long> flags;

int main()
{
    long sum = 0;

    for (int i = 0; i < 100; i++) {
        sum += flags.fetch_add(1, std::memory_order_relaxed);
        sum += flags.exchange(i);
    }
    return sum < 0;
}
