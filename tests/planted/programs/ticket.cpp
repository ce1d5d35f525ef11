// A queue of tickets: one lock, taken by all for each ticket. The twin takes sixteen at a time.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct TicketOffice {
    alignas(64) std::mutex lock;
    alignas(64) unsigned next = 0;
};

TicketOffice office;

unsigned take(unsigned count)
{
    const std::lock_guard<std::mutex> guard(office.lock);
    const unsigned first = office.next;
    office.next += count;
    return first;
}

} // namespace

int main()
{
    constexpr unsigned threads = 8, tickets = 36000;
#ifdef FIXED
    constexpr unsigned batch = 16;
#else
    constexpr unsigned batch = 1;
#endif
    std::vector<unsigned long> sums(threads);
    std::vector<std::thread> clerks;
    for (unsigned t = 0; t < threads; ++t)
        clerks.emplace_back([&sums, t] {
            unsigned long sum = 0;
            std::vector<unsigned long> seen(16);
            for (;;) {
                const unsigned first = take(batch);
                if (first >= tickets)
                    break;
                for (unsigned n = first; n < first + batch; ++n)
                    seen[n % 16] += n;
            }
            for (unsigned long s : seen)
                sum += s;
            sums[t] = sum;
        });
    for (auto &clerk : clerks)
        clerk.join();
    unsigned long sum = 0;
    for (unsigned long s : sums)
        sum += s;
    std::printf("%lu\n", sum);
    return sum == tickets * (tickets - 1ul) / 2 ? 0 : 1;
}
