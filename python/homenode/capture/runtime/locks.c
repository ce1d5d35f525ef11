/* Mutexes: the real non-blocking operation, and a wait under the baton while it fails. The objects
 * remain the C library's own, so a forked child, or code that was linked without the runtime, can
 * still use them.
 */
#include "hn.h"

#include <errno.h>
#include <limits.h>
#include <semaphore.h>

/* Another process may release a shared lock unseen: try again. */
enum { LOCK_LOOK_AGAIN_NS = 1000000, GLIBC_PSHARED = 128 };

/* Directed order: in the simulation the thread has a lock that it has not taken yet. */
static void hn_return_lock(struct hn_thread *me, const void *lock)
{
    me->owes_lock = 0;
    hn_event(me, HN_EV_LOCK_ACQUIRE, (uintptr_t)lock, 0);
    hn_event(me, HN_EV_LOCK_RELEASE, (uintptr_t)lock, 0);
}

void hn_note_acquired(int result, const void *lock, uintptr_t pc)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL)
        return;
    if (result != 0 && result != EOWNERDEAD) {
        if (me->owes_lock)
            hn_return_lock(me, lock);
        return;
    }
    me->owes_lock = 0;
    hn_stamp(me);
    if (!hn_deterministic())
        hn_sync_ref(me, lock, HN_ATOMIC, pc);
    hn_event(me, HN_EV_LOCK_ACQUIRE, (uintptr_t)lock, 0);
}

void hn_note_releasing(struct hn_thread *me, const void *lock, uintptr_t pc)
{
    /* The simulation decides who gets it, and when: no need to end the turn. */
    if (hn_logical && me->state == HN_RUNNING)
        hn_ref_in_turn(lock, HN_WHAT(HN_ATOMIC, 4) | (UINT64_C(1) << HN_SYNC_BIT), pc);
    else if (me->state == HN_RUNNING)
        hn_ref(lock, HN_WHAT(HN_ATOMIC, 4) | (UINT64_C(1) << HN_SYNC_BIT), pc);
    if (hn_c->order != 0)
        hn_event(me, HN_EV_LOCK_RELEASE, (uintptr_t)lock, 0);
}

/* ETIMEDOUT, or 0 to try again. */
int hn_wait_for_lock(struct hn_thread *me, const void *lock, int64_t timeout_ns, int shared)
{
    if (me->owes_lock)
        hn_return_lock(me, lock);
    if (shared && (timeout_ns < 0 || timeout_ns > LOCK_LOOK_AGAIN_NS)) {
        hn_block(me, lock, HN_W_LOCK, LOCK_LOOK_AGAIN_NS);
        return 0;
    }
    return hn_block(me, lock, HN_W_LOCK, timeout_ns) == HN_BY_TIME ? ETIMEDOUT : 0;
}

/* Errors that the real blocking call returns at once, without waiting. */
static int answers_at_once(struct hn_thread *me, const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && m->__data.__owner == me->tid;
}

INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t *m))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL && hn_deterministic())
        hn_sync_ref(me, m, HN_ATOMIC, HN_CALLER);
    if (me != NULL && m->__data.__owner != me->tid && hn_is_asked_for(me, m))
        return EBUSY;
    result = REAL(pthread_mutex_trylock)(m);
    hn_note_acquired(result, m, HN_CALLER);
    return result;
}

static int lock_mutex(struct hn_thread *me, pthread_mutex_t *m, int64_t timeout_ns)
{
    const int shared = (m->__data.__kind & GLIBC_PSHARED) != 0;
    int result;

    if (timeout_ns != 0 && hn_ask_lock(me, m, timeout_ns) == ETIMEDOUT)
        return ETIMEDOUT;
    while ((result = REAL(pthread_mutex_trylock)(m)) == EBUSY && hn_c->order != 0) {
        if (answers_at_once(me, m))
            return EDEADLK;
        if (timeout_ns == 0 || hn_wait_for_lock(me, m, timeout_ns, shared) == ETIMEDOUT)
            return ETIMEDOUT;
    }
    return result;
}

INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t *m))
{
    struct hn_thread *me = hn_inside();
    int result = EBUSY;

    if (me != NULL && hn_deterministic()) {
        if (!me->relocked)
            hn_sync_ref(me, m, HN_ATOMIC, HN_CALLER);
        me->relocked = 0;
        result = lock_mutex(me, m, -1);
    }
    if (result == EBUSY)
        result = REAL(pthread_mutex_lock)(m);
    hn_note_acquired(result, m, HN_CALLER);
    return result;
}

INTERPOSE(int, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t clock,
                                         const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();
    int result = EBUSY;

    if (me != NULL && hn_deterministic()) {
        hn_sync_ref(me, m, HN_ATOMIC, HN_CALLER);
        result = lock_mutex(me, m, hn_until(deadline, clock));
    }
    if (result == EBUSY)
        result = REAL(pthread_mutex_clocklock)(m, clock, deadline);
    hn_note_acquired(result, m, HN_CALLER);
    return result;
}

INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *deadline))
{
    if (hn_inside() == NULL)
        return REAL(pthread_mutex_timedlock)(m, deadline);
    return pthread_mutex_clocklock(m, CLOCK_REALTIME, deadline);
}

INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t *m))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL)
        hn_note_releasing(me, m, HN_CALLER);
    result = REAL(pthread_mutex_unlock)(m);
    hn_wake(m, HN_W_LOCK, 1);
    return result;
}
