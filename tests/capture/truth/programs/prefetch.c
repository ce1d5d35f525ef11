// kind: inline assembly
// expect: words written=0 read=400
// compile: gcc clang; O0 O2
// why: a prefetch is no access of the program; each int is read once.
#include "truth.h"

int words[128];

NOINLINE int sum(const int *at)
{
    int total = 0;

    for (int i = 0; i < 100; i++) {
        __builtin_prefetch(at + i + 16);
        total += at[i];
    }
    return total;
}

int main(void)
{
    return sum(words);
}
