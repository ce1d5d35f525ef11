// Textures count their users; the count is written all the time, the other members never.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

class Texture {
public:
    explicit Texture(int width) : width_(width), height_(width / 2), bias_(width % 7) {}
    void acquire() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() { references_.fetch_sub(1, std::memory_order_release); }
    int references() const { return references_.load(); }
    int texel(int u, int v) const { return (u % width_) * (v % height_) + bias_; }

private:
    int width_;
    int height_;
    int bias_;
#ifdef FIXED
    alignas(64)
#endif
    std::atomic<int> references_{1};
};

int main()
{
    constexpr int threads = 8, spans = 500, pixels = 12;
    std::vector<std::unique_ptr<Texture>> textures;
    for (int i = 0; i < 4; ++i)
        textures.push_back(std::make_unique<Texture>(64 << i)); // mark: textures
    std::vector<std::vector<int>> lines(threads);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
            std::vector<int> line(pixels);
            for (int s = 0; s < spans; ++s) {
                Texture &texture = *textures[(s / 20 + t) % 4];
                texture.acquire();
                for (int p = 0; p < pixels; ++p)
                    line[p] += texture.texel(s + p, t + p);
                texture.release();
            }
            lines[t] = std::move(line);
        });
    for (auto &thread : pool)
        thread.join();
    long sum = 0;
    int references = 0;
    for (const auto &line : lines)
        for (int value : line)
            sum += value;
    for (const auto &texture : textures)
        references += texture->references();
    std::printf("%ld, %d references\n", sum, references);
    return references == 4 && sum > 0 ? 0 : 1;
}
