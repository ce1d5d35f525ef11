// kind: wide and odd types
// expect: bytes written=64 read=64
// compile: gcc clang; O0 O2
// why: eight longs are written and read at the ends of lines, four bytes on either side.
#include "truth.h"

_Alignas(64) char bytes[576];

typedef long __attribute__((aligned(1))) anywhere;

NOINLINE long cross(char *line, long value)
{
    *(volatile anywhere *)(line + 60) = value;
    return *(volatile anywhere *)(line + 60);
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 8; i++)
        sum += cross(bytes + 64 * i, i);
    return sum != 28;
}
