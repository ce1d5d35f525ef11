// Checksums of records; worker w takes records w, w + workers, ... and writes the results so.
#include <cstdint>
#include <iostream>
#include <new>
#include <thread>
#include <vector>

#ifdef FIXED
// Memory that begins at a line, so that the workers' bands do.
template <class T> struct Aligned {
    using value_type = T;
    T *allocate(std::size_t n)
    {
        return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T *p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
};
using Sums = std::vector<std::uint32_t, Aligned<std::uint32_t>>;
#else
using Sums = std::vector<std::uint32_t>;
#endif

class Summer {
public:
    Summer(std::size_t records, std::size_t words)
        : words_(words), data_(records * words), sums_(records) // mark: sums_
    {
        for (std::size_t i = 0; i < data_.size(); ++i)
            data_[i] = static_cast<std::uint32_t>(i * 40503u);
    }
    void run(unsigned self, unsigned workers)
    {
        for (unsigned round = 0; round < rounds; ++round)
            sweep(self, workers);
    }
    std::uint32_t expected(std::size_t record) const
    {
        std::uint32_t sum = 0;
        for (unsigned round = 0; round < rounds; ++round)
            for (std::size_t w = 0; w < words_; ++w)
                sum = sum * 33 + data_[record * words_ + w];
        return sum;
    }
    const Sums &sums() const { return sums_; }

private:
    static constexpr unsigned rounds = 36;

    void sweep(unsigned self, unsigned workers)
    {
#ifdef FIXED
        const std::size_t band = sums_.size() / workers;
        for (std::size_t r = self * band; r < (self + 1) * band; ++r)
#else
        for (std::size_t r = self; r < sums_.size(); r += workers)
#endif
        {
            std::uint32_t sum = sums_[r];
            for (std::size_t w = 0; w < words_; ++w)
                sum = sum * 33 + data_[r * words_ + w];
            sums_[r] = sum;
        }
    }
    std::size_t words_;
    std::vector<std::uint32_t> data_;
    Sums sums_;
};

int main()
{
    constexpr unsigned workers = 8;
    Summer summer(640, 4);
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < workers; ++w)
        threads.emplace_back(&Summer::run, &summer, w, workers);
    for (auto &thread : threads)
        thread.join();
    std::uint32_t all = 0;
    for (std::uint32_t sum : summer.sums())
        all ^= sum;
    std::cout << std::hex << all << '\n';
    for (std::size_t r = 0; r < summer.sums().size(); r += 100)
        if (summer.sums()[r] != summer.expected(r))
            return 1;
    return 0;
}
