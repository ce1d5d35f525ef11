// Statistics of threads, an array for each statistic instead of a record for each thread.
#include <array>
#include <cstdint>
#include <iostream>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kThreads = 4;

#ifdef FIXED
struct alignas(64) Record {
    std::uint64_t hits, misses, steps;
};
std::array<Record, kThreads> record;
std::uint64_t &hits(std::size_t t) { return record[t].hits; }
std::uint64_t &misses(std::size_t t) { return record[t].misses; }
std::uint64_t &steps(std::size_t t) { return record[t].steps; }
#else
struct Scoreboard {
    std::array<std::uint64_t, kThreads> hits, misses, steps;
};
Scoreboard scoreboard; // mark: scoreboard
std::uint64_t &hits(std::size_t t) { return scoreboard.hits[t]; }
std::uint64_t &misses(std::size_t t) { return scoreboard.misses[t]; }
std::uint64_t &steps(std::size_t t) { return scoreboard.steps[t]; }
#endif

std::vector<std::uint32_t> table;

void probe(std::size_t self)
{
    for (std::uint32_t key = 0; key < 6000; ++key) {
        std::size_t slot = key * 2654435761u >> 24;
        for (int tries = 0; tries < 3 && table[slot] % 4 != key % 4; ++tries) {
            slot = (slot + 1) % table.size();
            ++steps(self);
        }
        if (table[slot] % 4 == key % 4)
            ++hits(self);
        else
            ++misses(self);
    }
}

} // namespace

int main()
{
    table.resize(256);
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<std::uint32_t>(i * i / 3);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
        threads.emplace_back(probe, t);
    for (auto &thread : threads)
        thread.join();
    std::uint64_t all = 0, found = 0, walked = 0;
    for (std::size_t t = 0; t < kThreads; ++t) {
        found += hits(t);
        all += hits(t) + misses(t);
        walked += steps(t);
    }
    std::cout << found << " found in " << walked << " steps\n";
    return all == kThreads * 6000 && found > 0 ? 0 : 1;
}
