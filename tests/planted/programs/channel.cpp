// A bounded channel between two threads; the reader takes what there is and gives back a batch.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

template <std::size_t Capacity> class Channel {
public:
    bool try_send(std::uint64_t value)
    {
        if (write_ - limit_ == 0) {
            limit_ = released_.load(std::memory_order_acquire) + Capacity;
            if (write_ == limit_)
                return false;
        }
        cells_[write_ % Capacity] = value;
        ++write_;
        if (write_ % 32 == 0)
            published_.store(write_, std::memory_order_release);
        return true;
    }

    void close() { published_.store(write_ | closed, std::memory_order_release); }

    template <class Use> bool receive(Use &&use)
    {
        const std::uint64_t seen = published_.load(std::memory_order_acquire);
        const std::uint64_t end = seen & ~closed;
        while (read_ != end) {
            use(cells_[read_ % Capacity]);
            ++read_;
        }
        released_.store(read_, std::memory_order_release);
        return (seen & closed) == 0;
    }

private:
    static constexpr std::uint64_t closed = std::uint64_t{1} << 63;
#ifdef FIXED
    alignas(64)
#endif
    std::uint64_t write_ = 0; // the sender's
    std::uint64_t limit_ = Capacity;
#ifdef FIXED
    alignas(64)
#endif
    std::uint64_t read_ = 0; // the receiver's
#ifdef FIXED
    alignas(64)
#endif
    std::atomic<std::uint64_t> published_{0};
    std::atomic<std::uint64_t> released_{0};
    alignas(64) std::array<std::uint64_t, Capacity> cells_{};
};

using Wire = Channel<512>;

static Wire wires[2]; // mark: wires

int main()
{
    constexpr std::uint64_t count = 24000;
    std::vector<std::thread> threads;
    std::array<std::uint64_t, 2> sums{};
    for (int w = 0; w < 2; ++w) {
        threads.emplace_back([w] {
            for (std::uint64_t i = 0; i < count; ++i)
                while (!wires[w].try_send(i * i))
                    std::this_thread::yield();
            wires[w].close();
        });
        threads.emplace_back([w, &sums] {
            std::uint64_t sum = 0;
            while (wires[w].receive([&](std::uint64_t value) { sum += value; }))
                std::this_thread::yield();
            sums[w] = sum;
        });
    }
    for (auto &thread : threads)
        thread.join();
    const std::uint64_t expected = (count - 1) * count * (2 * count - 1) / 6;
    std::printf("%llu %llu\n", (unsigned long long)sums[0], (unsigned long long)sums[1]);
    return sums[0] == expected && sums[1] == expected ? 0 : 1;
}
