// A sharded set; keys are dealt so that each thread mostly meets its own shard.
#include <cstdint>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kShards = 8;
constexpr unsigned kKeys = 3000;

struct
#ifdef FIXED
    alignas(64)
#endif
    Shard {
    std::mutex mutex;
    std::uint32_t entries = 0;
    std::uint32_t digest = 0;

    void add(std::uint32_t key)
    {
        const std::lock_guard<std::mutex> hold(mutex);
        if (key % 16 != 0)
            ++entries;
        digest ^= key * 2654435761u;
    }
};

class ShardedSet {
public:
    ShardedSet() : shards_(kShards) {} // mark: shards_
    void add(unsigned shard, std::uint32_t key) { shards_[shard].add(key); }
    unsigned entries() const
    {
        unsigned n = 0;
        for (const Shard &s : shards_)
            n += s.entries;
        return n;
    }

private:
    std::vector<Shard> shards_;
};

} // namespace

int main()
{
    ShardedSet set;
    std::vector<std::thread> writers;
    for (unsigned w = 0; w < kShards; ++w)
        writers.emplace_back([&set, w] {
            for (std::uint32_t i = 0; i < kKeys; ++i)
                set.add(i % 512 == 0 ? (w + 1) % kShards : w, w * kKeys + i);
        });
    for (std::thread &w : writers)
        w.join();
    std::cout << set.entries() << " entries\n";
    return set.entries() == kShards * kKeys / 16 * 15 ? 0 : 1;
}
