// kind: copies, clears and searches by the library
// expect: text written=100 read=101
// compile: gcc clang; O0 O2
// why: 100 letters are stored; then a loop of the program's own looks at them and the zero.
#include "truth.h"

char text[128];

NOINLINE void fill(volatile char *at)
{
    for (int i = 0; i < 100; i++)
        at[i] = 'a';
}

NOINLINE int length(const char *at)
{
    int n = 0;

    while (((volatile const char *)at)[n])
        n++;
    return n;
}

int main(void)
{
    fill(text);
    return length(text) != 100;
}
