// Small actors, made by main one after the other and each driven by a thread of its own.
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

class Actor {
public:
    explicit Actor(int seed) : state_(seed) {}
    void receive(unsigned message)
    {
        if (message % 4 == state_ % 4)
            ++answered_;
        state_ = state_ * 5 + message;
    }
    unsigned state() const { return state_; }
    int answered() const { return answered_; }

#ifdef FIXED
    static void *operator new(std::size_t n) { return ::operator new(n, std::align_val_t{64}); }
    static void operator delete(void *p) { ::operator delete(p, std::align_val_t{64}); }
#endif

private:
    unsigned state_;
    int answered_ = 0;
#ifdef FIXED
    char pad_[56] = {};
#endif
};

int main()
{
    constexpr int actors = 8, rounds = 32;
    std::vector<unsigned> script(256);
    for (unsigned i = 0; i < script.size(); ++i)
        script[i] = i * 2654435761u >> 7;
    std::vector<std::unique_ptr<Actor>> stage;
    for (int i = 0; i < actors; ++i)
        stage.push_back(std::make_unique<Actor>(i)); // mark: stage
    std::vector<std::thread> threads;
    for (auto &actor : stage)
        threads.emplace_back([&script, a = actor.get()] {
            for (int i = 0; i < rounds; ++i)
                for (unsigned message : script)
                    a->receive(message);
        });
    for (auto &t : threads)
        t.join();

    unsigned sum = 0;
    int answered = 0;
    for (const auto &actor : stage) {
        sum ^= actor->state();
        answered += actor->answered();
    }
    std::printf("%d answers, state %08x\n", answered, sum);
    return answered > 0 && answered < actors * rounds * 256 ? 0 : 1;
}
