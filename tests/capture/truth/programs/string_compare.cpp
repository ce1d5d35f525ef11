// kind: copies and clears of constant size
// expect: text written=0 read=4
// compile: gcc clang; O2
// why: a view of four letters is compared with a literal of four.
#include "truth.h"
#include <string_view>

char text[16] = {'G', 'E', 'T', ' '};

NOINLINE bool is_get(std::string_view word)
{
    return word == "GET ";
}

int main()
{
    return !is_get({text, 4});
}
