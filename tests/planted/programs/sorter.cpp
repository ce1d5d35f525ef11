// Sorts an array in four parts with std::sort, then merges them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

int main()
{
    const std::size_t parts = 4, size = 1500;
    std::vector<std::uint32_t> data(parts * size);
    std::uint32_t x = 2463534242u;
    for (auto &value : data) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        value = x;
    }
    const auto at = [&](std::size_t part) {
        return data.begin() + static_cast<std::ptrdiff_t>(part * size);
    };
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < parts; ++p)
        threads.emplace_back([&at, p] { std::sort(at(p), at(p + 1)); });
    for (auto &thread : threads)
        thread.join();
    std::inplace_merge(at(0), at(1), at(2));
    std::inplace_merge(at(2), at(3), at(4));
    std::inplace_merge(at(0), at(2), at(4));
    std::printf("%u is the median\n", data[data.size() / 2]);
    return std::is_sorted(data.begin(), data.end()) ? 0 : 1;
}
