/* Atomic operations that compilers leave to libatomic: of structures, of 16 bytes, and all of them
 * under -fno-inline-atomics. Recorded as one reference each; those that libatomic performs under a
 * lock of its own are performed by it, with no turn until they are done.
 */
#include "hn.h"

#ifdef HN_STATIC
#define LIBRARY(name) __asm__("__wrap___atomic_" name)
#else
#define LIBRARY(name) __asm__("__atomic_" name)
#endif
#define HN_CALLED HN_EXPORT __attribute__((weak))

#define CALLED_LOAD_STORE(bits, type, size)                                                   \
    HN_CALLED type hn_called_load##size(const volatile type *, int) LIBRARY("load_" #size);   \
    HN_CALLED type hn_called_load##size(const volatile type *a, int mo)                       \
    LOAD_BODY(bits, type, size)                                                               \
    HN_CALLED void hn_called_store##size(volatile type *, type, int) LIBRARY("store_" #size); \
    HN_CALLED void hn_called_store##size(volatile type *a, type v, int mo)                    \
    STORE_BODY(bits, size)                                                                    \
    HN_CALLED _Bool hn_called_compare##size(volatile type *, type *, type, int, int)          \
        LIBRARY("compare_exchange_" #size);                                                   \
    HN_CALLED _Bool hn_called_compare##size(volatile type *a, type *c, type v, int mo,        \
                                            int fail_mo)                                      \
    COMPARE_BODY(bits, size)

#define CALLED_MODIFY(bits, type, size, name)                                                 \
    HN_CALLED type hn_called_##name##size(volatile type *, type, int)                         \
        LIBRARY(#name "_" #size);                                                             \
    HN_CALLED type hn_called_##name##size(volatile type *a, type v, int mo)                   \
    MODIFY_BODY(bits, type, size, name)

#define CALLED(bits, type, size)                    \
    CALLED_LOAD_STORE(bits, type, size)             \
    CALLED_MODIFY(bits, type, size, exchange)       \
    CALLED_MODIFY(bits, type, size, fetch_add)      \
    CALLED_MODIFY(bits, type, size, fetch_sub)      \
    CALLED_MODIFY(bits, type, size, fetch_and)      \
    CALLED_MODIFY(bits, type, size, fetch_or)       \
    CALLED_MODIFY(bits, type, size, fetch_xor)      \
    CALLED_MODIFY(bits, type, size, fetch_nand)

CALLED(8, hn_u8, 1)
CALLED(16, hn_u16, 2)
CALLED(32, hn_u32, 4)
CALLED(64, hn_u64, 8)
#ifdef __SIZEOF_INT128__
CALLED(128, hn_u128, 16)
#endif

/* Any size: libatomic's own locks are neither recorded nor waited for in turns. */
static void begin_any(const volatile void *object, size_t size, uint64_t kind, int mo,
                      uintptr_t pc)
{
    struct hn_thread *me;

    if (size <= 64)
        hn_ref_ordered(object, what(kind, size, mo), pc);
    else
        hn_range((const void *)object, size, kind, pc);
    me = hn_me;
    me->in_runtime++;
    me->no_yield++;
}

static void end_any(int mo)
{
    struct hn_thread *me = hn_me;

    me->no_yield--;
    me->in_runtime--;
    after(mo);
}

#define ANY_SIZE(ret, name, kind, mo, object, params, ...)                             \
    ANY_DECLARE(ret, name, params);                                                    \
    HN_CALLED ret hn_called_##name params LIBRARY(#name);                              \
    HN_CALLED ret hn_called_##name params                                              \
    {                                                                                  \
        begin_any(object, size, kind, mo, HN_CALLER);                                  \
        ANY_RESULT_##ret REAL_ATOMIC(name)(__VA_ARGS__);                               \
        end_any(mo);                                                                   \
        ANY_RETURN_##ret;                                                              \
    }
#define ANY_RESULT_void
#define ANY_RETURN_void return
#define ANY_RESULT_int int result =
#define ANY_RETURN_int return result
#ifdef HN_STATIC
/* Weak: a program that calls none of them is linked without libatomic. */
#define ANY_DECLARE(ret, name, params) \
    extern ret __real___atomic_##name params __attribute__((weak))
#define REAL_ATOMIC(name) __real___atomic_##name
#else
#define ANY_DECLARE(ret, name, params) HN_DECLARE_REAL(ret, __atomic_##name, params)
#define REAL_ATOMIC(name) REAL(__atomic_##name)
#endif

ANY_SIZE(void, load, HN_READ, mo, from, (size_t size, void *from, void *to, int mo), size, from,
         to, mo)
ANY_SIZE(void, store, HN_WRITE, mo, to, (size_t size, void *to, void *from, int mo), size, to,
         from, mo)
ANY_SIZE(void, exchange, HN_ATOMIC, mo, object,
         (size_t size, void *object, void *value, void *old, int mo), size, object, value, old, mo)
ANY_SIZE(int, compare_exchange, HN_ATOMIC, mo, object,
         (size_t size, void *object, void *expected, void *desired, int mo, int fail_mo), size,
         object, expected, desired, mo, fail_mo)
