/* Atomic operations: recorded, then performed. libtsan's hooks perform the operation themselves, so
 * ours must too; always sequentially consistent, which every weaker order allows.
 *
 * A load is a read, a store a write, everything else an atomic read-modify-write, including a
 * failing compare-and-exchange. An order stronger than relaxed makes it a synchronisation variable.
 */
#include "hn.h"

typedef uint8_t hn_u8;
typedef uint16_t hn_u16;
typedef uint32_t hn_u32;
typedef uint64_t hn_u64;

static inline uint64_t what(uint64_t kind, uint64_t size, int order)
{
    /* gcc puts hints for lock elision above bit 15. */
    uint64_t sync = (order & 0x7fff) != __ATOMIC_RELAXED;

    return HN_WHAT(kind, size) | (sync << HN_SYNC_BIT);
}

/* Free order: records after an acquiring operation must not be merged before it. */
static inline void after(int order)
{
    struct hn_thread *me = hn_me;

    if ((order & 0x7fff) != __ATOMIC_RELAXED && me->limit != NULL && !hn_deterministic())
        hn_stamp(me);
}

/* What an operation does, for every name by which compilers call it. */
#define LOAD_BODY(bits, type, size)                                                           \
    {                                                                                         \
        hn_ref_ordered(a, what(HN_READ, size, mo), HN_CALLER);                                \
        type value = hn_load##bits(a);                                                        \
        after(mo);                                                                            \
        return value;                                                                         \
    }
#define STORE_BODY(bits, size)                                                                \
    {                                                                                         \
        hn_ref_ordered(a, what(HN_WRITE, size, mo), HN_CALLER);                               \
        hn_store##bits(a, v);                                                                 \
    }
#define MODIFY_BODY(bits, type, size, name)                                                   \
    {                                                                                         \
        hn_ref_ordered(a, what(HN_ATOMIC, size, mo), HN_CALLER);                              \
        type old = hn_##name##bits(a, v);                                                     \
        after(mo);                                                                            \
        return old;                                                                           \
    }
#define COMPARE_BODY(bits, size)                                                              \
    {                                                                                         \
        (void)fail_mo;                                                                        \
        hn_ref_ordered(a, what(HN_ATOMIC, size, mo), HN_CALLER);                              \
        int done = hn_compare##bits(a, c, v);                                                 \
        after(mo);                                                                            \
        return done;                                                                          \
    }

#define LOAD_STORE(bits, type, size)                                                          \
    HN_HOOK type __tsan_atomic##bits##_load(const volatile type *a, int mo);                  \
    HN_HOOK type __tsan_atomic##bits##_load(const volatile type *a, int mo)                   \
    LOAD_BODY(bits, type, size)                                                               \
    HN_HOOK void __tsan_atomic##bits##_store(volatile type *a, type v, int mo);               \
    HN_HOOK void __tsan_atomic##bits##_store(volatile type *a, type v, int mo)                \
    STORE_BODY(bits, size)

#define MODIFY(bits, type, size, name)                                                        \
    HN_HOOK type __tsan_atomic##bits##_##name(volatile type *a, type v, int mo);              \
    HN_HOOK type __tsan_atomic##bits##_##name(volatile type *a, type v, int mo)               \
    MODIFY_BODY(bits, type, size, name)

#define COMPARE(bits, type, size, name)                                                       \
    HN_HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile type *a, type *c,      \
                                                              type v, int mo, int fail_mo);   \
    HN_HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile type *a, type *c,      \
                                                              type v, int mo, int fail_mo)    \
    COMPARE_BODY(bits, size)

#define COMPARE_VALUE(bits, type, size)                                                       \
    HN_HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c,         \
                                                            type v, int mo, int fail_mo);     \
    HN_HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c,         \
                                                            type v, int mo, int fail_mo)      \
    {                                                                                         \
        (void)fail_mo;                                                                        \
        hn_ref_ordered(a, what(HN_ATOMIC, size, mo), HN_CALLER);                               \
        (void)hn_compare##bits(a, &c, v);                                                     \
        after(mo);                                                                            \
        return c;                                                                             \
    }

