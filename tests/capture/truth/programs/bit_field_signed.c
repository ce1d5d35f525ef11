// kind: bit-fields
// expect: dates written=200 read=400
// compile: gcc; O0 O2
// why: a field of 9 bits is stored in each of 100 shorts: gcc reads, changes and writes 2 bytes.
// The read of the field itself takes the short, too.
#include "truth.h"

struct date { short day : 9, month : 7; } dates[100];

NOINLINE int turn(struct date *at, int day)
{
    at->day = day;
    barrier();
    return at->day;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 100; i++)
        sum += turn(&dates[i], i);
    return sum != 4950;
}
