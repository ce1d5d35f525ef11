// kind: read, change, write
// expect: flag written=400 read=800
// expect: level written=8 read=16
// compile: gcc clang; O0 O2 O3-v3
// why: every access in the source is made: two reads and a write of an int in each of 100 rounds.
#include "truth.h"

volatile int flag;
volatile double level;

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 100; i++) {
        sum += flag + flag;
        flag = 0;
    }
    level = 1.5;
    return sum || level != level;
}
