// kind: copies and clears of constant size
// expect: name written=16 read=0
// compile: gcc clang; O2 O3-v3
// why: fifteen letters and the zero.
#include "truth.h"
#include <string.h>

char name[32];

NOINLINE void set(char *at)
{
    strcpy(at, "fifteen letters");
}

int main(void)
{
    set(name);
    return 0;
}
