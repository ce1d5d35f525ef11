// Shuffles decks of cards; the random engines of all threads are in one vector.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

struct Engine {
#ifdef FIXED
    alignas(64)
#endif
    std::minstd_rand next;
};

using Deck = std::vector<std::size_t>;

static void shuffle(Deck &deck, Engine &engine)
{
    for (std::size_t i = deck.size() - 1; i > 0; --i)
        std::swap(deck[i], deck[engine.next() % (i + 1)]);
}

int main()
{
    constexpr int players = 8, games = 90;
    std::vector<Engine> engines(players); // mark: engines
    std::vector<std::size_t> top(players), all(players);
    for (int p = 0; p < players; ++p)
        engines[p].next.seed(1000 + p);
    std::vector<std::thread> threads;
    for (int p = 0; p < players; ++p)
        threads.emplace_back([&, p] {
            Deck deck(52);
            std::iota(deck.begin(), deck.end(), 0);
            for (int g = 0; g < games; ++g)
                shuffle(deck, engines[p]);
            top[p] = deck[0];
            all[p] = std::accumulate(deck.begin(), deck.end(), std::size_t{0});
        });
    for (auto &t : threads)
        t.join();
    std::printf("top cards %zu to %zu\n", top.front(), top.back());
    return all == std::vector<std::size_t>(players, 51 * 52 / 2) ? 0 : 1;
}
