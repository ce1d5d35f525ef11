// What C++ programs do with threads.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual int sides() const = 0;
};
struct Square : Shape {
    int sides() const override { return 4; }
};
struct Triangle : Shape {
    int sides() const override { return 3; }
};

thread_local int own = 0;

int expensive()
{
    static int value = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return 9;
    }();
    return value;
}

int futures()
{
    std::promise<int> promise;
    std::future<int> answer = promise.get_future();
    std::thread setter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        promise.set_value(40);
    });
    int sum = answer.get();
    setter.join();
    sum += std::async(std::launch::async, [] { return 2; }).get();
    std::packaged_task<int()> task([]() -> int { throw std::runtime_error("no"); });
    auto result = task.get_future();
    std::thread runner(std::move(task));
    try {
        result.get();
    } catch (const std::runtime_error &error) {
        sum += static_cast<int>(std::string(error.what()).size());
    }
    runner.join();
    return sum;
}

int meetings()
{
    constexpr int threads = 4;
    std::barrier meet(threads);
    std::latch started(threads);
    std::counting_semaphore<4> permits(2);
    std::atomic<int> stage = 0;
    std::once_flag once;
    std::shared_mutex shared;
    std::mutex mutex;
    std::condition_variable changed;
    int total = 0, onces = 0;
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; t++)
        pool.emplace_back([&, t] {
            started.arrive_and_wait();
            std::call_once(once, [&] { onces++; });
            own = t;
            for (int i = 0; i < 20; i++) {
                permits.acquire();
                {
                    std::unique_lock hold(shared);
                    total += own >= 0;
                }
                permits.release();
                {
                    std::shared_lock look(shared);
                    if (own < 0)
                        total++;
                }
                meet.arrive_and_wait();
            }
            expensive();
            std::unique_lock lock(mutex);
            stage++;
            stage.notify_all();
            changed.notify_all();
        });
    int seen = stage.load();
    while (seen < threads) {
        stage.wait(seen);
        seen = stage.load();
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stage == threads; });
    changed.wait_for(lock, std::chrono::milliseconds(1), [] { return false; });
    return total + onces;
}

int stopping()
{
    std::atomic<int> loops = 0;
    std::jthread loop([&](std::stop_token token) {
        while (!token.stop_requested())
            loops++;
    });
    while (loops < 10)
        std::this_thread::yield();
    loop.request_stop();
    loop.join();
    return loops >= 10;
}

int thrown_in_once()
{
    std::once_flag once;
    int tries = 0;
    for (int i = 0; i < 3; i++)
        try {
            std::call_once(once, [&] {
                if (++tries < 2)
                    throw tries;
            });
        } catch (int) {
        }
    return tries;
}

} // namespace

int main()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Square>());
    shapes.push_back(std::make_unique<Triangle>());
    int sides = 0;
    for (const auto &shape : shapes)
        sides += shape->sides();
    std::map<std::string, int> names{{"one", 1}, {"a rather long name for a key", 2}};
    std::cout << sides << ' ' << futures() << ' ' << meetings() << ' ' << stopping() << ' '
              << thrown_in_once() << ' ' << names.size() << '\n';
}
