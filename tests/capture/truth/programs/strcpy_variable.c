// kind: copies, clears and searches by the library
// expect: from written=0 read=16
// expect: to written=16 read=0
// expect qemu: from written=0 read=80
// compile: gcc clang; O0 O2
// why: fifteen letters and the zero; the library looks for the end in vectors first.
#include "truth.h"
#include <string.h>

char from[64] = "fifteen letters", to[64];

NOINLINE void copy(char *a, const char *b)
{
    strcpy(a, b);
}

int main(void)
{
    copy(to, from);
    return 0;
}
