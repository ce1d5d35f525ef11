// Adaptive gradients: weights and sums of squares are two matrices whose rows are one line long,
// made by the same constructor; rows are dealt to the threads.
#include <cstddef>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t rows = 700, columns = 16;

#ifdef FIXED
template <class T> struct LineAllocator {
    using value_type = T;
    T *allocate(std::size_t n)
    {
        return static_cast<T *>(operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T *p, std::size_t) { operator delete(p, std::align_val_t{64}); }
    bool operator==(const LineAllocator &) const { return true; }
    bool operator!=(const LineAllocator &) const { return false; }
};
using Cells = std::vector<int, LineAllocator<int>>;
#else
using Cells = std::vector<int>;
#endif

struct Matrix {
    Cells cells;
    explicit Matrix(int value) : cells(rows * columns, value) {} // mark: cells
    int *row(std::size_t i) { return &cells[i * columns]; }
};

void descend(Matrix &weights, Matrix &squares, std::size_t first, std::size_t step)
{
    for (std::size_t i = first; i < rows; i += step) {
        int *weight = weights.row(i), *square = squares.row(i);
        for (int repeat = 0; repeat < 6; ++repeat)
            for (std::size_t j = 0; j < columns; ++j) {
                int gradient = static_cast<int>(i + j) % 7 - 3;
                square[j] += gradient * gradient;
                weight[j] -= gradient * 64 / square[j];
            }
    }
}

} // namespace

int main()
{
    const unsigned threads = 4;
    Matrix weights(0), squares(1);
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back([&, t] { descend(weights, squares, t, threads); });
    for (auto &thread : pool)
        thread.join();

    long sum = 0;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            sum += weights.row(i)[j] * static_cast<long>(j + 1);
    std::printf("%ld\n", sum);
    return 0;
}
