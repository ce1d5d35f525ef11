// Letter frequencies: each thread has its own counters in a vector.
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

#ifdef FIXED
struct alignas(64) Tally {
#else
struct Tally {
#endif
    long vowels = 0;
    long others = 0;
};

void scan(const std::string &text, std::size_t from, std::size_t to, Tally &tally)
{
    for (std::size_t i = from; i < to; ++i) {
        switch (text[i]) {
        case 'a': case 'e': case 'i': case 'o': case 'u':
            ++tally.vowels;
            break;
        default:
            ++tally.others;
        }
    }
}

} // namespace

int main()
{
    const unsigned threads = 8;
    std::string text;
    for (int i = 0; i < 40000; ++i)
        text += "the quick brown fox jumps over a lazy dog"[i % 41];

    std::vector<Tally> tallies(threads); // mark: tallies
    std::vector<std::thread> pool;
    const std::size_t part = text.size() / threads;
    for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back(scan, std::cref(text), t * part, (t + 1) * part, std::ref(tallies[t]));
    for (auto &thread : pool)
        thread.join();

    long vowels = 0, all = 0;
    for (const auto &tally : tallies) {
        vowels += tally.vowels;
        all += tally.vowels + tally.others;
    }
    std::printf("%ld vowels in %ld characters\n", vowels, all);
    return all == static_cast<long>(text.size()) && vowels == 10731 ? 0 : 1;
}
