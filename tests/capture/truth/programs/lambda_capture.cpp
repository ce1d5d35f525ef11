// expect: total written=404 read=404
// compile: gcc clang; O0 O2
// with: -pthread
// why: a thread adds to a captured local int 100 times; main reads it once, writes it once before.
#include "truth.h"
#include <thread>

int main()
{
    volatile int total = 0;

    announce("total", &total, sizeof total);
    std::thread adder([&total] {
        for (int i = 0; i < 100; i++)
            total = total + 1;
    });
    adder.join();
    return total != 100;
}
