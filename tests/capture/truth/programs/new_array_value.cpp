// expect: numbers written=400 read=4
// compile: gcc clang; O0 O2 O3-v3
// why: new int[100]() clears every element; one is looked at.
#include "truth.h"

NOINLINE int *make()
{
    return new int[100]();
}

NOINLINE int look(const int *at)
{
    return at[50];
}

int main()
{
    int *numbers = make();

    announce("numbers", numbers, 400);
    return look(numbers);
}
