// kind: atomic operations
// expect: four written=400 read=400
// expect: eight written=800 read=800
// compile: gcc clang; O0 O2
// why: a hundred exchanges of each; an exchange reads and writes.
#include "truth.h"

unsigned four;
void *eight;

int main(void)
{
    for (unsigned i = 0; i < 100; i++) {
        __atomic_exchange_n(&four, i, __ATOMIC_SEQ_CST);
        __atomic_exchange_n(&eight, &four + i, __ATOMIC_ACQ_REL);
    }
    return 0;
}
