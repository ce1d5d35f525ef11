// kind: copies and clears of constant size
// expect: page written=4096 read=1
// compile: gcc clang; O0 O2 O3-v3
// why: one memset of the whole page, and one byte that another function looks at.
#include "truth.h"
#include <string.h>

char page[4096];

NOINLINE void clear(void)
{
    memset(page, 0, sizeof page);
}

NOINLINE int look(const char *at)
{
    return *at;
}

int main(void)
{
    clear();
    return look(page + 1);
}
