/* Allocation and mappings: the real call, then an event with the program counter of the caller.
 *
 * The C library's own entry points (__libc_malloc and so on) are used in dynamic programs, because
 * looking symbols up allocates.
 */
#include "hn.h"

#include <errno.h>
#include <sys/mman.h>

#ifdef HN_STATIC
#define MALLOC_REAL(name) (in_turn(), __real_##name)
#else
#define MALLOC_REAL(name) (in_turn(), __libc_##name)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t);
void *__libc_pvalloc(size_t);
void __libc_free(void *);
#endif

/* The caller's slot if its allocation is an event. A thread that is outside stays there. */
static struct hn_thread *recording(void)
{
    struct hn_thread *me = hn_me;

    if (me->state != HN_RUNNING || me->in_runtime || hn_c->order == 0)
        return NULL;
    if (hn_logical)
        hn_take_turn(me);
    return me;
}

/* Logical order: the memory that a thread gets depends on earlier allocations of others. */
static inline void in_turn(void)
{
    if (HN_UNLIKELY(hn_logical))
        recording();
}

static void *allocated(void *start, size_t size, uintptr_t pc, const void *frame)
{
    struct hn_thread *me = recording();

    if (me != NULL && start != NULL) {
        int saved_errno = errno;
        const uint64_t words[4] = {(uintptr_t)start, pc, size, hn_stack(me, frame, pc)};

        hn_event_with(me, HN_EV_ALLOC, words);
        errno = saved_errno;
    }
    return start;
}

static void freed(const void *start)
{
    struct hn_thread *me = recording();

    if (me != NULL && start != NULL) {
        int saved_errno = errno;

        hn_event(me, HN_EV_FREE, (uintptr_t)start, 0);
        errno = saved_errno;
    }
}

#ifdef HN_STATIC
#define ALLOCATOR(ret, name, params) INTERPOSE(ret, name, params)

static inline void *of_look_up(size_t size)
{
    (void)size;
    return NULL;
}

static inline int was_of_look_up(const void *start)
{
    (void)start;
    return 0;
}
#else
/* Memory for the loader while the runtime looks names up (resolve.c), or null. */
static inline void *of_look_up(size_t size)
{
    return HN_UNLIKELY(hn_resolving) ? hn_message(size) : NULL;
}

static inline int was_of_look_up(const void *start)
{
    return HN_UNLIKELY(hn_is_message(start));
}

#define ALLOCATOR(ret, name, params)                         \
    HN_EXPORT __attribute__((weak)) ret name params;         \
    HN_EXPORT __attribute__((weak)) ret name params
#endif

ALLOCATOR(void *, malloc, (size_t size))
{
    void *message = of_look_up(size);

    if (message != NULL)
        return message;
    return allocated(MALLOC_REAL(malloc)(size), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, calloc, (size_t count, size_t size))
{
    void *message = of_look_up(count * size);

    if (message != NULL)
        return message;
    return allocated(MALLOC_REAL(calloc)(count, size), count * size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void, free, (void *start))
{
    if (was_of_look_up(start))
        return;
    freed(start);
    MALLOC_REAL(free)(start);
}

ALLOCATOR(void, cfree, (void *start))
{
    freed(start);
    MALLOC_REAL(free)(start);
}

ALLOCATOR(void *, realloc, (void *old, size_t size))
{
    void *start = MALLOC_REAL(realloc)(old, size);

    if (start != NULL || size == 0)
        freed(old);
    return allocated(start, size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, reallocarray, (void *old, size_t count, size_t size))
{
    size_t bytes;
    void *start;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    start = MALLOC_REAL(realloc)(old, bytes);
    if (start != NULL || bytes == 0)
        freed(old);
    return allocated(start, bytes, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, memalign, (size_t alignment, size_t size))
{
    return allocated(MALLOC_REAL(memalign)(alignment, size), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, aligned_alloc, (size_t alignment, size_t size))
{
    return allocated(MALLOC_REAL(memalign)(alignment, size), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(int, posix_memalign, (void **start, size_t alignment, size_t size))
{
    void *block;

    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    block = MALLOC_REAL(memalign)(alignment, size);
    if (block == NULL)
        return ENOMEM;
    *start = allocated(block, size, HN_CALLER, HN_FRAME);
    return 0;
}

ALLOCATOR(void *, valloc, (size_t size))
{
    return allocated(MALLOC_REAL(valloc)(size), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, pvalloc, (size_t size))
{
    return allocated(MALLOC_REAL(pvalloc)(size), size, HN_CALLER, HN_FRAME);
}

#ifndef HN_STATIC
/* C++: the standard library's operators would hide the call site. They are called only when
 * memory is short, for the new handler and the exception. */
#define NEW(name)                                                              \
    INTERPOSE(void *, name, (size_t size))                                     \
    {                                                                          \
        void *start = MALLOC_REAL(malloc)(size == 0 ? 1 : size);               \
                                                                               \
        if (start == NULL)                                                     \
            start = REAL(name)(size);                                          \
        return allocated(start, size, HN_CALLER, HN_FRAME);                              \
    }

#define DELETE(name)                                                           \
    ALLOCATOR(void, name, (void *start))                                       \
    {                                                                          \
        freed(start);                                                          \
        MALLOC_REAL(free)(start);                                              \
    }

NEW(_Znwm)
NEW(_Znam)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
#endif
