// kind: read, change, write
// expect: table written=800 read=800
// compile: gcc clang; O0 O2
// why: a function's static array of 100 longs is filled at the first call; 100 calls read one each.
#include "truth.h"

struct Table {
    Table()
    {
        announce("table", this, sizeof *this);
        count_from_here();
        for (long i = 0; i < 100; i++)
            *(volatile long *)&squares[i] = i * i;
    }
    long squares[100];
};

NOINLINE long square(int i)
{
    static const Table table;

    return table.squares[i];
}

int main()
{
    long sum = 0;

    for (int i = 0; i < 100; i++)
        sum += square(i);
    bool wrong = sum != 328350;

    count_to_here();
    return wrong;
}
