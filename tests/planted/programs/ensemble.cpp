// An ensemble of random walks. A vector fills itself with zeros, in the thread that makes it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

constexpr std::size_t members = 4, walkers = 16384, steps = 4;

static void walk(int *position, unsigned seed)
{
    for (std::size_t s = 0; s < steps; ++s)
        for (std::size_t w = 0; w < walkers; ++w) {
            seed = seed * 1664525u + 1013904223u;
            position[w] += seed >> 31 ? 1 : -1;
        }
}

int main()
{
#ifdef FIXED
    // Not touched yet, and every band begins at a page.
    void *pages = std::aligned_alloc(4096, members * walkers * sizeof(int));
    const std::unique_ptr<int[], decltype(&std::free)> positions(static_cast<int *>(pages),
                                                                 std::free);
#else
    std::vector<int> positions(members * walkers); // mark: positions
#endif
    std::vector<std::thread> pool;
    for (std::size_t m = 0; m < members; ++m)
        pool.emplace_back([&positions, m] {
            int *own = &positions[m * walkers];
#ifdef FIXED
            for (std::size_t w = 0; w < walkers; ++w)
                own[w] = 0;
#endif
            walk(own, static_cast<unsigned>(m));
        });
    for (auto &thread : pool)
        thread.join();
    long odd = 0, far = 0;
    for (std::size_t i = 0; i < members * walkers; i += 64) {
        odd += positions[i] % 2 != 0;
        far += positions[i] == 2;
    }
    std::printf("%ld odd, %ld far\n", odd, far);
    return odd == 0 && far > 0 ? 0 : 1;
}
