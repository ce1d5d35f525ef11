/* Calls of every allocation function, each with a size of its own. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void *allocate_function(size_t);

static void *later(size_t size)
{
    return size > 20000 ? malloc(size) : NULL; /* line: tail */
}

/* At first the call returns from a function that allocates nothing. */
static allocate_function *volatile chosen = later;

static __attribute__((noinline)) void *choose(size_t size)
{
    return chosen(size);
}

static __attribute__((noinline)) void *deep(int depth, size_t size)
{
    char *block;

    if (depth > 0) {
        block = deep(depth - 1, size);
        block[0]++;
        return block;
    }
    block = malloc(size); /* line: deep */
    return memset(block, 1, size);
}

int main(void)
{
    void *place = NULL;
    char *block = malloc(10001);

    block = realloc(block, 10002);
    block = reallocarray(block, 3, 10003);
    free(block);
    memset(calloc(10, 1011), 1, 10);
    memset(memalign(64, 10005), 1, 10);
    memset(aligned_alloc(64, 10048), 1, 10);
    if (posix_memalign(&place, 128, 10007) != 0)
        return 1;
    free(place);
    memset(valloc(10008), 1, 10);
    for (size_t i = 0; i < 4; i++)
        if (choose(19999 + i) != NULL)
            memset(choose(20000 + i), 1, 8);
    for (int i = 0; i < 3; i++)
        deep(40 + i, 10009);
    block = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    block[0] = 1;
    return 0;
}
