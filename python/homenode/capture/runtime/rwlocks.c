/* Reader-writer locks and spin locks, as locks.c does mutexes. */
#include "hn.h"

#include <errno.h>
#include <limits.h>

typedef int lock_call(pthread_rwlock_t *l);

static int take_rwlock(pthread_rwlock_t *l, lock_call *try, int64_t timeout_ns)
{
    struct hn_thread *me = hn_me;
    int result;

    if (timeout_ns != 0 && hn_ask_lock(me, l, timeout_ns) == ETIMEDOUT)
        return ETIMEDOUT;
    while ((result = try(l)) == EBUSY && hn_c->order != 0) {
        if (l->__data.__cur_writer == me->tid)
            return EDEADLK;
        if (timeout_ns == 0 ||
            hn_wait_for_lock(me, l, timeout_ns, l->__data.__shared) == ETIMEDOUT)
            return ETIMEDOUT;
    }
    return result;
}

#define TRY(name)                                                         \
    INTERPOSE(int, name, (pthread_rwlock_t *l))                           \
    {                                                                     \
        struct hn_thread *me = hn_inside();                               \
        int result;                                                       \
                                                                          \
        if (me != NULL && hn_deterministic())                             \
            hn_sync_ref(me, l, HN_ATOMIC, HN_CALLER);                     \
        if (me != NULL && hn_is_asked_for(me, l))                         \
            return EBUSY;                                                 \
        result = REAL(name)(l);                                           \
        hn_note_acquired(result, l, HN_CALLER);                           \
        return result;                                                    \
    }

#define LOCK(name, try)                                                   \
    INTERPOSE(int, name, (pthread_rwlock_t *l))                           \
    {                                                                     \
        struct hn_thread *me = hn_inside();                               \
        int result = EBUSY;                                               \
                                                                          \
        if (me != NULL && hn_deterministic()) {                           \
            hn_sync_ref(me, l, HN_ATOMIC, HN_CALLER);                     \
            result = take_rwlock(l, REAL(try), -1);                       \
        }                                                                 \
        if (result == EBUSY)                                              \
            result = REAL(name)(l);                                       \
        hn_note_acquired(result, l, HN_CALLER);                           \
        return result;                                                    \
    }

#define CLOCK(name, try)                                                  \
    INTERPOSE(int, name, (pthread_rwlock_t *l, clockid_t clock,           \
                          const struct timespec *deadline))               \
    {                                                                     \
        struct hn_thread *me = hn_inside();                               \
        int result = EBUSY;                                               \
                                                                          \
        if (me != NULL && hn_deterministic()) {                           \
            hn_sync_ref(me, l, HN_ATOMIC, HN_CALLER);                     \
            result = take_rwlock(l, REAL(try), hn_until(deadline, clock)); \
        }                                                                 \
        if (result == EBUSY)                                              \
            result = REAL(name)(l, clock, deadline);                      \
        hn_note_acquired(result, l, HN_CALLER);                           \
        return result;                                                    \
    }

#define TIMED(name, clocked)                                              \
    INTERPOSE(int, name, (pthread_rwlock_t *l, const struct timespec *d)) \
    {                                                                     \
        if (hn_inside() == NULL)                                          \
            return REAL(name)(l, d);                                      \
        return clocked(l, CLOCK_REALTIME, d);                             \
    }

TRY(pthread_rwlock_tryrdlock)
TRY(pthread_rwlock_trywrlock)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock)
CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock)
CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock)
TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock)

INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t *l))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL)
        hn_note_releasing(me, l, HN_CALLER);
    result = REAL(pthread_rwlock_unlock)(l);
    hn_wake(l, HN_W_LOCK, INT_MAX);
    return result;
}

INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t *l))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL && hn_deterministic())
        hn_sync_ref(me, (const void *)l, HN_ATOMIC, HN_CALLER);
    if (me != NULL && hn_is_asked_for(me, (const void *)l))
        return EBUSY;
    result = REAL(pthread_spin_trylock)(l);
    hn_note_acquired(result, (const void *)l, HN_CALLER);
    return result;
}

INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t *l))
{
    struct hn_thread *me = hn_inside();
    int result = EBUSY;

    if (me != NULL && hn_deterministic()) {
        hn_sync_ref(me, (const void *)l, HN_ATOMIC, HN_CALLER);
        hn_ask_lock(me, (const void *)l, -1);
        while ((result = REAL(pthread_spin_trylock)(l)) == EBUSY && hn_c->order != 0)
            hn_wait_for_lock(me, (const void *)l, -1, 1);
    }
    if (result == EBUSY)
        result = REAL(pthread_spin_lock)(l);
    hn_note_acquired(result, (const void *)l, HN_CALLER);
    return result;
}

INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t *l))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL)
        hn_note_releasing(me, (const void *)l, HN_CALLER);
    result = REAL(pthread_spin_unlock)(l);
    hn_wake((const void *)l, HN_W_LOCK, 1);
    return result;
}
