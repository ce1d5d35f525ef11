// Cells that every thread updates in turn, under the cell's lock.
#include <array>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct alignas(64) Cell {
    std::mutex lock;
    int particles = 0;
    int charge = 0;
    double energy = 0.0;
};

static std::array<Cell, 32> cells;

static void visit(unsigned self)
{
    for (unsigned round = 0; round < 130; ++round)
        for (unsigned i = 0; i < cells.size(); ++i) {
            Cell &cell = cells[(i + 4 * self) % cells.size()];
            const std::lock_guard<std::mutex> guard(cell.lock);
            if (cell.charge <= 0)
                cell.charge += 3;
            else
                cell.charge -= 1;
            cell.particles += 1;
            cell.energy += 0.5;
        }
}

int main()
{
    constexpr unsigned threads = 8;
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back(visit, t);
    for (auto &t : pool)
        t.join();
    int particles = 0;
    double energy = 0.0;
    for (const auto &cell : cells) {
        particles += cell.particles;
        energy += cell.energy;
    }
    std::printf("%d particles, energy %.1f\n", particles, energy);
    return particles == 130 * 32 * 8 ? 0 : 1;
}
