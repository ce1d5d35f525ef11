// kind: atomic operations
// expect: head written=1600 read=1616
// compile: gcc clang; O0 O2
// with: -mcx16 -latomic
// why: one load and a hundred compare-and-exchanges that succeed, of 16 bytes each.
#include "truth.h"

unsigned __int128 head;

int main(void)
{
    unsigned __int128 old = *(volatile unsigned __int128 *)&head;

    for (int i = 0; i < 100; i++)
        old = __sync_val_compare_and_swap(&head, old, old + 1) + 1;
    return 0;
}
