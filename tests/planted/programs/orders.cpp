// Orders are dealt to brokers as they come; each broker keeps a list and works through it.
#include <cstdio>
#include <list>
#include <thread>
#include <vector>

struct Order {
    unsigned shares;
    unsigned filled;
};

using Book = std::list<Order>;

static void place(Book &book, unsigned number)
{
    book.push_back(Order{10 + number % 30, 0}); // mark: books
}

static void trade(Book &book)
{
    for (unsigned day = 0; day < 40; ++day)
        for (Order &order : book)
            if (order.filled < order.shares)
                ++order.filled;
}

int main()
{
    constexpr unsigned brokers = 8, orders = 128;
    std::vector<Book> books(brokers);
#ifdef FIXED
    for (unsigned b = 0; b < brokers; ++b)
        for (unsigned n = 0; n < orders; ++n)
            place(books[b], n);
#else
    for (unsigned n = 0; n < orders; ++n)
        for (auto &book : books)
            place(book, n);
#endif
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
