// kind: atomic operations
// expect: busy written=200 read=100
// compile: gcc clang; O0 O2
// why: a byte is tested and set (reads and writes) and cleared (writes) a hundred times.
#include "truth.h"
#include <stdatomic.h>

atomic_flag busy = ATOMIC_FLAG_INIT;

int main(void)
{
    for (int i = 0; i < 100; i++) {
        while (atomic_flag_test_and_set(&busy))
            ;
        atomic_flag_clear_explicit(&busy, memory_order_release);
    }
    return 0;
}
