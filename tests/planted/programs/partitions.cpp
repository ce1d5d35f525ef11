// Partitions numbers for a sort: every thread fills its own vector of a vector of vectors.
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#ifdef FIXED
struct alignas(64) Part : std::vector<std::uint32_t> {};
#else
using Part = std::vector<std::uint32_t>;
#endif

int main()
{
    constexpr unsigned threads = 8, numbers = 18000;
    std::vector<std::uint32_t> input(numbers);
    std::uint32_t x = 1;
    for (auto &value : input)
        value = x = x * 747796405u + 2891336453u;

    std::vector<Part> parts(threads); // mark: parts
    std::vector<std::thread> pool;
    for (auto &part : parts)
        part.reserve(numbers / threads * 2);
    for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back([&input, &parts, t] {
            for (std::uint32_t value : input)
                if (value >> 29 == t)
                    parts[t].push_back(value);
        });
    for (auto &thread : pool)
        thread.join();

    std::size_t all = 0;
    std::uint64_t sum = 0, expected = 0;
    for (const auto &part : parts) {
        all += part.size();
        for (auto value : part)
            sum += value;
    }
    for (auto value : input)
        expected += value;
    std::printf("%zu numbers in %zu parts\n", all, parts.size());
    return all == numbers && sum == expected ? 0 : 1;
}
