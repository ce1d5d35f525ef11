// A web cache's hit counters, one atomic for each thread, read by a monitor now and then.
#include <array>
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

class HitCounters {
public:
    static constexpr int kThreads = 4;

    void hit(int thread) { slot_[thread].value.fetch_add(1, std::memory_order_relaxed); }

    long total() const
    {
        long sum = 0;
        for (const auto &slot : slot_)
            sum += slot.value.load(std::memory_order_relaxed);
        return sum;
    }

private:
    struct Slot {
#ifdef FIXED
        alignas(64)
#endif
        std::atomic<long> value{0};
    };
    std::array<Slot, kThreads> slot_;
};

static HitCounters counters; // mark: counters
static std::array<int, 2048> cached;

static void serve(int self)
{
    unsigned url = 12345u + self;
    for (int request = 0; request < 30000; ++request) {
        url = url * 1103515245u + 12345u;
        if (cached[(url >> 8) % cached.size()] != 0)
            counters.hit(self);
    }
}

int main()
{
    for (std::size_t i = 0; i < cached.size(); ++i)
        cached[i] = i % 16 != 0;
    std::vector<std::thread> servers;
    for (int i = 0; i < HitCounters::kThreads; ++i)
        servers.emplace_back(serve, i);
    for (auto &s : servers)
        s.join();
    const long total = counters.total();
    std::cout << total << " hits\n";
    return total > 108000 && total < 117000 ? 0 : 1;
}
