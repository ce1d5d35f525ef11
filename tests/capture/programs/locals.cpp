// Variables of functions, which threads have by reference.

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Pool {
    std::mutex lock;
    long jobs = 0;
    long done[32] = {};
};

static void work(Pool &pool, int self)
{
    for (int i = 0; i < 100; i++) {
        std::lock_guard<std::mutex> held(pool.lock);
        pool.jobs++;
    }
    pool.done[self * 16] = 100;
}

static inline long in_threads()
{
    Pool pool; // line: pool
    std::vector<std::thread> threads;
    for (int self = 0; self < 2; self++)
        threads.emplace_back([&pool, self] { work(pool, self); });
    for (auto &thread : threads)
        thread.join();
    return pool.jobs + pool.done[0];
}

int main()
{
    long counts[64] = {}; // line: counts
    alignas(64) volatile long own[64] = {};

    for (int i = 0; i < 64; i++)
        own[i] = i;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 32; i++)
        __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED);
    std::printf("%ld %ld %ld\n", in_threads(), counts[31], own[63]);
}
