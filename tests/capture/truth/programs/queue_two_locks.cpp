// kind: read, change, write
// expect: cells written=1600 read=1600
// compile: gcc clang; O0 O2
// with: -pthread
// why: 200 longs go in by one thread and out by another: each is written and read once.
#include "truth.h"
#include <condition_variable>
#include <mutex>
#include <thread>

volatile long cells[200];
static std::mutex lock;
static std::condition_variable more;
static int ready;

int main()
{
    long sum = 0;
    std::thread producer([] {
        for (int i = 0; i < 200; i++) {
            std::lock_guard<std::mutex> held(lock);
            cells[i] = i;
            ready = i + 1;
            more.notify_one();
        }
    });

    for (int i = 0; i < 200; i++) {
        std::unique_lock<std::mutex> held(lock);
        more.wait(held, [i] { return ready > i; });
        sum += cells[i];
    }
    producer.join();
    return sum != 19900;
}
