// Threads count digits of numbers, each in its element of a local array that lambdas refer to.
#include <array>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr unsigned workers = 6;
constexpr unsigned numbers = 8000;

struct Count {
    std::uint32_t even = 0, odd = 0;
#ifdef FIXED
    char rest[56] = {};
#endif
};

void digits(unsigned first, volatile std::uint32_t &even, volatile std::uint32_t &odd)
{
    for (unsigned number = first; number < numbers; number += workers)
        for (unsigned rest = number * 7919; rest != 0; rest /= 10) {
            if (rest % 2 == 0)
                even = even + 1;
            else
                odd = odd + 1;
        }
}

} // namespace

int main()
{
#ifdef FIXED
    alignas(64)
#endif
    std::array<Count, workers> counts{}; // mark: counts
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker)
        threads.emplace_back([&counts, worker] {
            digits(worker, counts[worker].even, counts[worker].odd);
        });
    for (std::thread &thread : threads)
        thread.join();
    std::uint32_t even = 0, odd = 0;
    for (const Count &count : counts)
        even += count.even, odd += count.odd;
    std::printf("%u even and %u odd digits\n", even, odd);
    return 0;
}
