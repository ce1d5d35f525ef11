// Evolution on islands: each thread makes its population itself, and keeps it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

class Island {
public:
    explicit Island(std::uint32_t seed) : genes_(4096), seed_(seed)
    {
        for (auto &gene : genes_)
            gene = next();
    }
    void evolve(int generations)
    {
        for (int g = 0; g < generations; ++g)
            for (std::size_t i = 1; i < genes_.size(); ++i)
                if (genes_[i] > genes_[i - 1])
                    genes_[i] = (genes_[i] & 0xffff0000u) | (genes_[i - 1] & 0xffffu);
    }
    std::uint32_t fittest() const { return *std::max_element(genes_.begin(), genes_.end()); }

private:
    std::uint32_t next()
    {
        seed_ ^= seed_ << 13;
        seed_ ^= seed_ >> 17;
        seed_ ^= seed_ << 5;
        return seed_;
    }
    std::vector<std::uint32_t> genes_;
    std::uint32_t seed_;
};

int main()
{
    std::vector<std::uint32_t> best(4);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < best.size(); ++t)
        threads.emplace_back([&best, t] {
            Island island(t + 1);
            island.evolve(4);
            best[t] = island.fittest();
        });
    for (auto &thread : threads)
        thread.join();
    const auto fittest = *std::max_element(best.begin(), best.end());
    std::printf("%u\n", fittest);
    return fittest > 4000000000u ? 0 : 1;
}
