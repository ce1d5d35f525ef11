/* An allocator: a pool at a fixed address, blocks behind a mark. A block of another allocator, or
 * one of its own that is freed by another, ends the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define POOL ((char *)0x200000000000)
enum { POOL_BYTES = 1 << 26, MARK = 0x6b636f6c };

struct mark {
    size_t size;
    size_t mark;
};

static size_t used;

static void *block(size_t alignment, size_t size)
{
    size_t at;
    struct mark *mark;

    if (used == 0 && mmap(POOL, POOL_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != POOL)
        abort();
    alignment = alignment < 16 ? 16 : alignment;
    at = (used + sizeof(struct mark) + alignment - 1) / alignment * alignment;
    used = at + size;
    mark = (struct mark *)(POOL + at) - 1;
    *mark = (struct mark){size, MARK};
    return POOL + at;
}

static struct mark *mark_of(void *start)
{
    struct mark *mark = (struct mark *)start - 1;

    if ((uintptr_t)start - (uintptr_t)POOL >= POOL_BYTES || mark->mark != MARK)
        abort();
    return mark;
}

void *malloc(size_t size)
{
    return block(16, size);
}

void *calloc(size_t count, size_t size)
{
    return block(16, count * size);
}

void free(void *start)
{
    if (start != NULL)
        mark_of(start)->mark = 0;
}

void *realloc(void *old, size_t size)
{
    void *start = block(16, size);

    if (old != NULL) {
        memcpy(start, old, mark_of(old)->size < size ? mark_of(old)->size : size);
        free(old);
    }
    return start;
}

void *memalign(size_t alignment, size_t size)
{
    return block(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return block(alignment, size);
}

int posix_memalign(void **start, size_t alignment, size_t size)
{
    *start = block(alignment, size);
    return 0;
}

void *valloc(size_t size)
{
    return block(4096, size);
}

void *pvalloc(size_t size)
{
    return block(4096, (size + 4095) / 4096 * 4096);
}

size_t malloc_usable_size(void *start)
{
    return start == NULL ? 0 : mark_of(start)->size;
}

#ifdef OPERATORS
/* Blocks of new are not those of malloc: 1 KB apart. */
static void *made(size_t alignment, size_t size)
{
    used += 1024;
    return block(alignment, size);
}

void *_Znwm(size_t size) { return made(16, size); }
void *_Znam(size_t size) { return made(16, size); }
void *_ZnwmRKSt9nothrow_t(size_t size, void *t) { return made(16, size); }
void *_ZnamRKSt9nothrow_t(size_t size, void *t) { return made(16, size); }
void *_ZnwmSt11align_val_t(size_t size, size_t a) { return made(a, size); }
void *_ZnamSt11align_val_t(size_t size, size_t a) { return made(a, size); }
void _ZdlPv(void *start) { free(start); }
void _ZdaPv(void *start) { free(start); }
void _ZdlPvm(void *start, size_t size) { free(start); }
void _ZdaPvm(void *start, size_t size) { free(start); }
void _ZdlPvSt11align_val_t(void *start, size_t a) { free(start); }
void _ZdaPvSt11align_val_t(void *start, size_t a) { free(start); }
void _ZdlPvmSt11align_val_t(void *start, size_t size, size_t a) { free(start); }
#endif
