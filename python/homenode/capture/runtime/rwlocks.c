/* Reader-writer locks and spin locks, as mutexes.c does mutexes. */
#include "fields.h"

#include <errno.h>
#include <limits.h>

/* The fields, and a bit of the first: a writer has the lock, or had it last. The accesses are those
 * of glibc 2.36; the word that takes the lock comes first, as for mutexes. */
enum {
    READERS = offsetof(pthread_rwlock_t, __data.__readers),
    WRITERS = offsetof(pthread_rwlock_t, __data.__writers),
    PHASE_FUTEX = offsetof(pthread_rwlock_t, __data.__wrphase_futex),
    WRITERS_FUTEX = offsetof(pthread_rwlock_t, __data.__writers_futex),
    WRITER = offsetof(pthread_rwlock_t, __data.__cur_writer),
    SHARED = offsetof(pthread_rwlock_t, __data.__shared),
    PREFERENCE = offsetof(pthread_rwlock_t, __data.__flags),
    WRITE_PHASE = 1,
};

static const hn_field hn_reads[] = {A(READERS), R(WRITER), R(PREFERENCE), 0};
static const hn_field hn_reads_politely[] = {R(READERS), A(READERS), R(WRITER), R(PREFERENCE), 0};
static const hn_field hn_begins_phase[] = {A(READERS), A(PHASE_FUTEX), 0};
static const hn_field hn_writes[] = {R(READERS), A(READERS), R(WRITER), 0};
static const hn_field hn_has_written_before[] = {W(WRITERS_FUTEX), W(WRITER), 0};
static const hn_field hn_has_begun_writing[] = {W(WRITERS_FUTEX), A(READERS), A(READERS),
                                             W(PHASE_FUTEX), W(WRITER), 0};
static const hn_field hn_tries_reading[] = {R(READERS), 0};
static const hn_field hn_has_begun_phase[] = {A(PHASE_FUTEX), 0};
static const hn_field hn_tries_writing[] = {R(READERS), R(PREFERENCE), 0};
static const hn_field hn_has_begun_trying[] = {W(WRITERS_FUTEX), W(PHASE_FUTEX), W(WRITER), 0};
static const hn_field hn_ends_reading[] = {R(WRITER), R(SHARED), R(READERS), A(READERS), 0};
static const hn_field hn_ends_writing[] = {R(WRITER), R(SHARED), W(WRITER), A(WRITERS_FUTEX),
                                        R(PREFERENCE), R(READERS), A(READERS), 0};
static const hn_field hn_ends_writing_politely[] = {
    R(WRITER), R(SHARED),  W(WRITER),  A(WRITERS_FUTEX), R(PREFERENCE),
    R(WRITERS), R(READERS), A(READERS), 0};
_Static_assert(READERS == 0, "hn_lock_word is the word that takes a lock");

/* What the present state of the lock decides: what a thread accesses once it has it. */
typedef void look_call(const pthread_rwlock_t *l, struct hn_taking *taking);
typedef int lock_call(pthread_rwlock_t *l);

