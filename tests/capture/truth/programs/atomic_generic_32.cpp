// kind: atomic operations by libatomic
// expect: big written=3200 read=3200
// expect qemu: big written=6400 read=6400
// compile: gcc clang; O0 O2
// with: -latomic
// why: a hundred loads and stores of 32 bytes by libatomic (the library copies in halves, twice).
#include "truth.h"
#include <atomic>

struct four { long v[4]; };
std::atomic<four> big;

int main()
{
    for (int i = 0; i < 100; i++) {
        four now = big.load();

        now.v[i & 3]++;
        big.store(now);
    }
}
