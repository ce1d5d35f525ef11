// kind: copies and clears of constant size
// expect: from written=0 read=20
// expect: to written=20 read=0
// compile: gcc clang; O0 O2
// why: one inline `rep movsb` of 20 bytes.
#include "truth.h"

char from[32], to[32];

NOINLINE void copy(char *a, const char *b, unsigned long size)
{
    __asm__ volatile("rep movsb" : "+D"(a), "+S"(b), "+c"(size) : : "memory");
}

int main(void)
{
    copy(to, from, 20);
    return 0;
}
