// Threads read data initialised once, without a race: a static variable, call_once, a future.
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

static std::once_flag once;
static int table[64], filled;

struct Squares {
    int of[64];
    Squares()
    {
        for (int i = 0; i < 64; i++)
            of[i] = i * i;
    }
};

static const Squares &squares()
{
    static const Squares made;
    return made;
}

static void work(int number, long *sum)
{
    std::call_once(once, [] {
        for (int &each : table)
            each = 1;
        filled++;
    });
    for (int i = 0; i < 64; i++)
        *sum += squares().of[i] * table[i] + number;
}

int main()
{
    std::vector<std::thread> threads;
    long sums[4 * 16] = {};
    std::promise<int> promise;
    auto future = promise.get_future();

    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, i, &sums[i * 16]);
    std::thread last([&] { promise.set_value(7); });
    std::printf("%d\n", future.get());
    for (auto &thread : threads)
        thread.join();
    last.join();
    std::printf("%ld %ld %d\n", sums[0], sums[48], filled);
}
