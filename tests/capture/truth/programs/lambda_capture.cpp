// kind: loops over arrays
// expect: total written=400 read=404
// compile: gcc clang; O0 O2
// with: -pthread
// why: a thread adds to a captured local int 100 times; main reads it once.
#include "truth.h"
#include <thread>

int main()
{
    volatile int total = 0;

    announce("total", &total, sizeof total);
    count_from_here();
    std::thread adder([&total] {
        for (int i = 0; i < 100; i++)
            total = total + 1;
    });
    adder.join();
    bool wrong = total != 100;

    count_to_here();
    return wrong;
}