static int is_polite(const pthread_rwlock_t *l)
{
    return l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static int writes_now(const pthread_rwlock_t *l)
{
    return (l->__data.__readers & WRITE_PHASE) != 0;
}

static void look_to_read(const pthread_rwlock_t *l, struct hn_taking *taking)
{
    taking->asks = is_polite(l) ? hn_reads_politely : hn_reads;
    taking->has = writes_now(l) ? hn_begins_phase : hn_no_fields;
}

static void look_to_write(const pthread_rwlock_t *l, struct hn_taking *taking)
{
    taking->asks = hn_writes;
    taking->has = writes_now(l) ? hn_has_written_before : hn_has_begun_writing;
}

static void look_to_try_reading(const pthread_rwlock_t *l, struct hn_taking *taking)
{
    taking->asks = hn_tries_reading;
    taking->takes = hn_lock_word;
    taking->has = writes_now(l) ? hn_has_begun_phase : hn_no_fields;
}

static void look_to_try_writing(const pthread_rwlock_t *l, struct hn_taking *taking)
{
    taking->asks = hn_tries_writing;
    taking->takes = hn_lock_word;
    taking->has = writes_now(l) ? hn_has_written_before : hn_has_begun_trying;
}

static struct hn_taking taking_of(const pthread_rwlock_t *l, look_call *look, uintptr_t pc)
{
    struct hn_taking taking = {l, pc, hn_no_fields, hn_no_fields, hn_no_fields};

    look(l, &taking);
    return taking;
}

static int take_rwlock(struct hn_taking *taking, look_call *look, lock_call *try,
                       int64_t timeout_ns)
{
    pthread_rwlock_t *l = (pthread_rwlock_t *)taking->lock;
    struct hn_thread *me = hn_me;
    int result;

    if (timeout_ns != 0 && hn_ask_lock(me, l, timeout_ns) == ETIMEDOUT)
        return ETIMEDOUT;
    for (;;) {
        look(l, taking);
        result = try(l);
        if (result != EBUSY || hn_c->order == 0)
            return result;
        if (l->__data.__cur_writer == me->tid)
            return EDEADLK;
        if (timeout_ns == 0 ||
            hn_wait_for_lock(me, l, timeout_ns, l->__data.__shared) == ETIMEDOUT)
            return ETIMEDOUT;
    }
}

#define TRY(name, look)                                                   \
    INTERPOSE(int, name, (pthread_rwlock_t *l))                           \
    {                                                                     \
        struct hn_thread *me = hn_inside();                               \
        struct hn_taking taking = taking_of(l, look, HN_CALLER);          \
        int result;                                                       \
                                                                          \
        if (me != NULL && hn_deterministic())                             \
            hn_fields(me, l, taking.asks, taking.pc);                     \
        if (me != NULL && hn_is_asked_for(me, l))                         \
            return EBUSY;                                                 \
        look(l, &taking);                                                 \
        result = REAL(name)(l);                                           \
        hn_note_acquired(result, &taking);                                \
        return result;                                                    \
    }

#define LOCK(name, look, try)                                             \
    INTERPOSE(int, name, (pthread_rwlock_t *l))                           \
    {                                                                     \
        struct hn_thread *me = hn_inside();                               \
        struct hn_taking taking = taking_of(l, look, HN_CALLER);          \
        int result = EBUSY;                                               \
                                                                          \
        if (me != NULL && hn_deterministic()) {                           \
            hn_fields(me, l, taking.asks, taking.pc);                     \
            result = take_rwlock(&taking, look, REAL(try), -1);           \
        }                                                                 \
        if (result == EBUSY)                                              \
            result = REAL(name)(l);                                       \
        hn_note_acquired(result, &taking);                                \
        return result;                                                    \
    }

#define CLOCK(name, look, try)                                            \
    INTERPOSE(int, name, (pthread_rwlock_t *l, clockid_t clock,           \
                          const struct timespec *deadline))               \
    {                                                                     \
        struct hn_thread *me = hn_inside();                               \
        struct hn_taking taking = taking_of(l, look, HN_CALLER);          \
        int result = EBUSY;                                               \
                                                                          \
        if (me != NULL && hn_deterministic()) {                           \
            hn_fields(me, l, taking.asks, taking.pc);                     \
            result = take_rwlock(&taking, look, REAL(try), hn_until(deadline, clock)); \
        }                                                                 \
        if (result == EBUSY)                                              \
            result = REAL(name)(l, clock, deadline);                      \
        hn_note_acquired(result, &taking);                                \
        return result;                                                    \
    }

#define TIMED(name, clocked)                                              \
    INTERPOSE(int, name, (pthread_rwlock_t *l, const struct timespec *d)) \
    {                                                                     \
        if (hn_inside() == NULL)                                          \
            return REAL(name)(l, d);                                      \
        return clocked(l, CLOCK_REALTIME, d);                             \
    }

TRY(pthread_rwlock_tryrdlock, look_to_try_reading)
TRY(pthread_rwlock_trywrlock, look_to_try_writing)
LOCK(pthread_rwlock_rdlock, look_to_read, pthread_rwlock_tryrdlock)
LOCK(pthread_rwlock_wrlock, look_to_write, pthread_rwlock_trywrlock)
CLOCK(pthread_rwlock_clockrdlock, look_to_read, pthread_rwlock_tryrdlock)
CLOCK(pthread_rwlock_clockwrlock, look_to_write, pthread_rwlock_trywrlock)
TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock)

static const hn_field *by_unlocking(const struct hn_thread *me, const pthread_rwlock_t *l)
{
    if (l->__data.__cur_writer != me->tid)
        return hn_ends_reading;
    return is_polite(l) ? hn_ends_writing_politely : hn_ends_writing;
}

INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t *l))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL)
        hn_note_releasing(me, l, by_unlocking(me, l), HN_CALLER);
    result = REAL(pthread_rwlock_unlock)(l);
    hn_wake(l, HN_W_LOCK, INT_MAX);
    return result;
}

static const hn_field hn_ends_spinning[] = {W(0), 0};

static struct hn_taking by_spinning(const volatile void *l, uintptr_t pc)
{
    return (struct hn_taking){(const void *)l, pc, hn_lock_word, hn_no_fields, hn_no_fields};
}

INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t *l))
{
    struct hn_thread *me = hn_inside();
    const struct hn_taking taking = by_spinning(l, HN_CALLER);
    int result;

    if (me != NULL && hn_deterministic())
        hn_fields(me, taking.lock, taking.asks, taking.pc);
    if (me != NULL && hn_is_asked_for(me, taking.lock))
        return EBUSY;
    result = REAL(pthread_spin_trylock)(l);
    hn_note_acquired(result, &taking);
    return result;
}

INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t *l))
{
    struct hn_thread *me = hn_inside();
    const struct hn_taking taking = by_spinning(l, HN_CALLER);
    int result = EBUSY;

    if (me != NULL && hn_deterministic()) {
        hn_fields(me, taking.lock, taking.asks, taking.pc);
        hn_ask_lock(me, taking.lock, -1);
        while ((result = REAL(pthread_spin_trylock)(l)) == EBUSY && hn_c->order != 0)
            hn_wait_for_lock(me, taking.lock, -1, 1);
    }
    if (result == EBUSY)
        result = REAL(pthread_spin_lock)(l);
    hn_note_acquired(result, &taking);
    return result;
}

INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t *l))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL)
        hn_note_releasing(me, (const void *)l, hn_ends_spinning, HN_CALLER);
    result = REAL(pthread_spin_unlock)(l);
    hn_wake((const void *)l, HN_W_LOCK, 1);
    return result;
}
