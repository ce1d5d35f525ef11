/* The hooks that gcc and clang call before every access under -fsanitize=thread.
 *
 * The names and arguments are those of libtsan's public interface; the program counter recorded is
 * inside the calling instruction, so that it maps to the source line of the access.
 */
#include "hn.h"

#define PLAIN(name, kind, size)                                   \
    HN_HOOK void name(const void *address);                       \
    HN_HOOK void name(const void *address)                        \
    {                                                             \
        hn_ref(address, HN_WHAT(kind, size), HN_CALLER);          \
    }

#define PLAIN_PC(name, kind, size)                                \
    HN_HOOK void name(const void *address, void *pc);             \
    HN_HOOK void name(const void *address, void *pc)              \
    {                                                             \
        hn_ref(address, HN_WHAT(kind, size), (uintptr_t)pc);      \
    }

#define SIZES(prefix, suffix, kind, make) \
    make(prefix##1##suffix, kind, 1)      \
    make(prefix##2##suffix, kind, 2)      \
    make(prefix##4##suffix, kind, 4)      \
    make(prefix##8##suffix, kind, 8)      \
    make(prefix##16##suffix, kind, 16)

SIZES(__tsan_read, , HN_READ, PLAIN)
SIZES(__tsan_write, , HN_WRITE, PLAIN)
SIZES(__tsan_read, _pc, HN_READ, PLAIN_PC)
SIZES(__tsan_write, _pc, HN_WRITE, PLAIN_PC)
SIZES(__tsan_unaligned_read, , HN_READ, PLAIN)
SIZES(__tsan_unaligned_write, , HN_WRITE, PLAIN)
SIZES(__tsan_volatile_read, , HN_READ, PLAIN)
SIZES(__tsan_volatile_write, , HN_WRITE, PLAIN)
SIZES(__tsan_unaligned_volatile_read, , HN_READ, PLAIN)
SIZES(__tsan_unaligned_volatile_write, , HN_WRITE, PLAIN)

/* clang -mllvm -tsan-compound-read-before-write: a read and a write of one address. */
#define COMPOUND(name, kind, size)                                \
    HN_HOOK void name(const void *address);                       \
    HN_HOOK void name(const void *address)                        \
    {                                                             \
        hn_ref(address, HN_WHAT(HN_READ, size), HN_CALLER);       \
        hn_ref(address, HN_WHAT(kind, size), HN_CALLER);          \
    }

SIZES(__tsan_read_write, , HN_WRITE, COMPOUND)
SIZES(__tsan_unaligned_read_write, , HN_WRITE, COMPOUND)

HN_HOOK void __tsan_read_range(void *start, size_t size);
HN_HOOK void __tsan_read_range(void *start, size_t size)
{
    hn_range(start, size, HN_READ, HN_CALLER);
}

HN_HOOK void __tsan_write_range(void *start, size_t size);
HN_HOOK void __tsan_write_range(void *start, size_t size)
{
    hn_range(start, size, HN_WRITE, HN_CALLER);
}

HN_HOOK void __tsan_read_range_pc(void *start, size_t size, void *pc);
HN_HOOK void __tsan_read_range_pc(void *start, size_t size, void *pc)
{
    hn_range(start, size, HN_READ, (uintptr_t)pc);
}

HN_HOOK void __tsan_write_range_pc(void *start, size_t size, void *pc);
HN_HOOK void __tsan_write_range_pc(void *start, size_t size, void *pc)
{
    hn_range(start, size, HN_WRITE, (uintptr_t)pc);
}

/* A constructor or destructor stores the vtable pointer. */
HN_HOOK void __tsan_vptr_update(void **place, void *value);
HN_HOOK void __tsan_vptr_update(void **place, void *value)
{
    (void)value;
    hn_ref(place, HN_WHAT(HN_WRITE, sizeof *place), HN_CALLER);
}

/* A virtual call loads the vtable pointer. */
HN_HOOK void __tsan_vptr_read(void **place);
HN_HOOK void __tsan_vptr_read(void **place)
{
    hn_ref(place, HN_WHAT(HN_READ, sizeof *place), HN_CALLER);
}

/* Function entries and exits are not recorded: the program counter gives the function. */
HN_HOOK void __tsan_func_entry(void *caller);
HN_HOOK void __tsan_func_entry(void *caller)
{
    (void)caller;
}

HN_HOOK void __tsan_func_exit(void);
HN_HOOK void __tsan_func_exit(void) {}

HN_EXPORT void __tsan_init(void);
HN_EXPORT void __tsan_init(void)
{
    hn_start();
}

HN_EXPORT void __tsan_flush_memory(void);
HN_EXPORT void __tsan_flush_memory(void) {}

/* Programs may ask libtsan to ignore accesses; a recorder ignores none. */
#define NOTHING(name)            \
    HN_EXPORT void name(void);   \
    HN_EXPORT void name(void) {}

NOTHING(__tsan_ignore_thread_begin)
NOTHING(__tsan_ignore_thread_end)
NOTHING(__tsan_acquire)
NOTHING(__tsan_release)
NOTHING(__tsan_mutex_create)
NOTHING(__tsan_mutex_destroy)
NOTHING(__tsan_mutex_pre_lock)
NOTHING(__tsan_mutex_post_lock)
NOTHING(__tsan_mutex_pre_unlock)
NOTHING(__tsan_mutex_post_unlock)
NOTHING(__tsan_mutex_pre_signal)
NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert)
NOTHING(__tsan_mutex_post_divert)
