// Spelling: all threads look words up in one sorted dictionary, by bisection.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using Word = std::uint64_t;

class Dictionary {
public:
    explicit Dictionary(std::size_t words) : words_(new Word[words]), size_(words) // mark: words_
    {
        for (std::size_t i = 0; i < words; ++i)
            words_[i] = i * 1000 + i % 7;
    }
    Dictionary(const Dictionary &other) : words_(new Word[other.size_]), size_(other.size_)
    {
        std::copy_n(other.words_.get(), size_, words_.get());
    }
    bool knows(Word word) const
    {
        std::size_t low = 0, high = size_;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (words_[middle] < word)
                low = middle + 1;
            else
                high = middle;
        }
        return low < size_ && words_[low] == word;
    }

private:
    std::unique_ptr<Word[]> words_;
    std::size_t size_;
};

static unsigned check(const Dictionary &dictionary, unsigned self)
{
    unsigned known = 0;
    std::uint32_t x = self * 7919;
    for (int i = 0; i < 2400; ++i) {
        x = x * 747796405u + 2891336453u;
        const Word n = (x >> 8) % 3000;
        known += dictionary.knows(n * 1000 + (x >> 4) % 2 + n % 7);
    }
    return known;
}

int main()
{
    const Dictionary dictionary(3000);
#ifdef FIXED
    std::unique_ptr<Dictionary> copies[2]; // threads of one parity run on one node
    std::mutex mutex;
    std::condition_variable made;
#endif
    std::vector<unsigned> known(8);
    std::vector<std::thread> checkers;
    for (unsigned t = 0; t < known.size(); ++t)
        checkers.emplace_back([&, t] {
#ifdef FIXED
            {
                std::unique_lock<std::mutex> hold(mutex);
                if (t < 2) {
                    copies[t] = std::make_unique<Dictionary>(dictionary);
                    made.notify_all();
                }
                made.wait(hold, [&] { return copies[t % 2] != nullptr; });
            }
            known[t] = check(*copies[t % 2], t);
#else
            known[t] = check(dictionary, t);
#endif
        });
    for (auto &checker : checkers)
        checker.join();
    unsigned sum = 0;
    for (unsigned k : known)
        sum += k;
    std::cout << sum << " words are known\n";
    return sum > 9000 && sum < 10200 ? 0 : 1;
}
