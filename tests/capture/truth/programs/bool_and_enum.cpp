// kind: read, change, write
// expect: flags written=100 read=100
// expect: states written=400 read=400
// compile: gcc clang; O0 O2
// why: 100 bools of a byte and 100 enumerators of an int are negated: read and written once.
#include "truth.h"

enum State { off, on };
bool flags[100];
State states[100];

NOINLINE void turn(bool &flag, State &state)
{
    flag = !flag;
    state = state == on ? off : on;
}

int main()
{
    for (int i = 0; i < 100; i++)
        turn(flags[i], states[i]);
}
