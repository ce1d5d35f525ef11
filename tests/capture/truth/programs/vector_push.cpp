// kind: loops over arrays
// expect: numbers written=400 read=400
// compile: gcc clang; O0 O2
// why: a hundred ints are pushed to reserved memory and added up.
#include "truth.h"
#include <vector>

NOINLINE int sum(const std::vector<int> &of)
{
    int total = 0;

    for (int each : of)
        total += each;
    return total;
}

int main()
{
    std::vector<int> numbers;

    numbers.reserve(100);
    announce("numbers", numbers.data(), 400);
    count_from_here();
    for (int i = 0; i < 100; i++)
        numbers.push_back(i);
    bool wrong = sum(numbers) != 4950;

    count_to_here();
    return wrong;
}
