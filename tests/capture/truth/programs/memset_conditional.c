// kind: copies and clears of constant size
// expect: page written=4096 read=0
// compile: gcc clang; O0 O2
// why: the size is 4096 or 0, and is 4096 here: compilers make a branch and a constant of it.
#include "truth.h"
#include <string.h>

char page[4096];

NOINLINE void clear(char *at, int count)
{
    memset(at, 0, 4096 * (count > 0));
}

int main(int count, char **words)
{
    clear(page, count);
    return 0;
}
