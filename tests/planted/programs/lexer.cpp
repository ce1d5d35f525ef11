// Classifies the characters of a text, one char each, again after each edit; thread t does
// characters t, t + threads, ...
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

enum Class : char { blank, letter, digit, other };

static const std::vector<char> &class_of()
{
    static const std::vector<char> table = [] {
        std::vector<char> t(256, other);
        t[' '] = t['\n'] = blank;
        for (int c = 'a'; c <= 'z'; ++c)
            t[c] = letter;
        for (int c = '0'; c <= '9'; ++c)
            t[c] = digit;
        return t;
    }();
    return table;
}

static void classify(int version, std::size_t self, std::size_t threads, const std::string &text,
                     std::vector<char> &classes)
{
    const std::vector<char> &table = class_of();
#ifdef FIXED
    const std::size_t band = text.size() / threads;
    for (std::size_t i = self * band; i < (self + 1) * band; ++i)
#else
    for (std::size_t i = self; i < text.size(); i += threads)
#endif
        classes[i] = static_cast<char>(table[static_cast<unsigned char>(text[i])] + version);
}

int main()
{
    const std::size_t threads = 4;
    std::string text;
    while (text.size() < 8000)
        text += "for i in 1 2 3\n do x9 = x8 + i;\n";
    text.resize(8000);
    std::vector<char> classes(text.size()); // mark: classes
    class_of();
    std::vector<std::thread> pool;
    for (std::size_t t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
            for (int version = 8; version >= 0; --version)
                classify(version, t, threads, text, classes);
        });
    for (auto &t : pool)
        t.join();
    std::vector<long> count(4);
    for (char c : classes)
        ++count[c];
    std::printf("%ld blanks, %ld letters, %ld digits\n", count[blank], count[letter], count[digit]);
    return count[blank] == 3250 && count[digit] == 1250 ? 0 : 1;
}
