// kind: read, change, write
// expect: slots written=800 read=1600
// compile: gcc clang; O0 O2
// why: 100 keys without collision: each slot is read when filled, written once and read once again.
#include "truth.h"

long slots[128];

NOINLINE long *find(long *table, long key)
{
    unsigned long at = (unsigned long)key * 5 & 127;

    for (;; at = (at + 1) & 127) {
        long there = table[at];

        if (there == 0 || there == key)
            return &table[at];
    }
}

int main(void)
{
    for (long key = 1; key <= 100; key++)
        *find(slots, key) = key;
    for (long key = 1; key <= 100; key++)
        if (find(slots, key) == NULL)
            return 1;
    return 0;
}
