// A pipeline of three stages with properly separated queues; blocks of numbers are handed on whole.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct alignas(64) Block {
    std::array<unsigned, 512> values;
};

class alignas(64) Queue {
public:
    void push(Block *block)
    {
        std::unique_lock<std::mutex> hold(mutex_);
        space_.wait(hold, [this] { return filled_ < slots_.size(); });
        slots_[(first_ + filled_++) % slots_.size()] = block;
        data_.notify_one();
    }
    Block *pop()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        data_.wait(hold, [this] { return filled_ > 0; });
        Block *block = slots_[first_];
        first_ = (first_ + 1) % slots_.size();
        --filled_;
        space_.notify_one();
        return block;
    }

private:
    std::mutex mutex_;
    std::condition_variable data_, space_;
    std::array<Block *, 4> slots_{};
    std::size_t first_ = 0, filled_ = 0;
};

int main()
{
    constexpr unsigned blocks = 200;
    auto made = std::make_unique<Queue>();
    auto squared = std::make_unique<Queue>();
    std::vector<Block> store(blocks);
    unsigned long total = 0;
    std::thread source([&made, &store] {
        for (unsigned b = 0; b < blocks; ++b) {
            Block *block = &store[b];
            for (unsigned i = 0; i < block->values.size(); ++i)
                block->values[i] = b + i;
            made->push(block);
        }
        made->push(nullptr);
    });
    std::thread square([&made, &squared] {
        while (Block *block = made->pop()) {
            for (unsigned &value : block->values)
                value *= value;
            squared->push(block);
        }
        squared->push(nullptr);
    });
    std::thread sink([&squared, &total] {
        unsigned long sum = 0;
        while (Block *block = squared->pop()) {
            for (unsigned value : block->values)
                sum += value;
        }
        total = sum;
    });
    source.join();
    square.join();
    sink.join();
    unsigned long expected = 0;
    for (unsigned long b = 0; b < blocks; ++b)
        for (unsigned long i = 0; i < 512; ++i)
            expected += (b + i) * (b + i);
    std::printf("%lu\n", total);
    return total == expected ? 0 : 1;
}
