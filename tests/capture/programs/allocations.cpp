// All ways to allocate; says how far each block is from the one before it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) Wide {
    long values[8];
};
struct Plain {
    ~Plain() { values[0]++; }
    long values[4];
};

static char *before;

static void say(const char *form, void *block)
{
    char *at = static_cast<char *>(block);

    at[0] = 1;
    if (before != nullptr)
        printf("%s %ld\n", form, static_cast<long>(at - before));
    before = at;
}

static void in_c()
{
    char *line = nullptr, *text = nullptr;
    size_t size = 0;
    void *block = malloc(24);

    say("malloc", block);
    printf("usable %d\n", malloc_usable_size(block) >= 24);
    block = realloc(block, 5000);
    say("realloc", block);
    free(block);
    say("calloc", block = calloc(3, 100));
    say("reallocarray", block = reallocarray(block, 10, 100));
    free(block);
    say("aligned_alloc", block = aligned_alloc(256, 512));
    free(block);
    if (posix_memalign(&block, 128, 100) != 0)
        abort();
    say("posix_memalign", block);
    free(block);
    say("memalign", block = memalign(1024, 100));
    free(block);
    say("valloc", block = valloc(100));
    free(block);
#ifndef WITHOUT_PVALLOC
    say("pvalloc", block = pvalloc(100));
    free(block);
#endif
    say("strdup", text = strdup("text"));
    free(text);
    if (asprintf(&text, "%d and more than a few characters", 5) < 0)
        abort();
    say("asprintf", text);
    free(text);
    FILE *file = fopen("/proc/self/comm", "r");
    if (getline(&line, &size, file) < 0)
        abort();
    say("getline", line);
    free(line);
    fclose(file);
}

static void in_cpp()
{
    Plain *one = new Plain, *many = new Plain[3];
    Wide *wide = new Wide, *wides = new Wide[3];

    say("new", one);
    say("new[]", many);
    say("aligned new", wide);
    say("aligned new[]", wides);
    delete one;
    delete[] many;
    delete wide;
    delete[] wides;
    void *block = operator new(64, std::nothrow);
    say("nothrow new", block);
    operator delete(block);
    block = operator new[](64, std::nothrow);
    say("nothrow new[]", block);
    operator delete[](block, std::nothrow);
    std::vector<long> numbers(100, 1);
    say("vector", numbers.data());
    std::string longer(300, 'x');
    say("string", longer.data());
    std::thread([] { delete new Plain; }).join();
}

int main()
{
    static char buffer[1 << 12];

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    in_c();
    in_cpp();
    puts("done");
}
