// kind: structures
// expect: words written=800 read=800
// compile: gcc clang; O0 O2
// why: a double is stored and its bits are read as a long, in each of 100 elements.
#include "truth.h"

union word { double number; long bits; } words[100];

NOINLINE void store(union word *at, double value)
{
    at->number = value;
}

NOINLINE long bits(const union word *at)
{
    return at->bits;
}

int main(void)
{
    long all = 0;

    for (int i = 0; i < 100; i++) {
        store(&words[i], i);
        all |= bits(&words[i]);
    }
    return all == 0;
}
