// kind: copies and clears of constant size
// expect: bytes written=8192 read=0
// expect: words written=4096 read=0
// compile: gcc clang; O2 O3-v3
// why: std::array::fill stores every element once; a library may overlap its last vectors.
#include "truth.h"
#include <array>

std::array<char, 8192> bytes;
std::array<int, 1024> words;

NOINLINE void fill(std::array<char, 8192> &a, std::array<int, 1024> &b, int value)
{
    a.fill(static_cast<char>(value));
    b.fill(value);
}

int main()
{
    fill(bytes, words, 3);
}
