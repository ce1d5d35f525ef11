// Orders are dealt to brokers as they come; each broker keeps a list and works through it.
#include <cstddef>
#include <cstdio>
#include <list>
#include <memory>
#include <memory_resource>
#include <thread>
#include <vector>

struct Order {
    unsigned shares;
    unsigned filled;
};

#ifdef FIXED
// Each book's orders lie in a stretch of their own.
using Book = std::pmr::list<Order>;
using Stretch = std::pmr::monotonic_buffer_resource;
#else
using Book = std::list<Order>;
#endif

static void place(Book &book, unsigned number)
{
    book.push_back(Order{70 + number % 40, 0}); // mark: books
}

static void trade(Book &book)
{
    for (unsigned day = 0; day < 120; ++day)
        for (Order &order : book)
            if (order.filled < order.shares)
                ++order.filled;
}

int main()
{
    constexpr unsigned brokers = 8, orders = 128;
#ifdef FIXED
    struct alignas(64) Buffer {
        std::byte bytes[orders * 32];
    };
    const std::unique_ptr<Buffer[]> buffers(new Buffer[brokers]);
    std::list<Stretch> stretches;
    std::list<Book> books;
    for (unsigned b = 0; b < brokers; ++b) {
        stretches.emplace_back(buffers[b].bytes, sizeof buffers[b].bytes);
        books.emplace_back(&stretches.back());
    }
#else
    std::vector<Book> books(brokers);
#endif
    for (unsigned n = 0; n < orders; ++n)
        for (auto &book : books)
            place(book, n);
    std::vector<std::thread> threads;
    for (auto &book : books)
        threads.emplace_back(trade, std::ref(book));
    for (auto &t : threads)
        t.join();
    unsigned long filled = 0, shares = 0;
    for (const auto &book : books)
        for (const auto &order : book) {
            filled += order.filled;
            shares += order.shares;
        }
    std::printf("%lu of %lu shares\n", filled, shares);
    return filled == shares ? 0 : 1;
}
