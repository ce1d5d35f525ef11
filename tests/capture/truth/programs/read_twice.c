// kind: read, change, write
// expect: word written=0 read=8
// compile: gcc clang; O0 O2
// why: a barrier stands between two reads of an int, so none may be left out.
#include "truth.h"

int word;

NOINLINE int twice(const int *at)
{
    int first = *at;

    barrier();
    return first + *at;
}

int main(void)
{
    return twice(&word);
}
