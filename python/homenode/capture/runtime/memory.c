/* Allocation: the call of the program's own allocator, then an event with the program counter of
 * the caller.
 *
 * The allocator is the one that the plain program would use: functions that the program defines
 * itself, or the next ones in the symbol search, of a library that was preloaded or linked, or
 * those of the C library. Calls in the program and its own libraries are renamed (--wrap), because
 * the program's own functions come before ours.
 */
#include "hn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define EXPORT_MALLOC(ret, name, params)                                              \
    HN_EXPORT ret name params __attribute__((weak, alias("hn_own_" #name)));          \
    HN_EXPORT ret __wrap_##name params __attribute__((alias("hn_own_" #name)))

#ifdef HN_STATIC
#define ALLOCATOR(ret, name, params) INTERPOSE(ret, name, params)
#define ALLOCATE(name) __real_##name
#else
/* `name` is the program's own function if it defines one, else ours. */
#define ALLOCATOR(ret, name, params)                                                  \
    HN_DECLARE_REAL(ret, name, params);                                               \
    static ret hn_own_##name params;                                                  \
    EXPORT_MALLOC(ret, name, params);                                                 \
    static ret hn_own_##name params
#define ALLOCATE(name)                                                                \
    ((hn_type_##name *)next_allocator((void *)name, (void *)hn_own_##name,            \
                                      &hn_slot_##name, #name))

static inline void *next_allocator(void *defined, void *own, void **slot, const char *name)
{
    __asm__("" : "+r"(defined));            /* it is ours only if the program has none */
    if (HN_UNLIKELY(defined != own))
        return defined;
    return HN_LIKELY(*slot != NULL) ? *slot : hn_resolve(slot, name);
}
#endif

/* How many of the allocator's functions the thread is in: one may call another. */
static __thread int allocating __attribute__((tls_model("initial-exec")));

/* The caller's slot if its allocation is an event. A thread that is outside stays there. */
static struct hn_thread *recording(void)
{
    struct hn_thread *me = hn_me;

    if (me->state != HN_RUNNING || me->in_runtime || hn_c->order == 0 || allocating)
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

static int begin_allocating(void)
{
    in_turn();
    return allocating++;
}

static void end_allocating(const int *before)
{
    allocating = *before;
}

/* The value of a call of the allocator, which may throw. */
#define WITHIN(call)                                                                      \
    ({                                                                                    \
        const int outside __attribute__((cleanup(end_allocating))) = begin_allocating();  \
                                                                                          \
        call;                                                                             \
    })

ALLOCATOR(void *, malloc, (size_t size))
{
    return allocated(WITHIN(ALLOCATE(malloc)(size)), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, calloc, (size_t count, size_t size))
{
    return allocated(WITHIN(ALLOCATE(calloc)(count, size)), count * size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void, free, (void *start))
{
    /* The loader frees null while it looks this name up. */
    if (start == NULL)
        return;
    freed(start);
    WITHIN(ALLOCATE(free)(start));
}

/* The C library has it no more, so it is not passed on. */
#ifdef HN_STATIC
INTERPOSE_DECLARED(void, cfree, (void *start))
#else
HN_EXPORT void cfree(void *start) __attribute__((weak));
HN_EXPORT void cfree(void *start)
#endif
{
    freed(start);
    WITHIN(ALLOCATE(free)(start));
}

/* A null block is allocated; a block of no bytes may be freed. */
static void *reallocated(void *old, void *start, size_t size, uintptr_t pc, const void *frame)
{
    if (start != NULL || size == 0)
        freed(old);
    return allocated(start, size, pc, frame);
}

ALLOCATOR(void *, realloc, (void *old, size_t size))
{
    return reallocated(old, WITHIN(ALLOCATE(realloc)(old, size)), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, reallocarray, (void *old, size_t count, size_t size))
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocated(old, WITHIN(ALLOCATE(realloc)(old, bytes)), bytes, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, memalign, (size_t alignment, size_t size))
{
    return allocated(WITHIN(ALLOCATE(memalign)(alignment, size)), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, aligned_alloc, (size_t alignment, size_t size))
{
    return allocated(WITHIN(ALLOCATE(aligned_alloc)(alignment, size)), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(int, posix_memalign, (void **start, size_t alignment, size_t size))
{
    const int error = WITHIN(ALLOCATE(posix_memalign)(start, alignment, size));

    if (error == 0)
        allocated(*start, size, HN_CALLER, HN_FRAME);
    return error;
}

ALLOCATOR(void *, valloc, (size_t size))
{
    return allocated(WITHIN(ALLOCATE(valloc)(size)), size, HN_CALLER, HN_FRAME);
}

ALLOCATOR(void *, pvalloc, (size_t size))
{
    return allocated(WITHIN(ALLOCATE(pvalloc)(size)), size, HN_CALLER, HN_FRAME);
}

#ifndef HN_STATIC
/* C++: the standard library's operators would hide the call site. A program in C may load a library
 * in C++ whose operators are not among those after the program's: then malloc and free serve. */
typedef const void *nothrow;

static void *without_operator(size_t alignment, size_t size)
{
    size = size == 0 ? 1 : size;
    return alignment == 0 ? ALLOCATE(malloc)(size) : ALLOCATE(memalign)(alignment, size);
}

#define NEW(name, alignment, params, ...)                                                     \
    ALLOCATOR(void *, name, params)                                                           \
    {                                                                                         \
        hn_type_##name *next = ALLOCATE(name);                                                \
        void *start =                                                                         \
            WITHIN(next != NULL ? next(__VA_ARGS__) : without_operator(alignment, size));     \
                                                                                              \
        return allocated(start, size, HN_CALLER, HN_FRAME);                                   \
    }

#define DELETE(name, params, ...)                                                             \
    ALLOCATOR(void, name, params)                                                             \
    {                                                                                         \
        hn_type_##name *next = ALLOCATE(name);                                                \
                                                                                              \
        freed(start);                                                                         \
        if (next != NULL)                                                                     \
            WITHIN(next(__VA_ARGS__));                                                        \
        else                                                                                  \
            WITHIN(ALLOCATE(free)(start));                                                    \
    }

NEW(_Znwm, 0, (size_t size), size)
NEW(_Znam, 0, (size_t size), size)
NEW(_ZnwmRKSt9nothrow_t, 0, (size_t size, nothrow t), size, t)
NEW(_ZnamRKSt9nothrow_t, 0, (size_t size, nothrow t), size, t)
NEW(_ZnwmSt11align_val_t, a, (size_t size, size_t a), size, a)
NEW(_ZnamSt11align_val_t, a, (size_t size, size_t a), size, a)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, a, (size_t size, size_t a, nothrow t), size, a, t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, a, (size_t size, size_t a, nothrow t), size, a, t)
DELETE(_ZdlPv, (void *start), start)
DELETE(_ZdaPv, (void *start), start)
DELETE(_ZdlPvm, (void *start, size_t size), start, size)
DELETE(_ZdaPvm, (void *start, size_t size), start, size)
DELETE(_ZdlPvRKSt9nothrow_t, (void *start, nothrow t), start, t)
DELETE(_ZdaPvRKSt9nothrow_t, (void *start, nothrow t), start, t)
DELETE(_ZdlPvSt11align_val_t, (void *start, size_t a), start, a)
DELETE(_ZdaPvSt11align_val_t, (void *start, size_t a), start, a)
DELETE(_ZdlPvmSt11align_val_t, (void *start, size_t size, size_t a), start, size, a)
DELETE(_ZdaPvmSt11align_val_t, (void *start, size_t size, size_t a), start, size, a)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *start, size_t a, nothrow t), start, a, t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *start, size_t a, nothrow t), start, a, t)
#endif
