// kind: copies, clears and searches by the library
// expect: text written=128 read=1
// compile: gcc clang; O2
// why: 64 letters are appended one at a time to reserved memory, each with a new zero behind it.
#include "truth.h"
#include <string>

NOINLINE void append(std::string &to, char letter)
{
    to.push_back(letter);
}

int main()
{
    std::string text;

    text.reserve(100);
    announce("text", text.data(), 100);
    count_from_here();
    for (int i = 0; i < 64; i++)
        append(text, 'a');
    bool wrong = *(volatile char *)&text[5] != 'a';

    count_to_here();
    return wrong;
}
