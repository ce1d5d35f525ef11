// kind: processes and marks
// expect: words written=400 read=4
// expect qemu: words written=400 read=404
// compile: gcc clang; O0 O2
// why: the sum is made by a function that is not to be recorded; the emulator knows no such mark.
#include "truth.h"

int words[100];

HOMENODE_UNRECORDED int sum(const int *numbers, int count)
{
    int total = 0;

    for (int i = 0; i < count; i++)
        total += numbers[i];
    return total;
}

NOINLINE void fill(int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = i;
}

int main(void)
{
    fill(words, 100);
    return sum(words, 100) + words[7] == 0;
}
