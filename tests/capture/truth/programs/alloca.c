// kind: variables on the stack
// expect: numbers written=400 read=400
// compile: gcc clang; O0 O2
// why: 100 ints from alloca are filled and added up once.
#include "truth.h"
#include <alloca.h>

NOINLINE int sum(volatile int *at, int n)
{
    int total = 0;

    for (int i = 0; i < n; i++)
        at[i] = i;
    for (int i = 0; i < n; i++)
        total += at[i];
    return total;
}

int main(int count, char **words)
{
    int *numbers = alloca(400 * count);

    announce("numbers", numbers, 400);
    count_from_here();
    int wrong = sum(numbers, 100) != 4950;

    count_to_here();
    return wrong;
}
