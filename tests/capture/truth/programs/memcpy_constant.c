// kind: copies and clears of constant size
// expect: from written=0 read=176
// expect: to written=176 read=0
// expect qemu gcc O0: from written=0 read=208
// expect qemu gcc O0: to written=208 read=0
// compile: gcc clang; O0 O2 O3-v3
// why: 128, 32, 8, 4, 2 and 2 bytes are copied, to different places and without overlap
// (but for gcc at -O0, where the library copies the 32 bytes in two halves twice).
#include "truth.h"
#include <string.h>

char from[176], to[176];

NOINLINE void copy(char *a, const char *b)
{
    memcpy(a, b, 128);
    memcpy(a + 128, b + 128, 32);
    memcpy(a + 160, b + 160, 8);
    memcpy(a + 168, b + 168, 4);
    memcpy(a + 172, b + 172, 2);
    memcpy(a + 174, b + 174, 2);
}

int main(void)
{
    copy(to, from);
    return 0;
}
