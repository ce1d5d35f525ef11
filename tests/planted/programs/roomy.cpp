// Histograms of each thread, aligned to 256 bytes: more than necessary, and no problem.
#include <array>
#include <cstdio>
#include <thread>
#include <vector>

struct alignas(256) Histogram {
    std::array<unsigned, 10> bins{};
};

int main()
{
    constexpr unsigned threads = 8, values = 9000;
    std::vector<Histogram> histograms(threads);
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back([&h = histograms[t], t] {
            unsigned x = t;
            for (unsigned i = 0; i < values; ++i) {
                x = x * 1103515245u + 12345u;
                ++h.bins[(x >> 16) % 10];
            }
        });
    for (auto &thread : pool)
        thread.join();
    unsigned all = 0;
    for (const auto &h : histograms)
        for (unsigned bin : h.bins)
            all += bin;
    std::printf("%u values\n", all);
    return all == threads * values ? 0 : 1;
}
