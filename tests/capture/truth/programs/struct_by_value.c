// kind: structures
// expect: record written=64 read=64
// compile: gcc clang; O0 O2
// why: it is passed by value (all of it is read) and assigned from a value returned (written).
#include "truth.h"

struct record { long v[8]; } record;

NOINLINE long take(struct record given)
{
    return given.v[0] + given.v[7];
}

NOINLINE struct record make(long value)
{
    struct record made = {{value, 1, 2, 3, 4, 5, 6, 7}};

    return made;
}

NOINLINE long pass(const struct record *at)
{
    return take(*at);
}

NOINLINE void store(struct record *at)
{
    *at = make(7);
}

int main(void)
{
    store(&record);
    return pass(&record) != 14;
}
