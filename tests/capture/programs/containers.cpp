// Heap objects of C++: containers, strings, `new`, in functions that are inlined or not.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace shop {
struct Tally {
    long hits;
    long misses;
};
struct Node {
    Node *next;
    int key;
    Tally tally;
};
}  // namespace shop

static constexpr int THREADS = 4;
static constexpr int ROUNDS = 200;

static std::mutex guard;
static shop::Tally totals[THREADS];

static shop::Node *prepend(shop::Node *list, int key) {
    return new shop::Node{list, key, {0, 0}};  // line: node
}

static std::vector<shop::Tally> tallies() {
    std::vector<shop::Tally> counts;
    for (int i = 0; i < THREADS; i++)
        counts.push_back({0, 0});  // line: vector
    return counts;
}

static void index(std::unordered_map<int, shop::Tally> &map) {
    for (int i = 0; i < 16; i++)
        map[i].hits = i;  // line: map
}

static std::vector<std::string> names() {
    std::vector<std::string> words;
    words.reserve(THREADS);  // line: reserve
    for (int i = 0; i < THREADS; i++)
        words.emplace_back(40, static_cast<char>('a' + i));  // line: string
    return words;
}

int main() {
    std::vector<shop::Tally> counts = tallies();
    std::unordered_map<int, shop::Tally> map;
    std::vector<std::string> words = names();
    auto unique = std::make_unique<shop::Tally>();  // line: unique
    auto shared = std::make_shared<shop::Tally>();  // line: shared
    shop::Node *list = nullptr;

    index(map);
    for (int i = 0; i < THREADS; i++)
        list = prepend(list, i);
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < ROUNDS; i++) {
                counts[t].hits++;
                totals[t].misses++;
                words[t][0]++;
                std::lock_guard<std::mutex> held(guard);
                map[i % 16].misses++;
                unique->hits++;
                shared->misses++;
                for (shop::Node *node = list; node; node = node->next)
                    node->tally.hits++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%ld %ld\n", counts[0].hits, map[3].misses);
    while (list) {
        shop::Node *next = list->next;
        delete list;
        list = next;
    }
}