#define ALL(bits, type, size)               \
    LOAD_STORE(bits, type, size)            \
    MODIFY(bits, type, size, exchange)      \
    MODIFY(bits, type, size, fetch_add)     \
    MODIFY(bits, type, size, fetch_sub)     \
    MODIFY(bits, type, size, fetch_and)     \
    MODIFY(bits, type, size, fetch_or)      \
    MODIFY(bits, type, size, fetch_xor)     \
    MODIFY(bits, type, size, fetch_nand)    \
    COMPARE(bits, type, size, strong)       \
    COMPARE(bits, type, size, weak)         \
    COMPARE_VALUE(bits, type, size)

#define BUILTIN(bits, type, name, builtin)                                     \
    static inline type hn_##name##bits(volatile type *a, type v)               \
    {                                                                          \
        return builtin(a, v, __ATOMIC_SEQ_CST);                                \
    }

#define BUILTINS(bits, type)                                                   \
    static inline type hn_load##bits(const volatile type *a)                   \
    {                                                                          \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                           \
    }                                                                          \
    static inline void hn_store##bits(volatile type *a, type v)                \
    {                                                                          \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                              \
    }                                                                          \
    static inline int hn_compare##bits(volatile type *a, type *c, type v)      \
    {                                                                          \
        return __atomic_compare_exchange_n(a, c, v, 0, __ATOMIC_SEQ_CST,       \
                                           __ATOMIC_SEQ_CST);                  \
    }                                                                          \
    BUILTIN(bits, type, exchange, __atomic_exchange_n)                         \
    BUILTIN(bits, type, fetch_add, __atomic_fetch_add)                         \
    BUILTIN(bits, type, fetch_sub, __atomic_fetch_sub)                         \
    BUILTIN(bits, type, fetch_and, __atomic_fetch_and)                         \
    BUILTIN(bits, type, fetch_or, __atomic_fetch_or)                           \
    BUILTIN(bits, type, fetch_xor, __atomic_fetch_xor)                         \
    BUILTIN(bits, type, fetch_nand, __atomic_fetch_nand)

BUILTINS(8, hn_u8)
BUILTINS(16, hn_u16)
BUILTINS(32, hn_u32)
BUILTINS(64, hn_u64)
ALL(8, hn_u8, 1)
ALL(16, hn_u16, 2)
ALL(32, hn_u32, 4)
ALL(64, hn_u64, 8)

#ifdef __SIZEOF_INT128__
/* Sixteen bytes: built on compare-and-swap (x86-64: cmpxchg16b), because libatomic would use locks,
 * which are interposed. */
typedef unsigned __int128 hn_u128;

static inline hn_u128 hn_swap128(volatile hn_u128 *a, hn_u128 expected, hn_u128 v)
{
    return __sync_val_compare_and_swap(a, expected, v);
}

static inline hn_u128 hn_load128(const volatile hn_u128 *a)
{
    return hn_swap128((volatile hn_u128 *)a, 0, 0);
}

static inline int hn_compare128(volatile hn_u128 *a, hn_u128 *c, hn_u128 v)
{
    hn_u128 old = hn_swap128(a, *c, v);
    int done = old == *c;

    *c = old;
    return done;
}

#define LOOP(name, result)                                                     \
    static inline hn_u128 hn_##name##128(volatile hn_u128 *a, hn_u128 v)       \
    {                                                                          \
        hn_u128 old = hn_load128(a);                                           \
        while (!hn_compare128(a, &old, result)) {                              \
        }                                                                      \
        return old;                                                            \
    }

LOOP(exchange, v)
LOOP(fetch_add, old + v)
LOOP(fetch_sub, old - v)
LOOP(fetch_and, old & v)
LOOP(fetch_or, old | v)
LOOP(fetch_xor, old ^ v)
LOOP(fetch_nand, ~(old & v))

static inline void hn_store128(volatile hn_u128 *a, hn_u128 v)
{
    (void)hn_exchange128(a, v);
}

ALL(128, hn_u128, 16)
#endif

HN_HOOK void __tsan_atomic_thread_fence(int mo);
HN_HOOK void __tsan_atomic_thread_fence(int mo)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    after(mo);
}

HN_HOOK void __tsan_atomic_signal_fence(int mo);
HN_HOOK void __tsan_atomic_signal_fence(int mo)
{
    (void)mo;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
