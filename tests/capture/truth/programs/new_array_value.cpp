// kind: copies and clears of constant size
// expect: numbers written=16000 read=4
// compile: gcc clang; O0 O2 O3-v3
// why: new int[4000]() clears every element; one is looked at.
#include "truth.h"

NOINLINE int *make()
{
    return new int[4000]();
}

NOINLINE int look(const int *at)
{
    return at[50];
}

int main()
{
    int *numbers = make();

    announce("numbers", numbers, 16000);
    bool wrong = look(numbers);

    count_to_here();
    return wrong;
}
