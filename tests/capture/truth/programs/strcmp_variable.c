// kind: copies, clears and searches by the library
// expect: left written=0 read=16
// expect: right written=0 read=16
// expect qemu: left written=0 read=33
// expect qemu: right written=0 read=33
// compile: gcc clang; O0 O2
// why: fifteen equal letters and the zero; the library reads whole vectors.
#include "truth.h"
#include <string.h>

char left[64] = "fifteen letters", right[64] = "fifteen letters";

NOINLINE int order(const char *a, const char *b)
{
    return strcmp(a, b);
}

int main(void)
{
    return order(left, right);
}
