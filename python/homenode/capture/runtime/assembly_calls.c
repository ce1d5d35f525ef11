/* What the hooks in the assembly (assembly.c) call when their fast path does not do. */
#include "hn.h"

__attribute__((used)) static void slow_update(const void *address, uint64_t what, uintptr_t pc)
{
    begin();
    if (!hn_recording)
        return;
    hn_me->no_yield++;
    hn_ref(address, what, pc);
    hn_ref(address, what | (uint64_t)HN_WRITE << HN_KIND_SHIFT, pc);
    hn_me->no_yield--;
}

__attribute__((used)) static void slow_ordered(const void *address, uint64_t what, uintptr_t pc)
{
    hn_ref_ordered(address, what, pc);
}

__attribute__((used)) static void slow_after(void)
{
    if (hn_me->limit != NULL && !hn_deterministic())
        hn_stamp(hn_me);
}

__attribute__((used)) static void slow_read_range(const void *start, size_t size, uintptr_t pc)
{
    begin();
    touch(start, size, HN_READ, pc);
}

__attribute__((used)) static void slow_write_range(const void *start, size_t size, uintptr_t pc)
{
    begin();
    touch(start, size, HN_WRITE, pc);
}

__attribute__((used)) static void slow_update_range(const void *start, size_t size, uintptr_t pc)
{
    begin();
    touch(start, size, HN_READ, pc);
    touch(start, size, HN_WRITE, pc);
}

/* Where the hook of a gather, scatter or masked access finds its registers. */
struct lane_registers {
    union {
        int32_t four[16];
        int64_t eight[8];
    } index;
    union {
        int32_t four[16];
        int64_t eight[8];
        uint64_t bits;
    } mask;
};

/* Records the elements that are accessed, with no turn between them. */
__attribute__((used)) static void record_lanes(const char *base, uint64_t what,
                                               const struct lane_registers *now)
{
    const unsigned count = what & 0xff, size = what >> 8 & 0xf, indexed = what >> 12 & 0xf;
    const unsigned scale = what >> 16 & 0xf, masked = what >> 20 & 0xf;
    const uint64_t kind = what >> 24 & 1 ? HN_WRITE : HN_READ;
    const int packed = what >> 25 & 1;
    const uintptr_t pc = ((const uintptr_t *)now)[-1] - 1;
    unsigned done = 0;

    begin();
    for (unsigned i = 0; i < count; i++) {
        const int active = masked == 4   ? now->mask.four[i] < 0
                           : masked == 8 ? now->mask.eight[i] < 0
                                         : (now->mask.bits >> i & 1) != 0;
        const int64_t offset = indexed == 4   ? now->index.four[i] * (int64_t)scale
                               : indexed == 8 ? now->index.eight[i] * (int64_t)scale
                                              : (int64_t)(packed ? done : i) * size;

        if (active) {
            touch(base + offset, size, kind, pc);
            done++;
        }
    }
}

/* The direction flag. */
#define BACKWARDS 0x400

/* The registers of a string instruction, as its hook has saved them. */
struct string_registers {
    uint64_t count;             /* rcx */
    uint64_t rdx;
    const char *from;           /* rsi */
    uint64_t flags;
    uint64_t value;             /* rax */
    uintptr_t next_pc;
    const char *to;             /* rdi, saved by the instrumented code */
};

/* Elements that a search or comparison reads: up to and including the one that decides. */
#define DECIDED(type, size, differs)                                                            \
    static size_t decided_##differs##size(const type *a, const type *b, type value,            \
                                          size_t count, int step)                               \
    {                                                                                           \
        for (size_t i = 0; i < count; i++, a += step, b += b != NULL ? step : 0)                \
            if ((*a == (b != NULL ? *b : value)) == (differs))                                  \
                return (i + 1) * (size);                                                        \
        return count * (size);                                                                  \
    }

/* With the direction flag the elements are below the first one. */
static const char *lowest(const char *first, size_t bytes, size_t size, uint64_t flags)
{
    return (flags & BACKWARDS) != 0 && bytes != 0 ? first - (bytes - size) : first;
}

#define STRING_HOOK(name, size, ...)                                                            \
    __attribute__((used)) static void string_##name##size(const struct string_registers *now,   \
                                                          size_t count, uint64_t flags)         \
    {                                                                                           \
        const uintptr_t pc = now->next_pc - 1;                                                  \
        const int step = (flags & BACKWARDS) != 0 ? -1 : 1;                                     \
        size_t bytes = count * (size);                                                          \
                                                                                                \
        begin();                                                                                \
        (void)step;                                                                             \
        __VA_ARGS__                                                                             \
    }
#define TOUCH(at, size, kind) touch(lowest(now->at, bytes, size, flags), bytes, kind, pc);
#define SCAN(type, size, differs)                                                               \
    bytes = decided_##differs##size((const type *)now->to, NULL, (type)now->value, count, step); \
    TOUCH(to, size, HN_READ)
#define COMPARE_BOTH(type, size, differs)                                                       \
    bytes = decided_##differs##size((const type *)now->from, (const type *)now->to, 0, count,   \
                                    step);                                                      \
    TOUCH(from, size, HN_READ)                                                                  \
    TOUCH(to, size, HN_READ)

#define STRING_HOOKS(size, type)                                                                \
    DECIDED(type, size, 0)                                                                      \
    DECIDED(type, size, 1)                                                                      \
    STRING_HOOK(copy, size, TOUCH(from, size, HN_READ) TOUCH(to, size, HN_WRITE))               \
    STRING_HOOK(fill, size, TOUCH(to, size, HN_WRITE))                                          \
    STRING_HOOK(load, size, TOUCH(from, size, HN_READ))                                         \
    STRING_HOOK(scan, size, SCAN(type, size, 1))                                                \
    STRING_HOOK(scan_ne, size, SCAN(type, size, 0))                                             \
    STRING_HOOK(compare, size, COMPARE_BOTH(type, size, 1))                                     \
    STRING_HOOK(compare_ne, size, COMPARE_BOTH(type, size, 0))

STRING_HOOKS(1, uint8_t)
STRING_HOOKS(2, uint16_t)
STRING_HOOKS(4, uint32_t)
STRING_HOOKS(8, uint64_t)
