// One thread reads blocks and one writes them; what each has done is a field of a
// local structure, which has a line of its own as a whole.
#include <cstdio>
#include <thread>

namespace {

constexpr long blocks = 30000;

#ifdef FIXED
#define APART alignas(64)
#else
#define APART
#endif

struct alignas(64) Progress {
    long block_bytes = 512;
    APART long bytes_read = 0;
    APART long bytes_written = 0;
};

void advance(const long &block_bytes, volatile long &bytes)
{
    for (long block = 0; block < blocks; ++block)
        bytes = bytes + block_bytes;
}

} // namespace

int main()
{
    Progress progress; // mark: progress
    std::thread reader([&progress] { advance(progress.block_bytes, progress.bytes_read); });
    std::thread writer([&progress] { advance(progress.block_bytes, progress.bytes_written); });
    reader.join();
    writer.join();
    std::printf("read %ld, wrote %ld bytes\n", progress.bytes_read, progress.bytes_written);
    return 0;
}
