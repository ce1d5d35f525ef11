// A price list: lookups go without the lock that guards the list of changes.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class alignas(64) PriceList {
public:
    explicit PriceList(std::size_t articles) : cents_(articles)
    {
        for (std::size_t i = 0; i < articles; ++i)
            cents_[i] = static_cast<int>(100 + i % 37);
    }
    int price(std::size_t article) const
    {
        return cents_[article] * factor_.load(std::memory_order_relaxed) / 100;
    }
    void note(int change)
    {
        std::lock_guard<std::mutex> guard(lock_);
        ++changes_;
        sum_ += change;
    }
    long changes() const { return changes_; }
    long sum() const { return sum_; }

private:
    std::vector<int> cents_;
    std::atomic<int> factor_{119}; // so that it can be read without the lock
#ifdef FIXED
    alignas(64)
#endif
    std::mutex lock_;
    long changes_ = 0;
    long sum_ = 0;
};

int main()
{
    constexpr int tills = 7, sales = 12000, changes = 9000;
    const auto list = std::make_unique<PriceList>(256); // mark: list
    std::vector<long> revenue(tills);
    std::vector<std::thread> threads;
    for (int t = 0; t < tills; ++t)
        threads.emplace_back([&list, &revenue, t] {
            long sum = 0;
            for (int i = 0; i < sales; ++i)
                sum += list->price((i * 7 + t) % 256);
            revenue[t] = sum;
        });
    threads.emplace_back([&list] { // head office
        for (int i = 0; i < changes; ++i)
            list->note(i % 3 - 1);
    });
    for (auto &thread : threads)
        thread.join();

    long total = 0;
    for (long r : revenue)
        total += r;
    std::printf("%ld cents, %ld changes, %+ld\n", total, list->changes(), list->sum());
    return list->changes() == changes && list->sum() == 0 && total > 0 ? 0 : 1;
}
