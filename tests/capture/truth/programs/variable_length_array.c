// kind: variables on the stack
// expect: numbers written=400 read=400
// compile: gcc clang; O0 O2
// why: an array of 100 ints on the stack, of variable length, is filled and added up once.
#include "truth.h"

NOINLINE void fill(int *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = i;
}

NOINLINE int sum(const int *at, int n)
{
    int total = 0;

    for (int i = 0; i < n; i++)
        total += at[i];
    return total;
}

int main(int count, char **words)
{
    int n = 100 * count;
    int numbers[n];

    announce("numbers", numbers, sizeof numbers);
    count_from_here();
    fill(numbers, n);
    int wrong = sum(numbers, n) != 4950;

    count_to_here();
    return wrong;
}
