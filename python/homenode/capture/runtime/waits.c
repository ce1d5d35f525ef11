/* Condition variables and barriers.
 *
 * A condition variable needs no state of its own under the baton: its waiters are in the queue of
 * blocked threads. A barrier's count and arrivals are in a table here, beside the C library's
 * object, which stays valid for code that is not instrumented. Objects shared between processes are
 * left to the C library, with the baton released during the wait.
 */
#include "hn.h"

#include <errno.h>
#include <limits.h>

enum { GLIBC_COND_SHARED = 1, GLIBC_COND_MONOTONIC = 2 };

static int cond_shared(const pthread_cond_t *c)
{
    return (c->__data.__wrefs & GLIBC_COND_SHARED) != 0;
}

static clockid_t cond_clock(const pthread_cond_t *c)
{
    return (c->__data.__wrefs & GLIBC_COND_MONOTONIC) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static void relock(void *mutex)
{
    pthread_mutex_lock(mutex);
}

/* The wait itself: unlock, sleep, lock; a cancelled thread locks too before it unwinds. */
static int wait_condition(struct hn_thread *me, pthread_cond_t *c, pthread_mutex_t *m,
                          int64_t timeout_ns)
{
    enum hn_woken why = HN_BY_WAKE;
    int result;

    hn_sync_ref(me, c, HN_ATOMIC, HN_CALLER);
    if (hn_c->order != 0)
        hn_event(me, HN_EV_CONDITION_WAIT, (uintptr_t)c, 0);
    /* Nothing is recorded between the real unlock and the sleep, so no other thread runs. */
    result = pthread_mutex_unlock(m);
    if (result != 0)
        return result;
    pthread_cleanup_push(relock, m);
    if (hn_c->order != 0) {
        me->relock = m;
        me->relock_pc = HN_CALLER;
        me->wait_cancellable = 1;
        why = hn_block(me, c, HN_W_CONDITION, timeout_ns);
        me->wait_cancellable = 0;
        me->relock = NULL;
    }
    pthread_testcancel();
    pthread_cleanup_pop(0);
    result = pthread_mutex_lock(m);
    if (result == 0 && why == HN_BY_TIME)
        return ETIMEDOUT;
    return result;
}

/* Free order and shared objects: the real wait, which releases the lock and takes it again. */
#define FOREIGN_WAIT(me, c, m, call)                                  \
    do {                                                              \
        int outcome;                                                  \
        if ((me) != NULL) {                                           \
            hn_sync_ref((me), (c), HN_ATOMIC, HN_CALLER);             \
            hn_event((me), HN_EV_CONDITION_WAIT, (uintptr_t)(c), 0);  \
            hn_note_releasing((me), (m), HN_CALLER);                  \
            hn_leave(me);                                             \
        }                                                             \
        outcome = call;                                               \
        hn_note_acquired(0, (m), HN_CALLER);                          \
        return outcome;                                               \
    } while (0)

INTERPOSE(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || cond_shared(c))
        FOREIGN_WAIT(me, c, m, REAL(pthread_cond_wait)(c, m));
    return wait_condition(me, c, m, -1);
}

INTERPOSE(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m,
                                        const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || cond_shared(c))
        FOREIGN_WAIT(me, c, m, REAL(pthread_cond_timedwait)(c, m, deadline));
    return wait_condition(me, c, m, hn_until(deadline, cond_clock(c)));
}

INTERPOSE(int, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                        const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || cond_shared(c))
        FOREIGN_WAIT(me, c, m, REAL(pthread_cond_clockwait)(c, m, clock, deadline));
    return wait_condition(me, c, m, hn_until(deadline, clock));
}

static void wake_condition(pthread_cond_t *c, int count, uintptr_t pc)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL)
        return;
    hn_sync_ref(me, c, HN_ATOMIC, pc);
    if (hn_c->order == 0)
        return;
    hn_event(me, HN_EV_CONDITION_WAKE, (uintptr_t)c, 0);
    hn_wake(c, HN_W_CONDITION, count);
}

INTERPOSE(int, pthread_cond_signal, (pthread_cond_t *c))
{
    wake_condition(c, 1, HN_CALLER);
    return REAL(pthread_cond_signal)(c);
}

INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t *c))
{
    wake_condition(c, INT_MAX, HN_CALLER);
    return REAL(pthread_cond_broadcast)(c);
}

/* Barriers. */
struct barrier {
    const pthread_barrier_t *object;
    unsigned count, arrived;
    uint64_t round;
};

enum { BARRIERS = 1024 };
static struct barrier barriers[BARRIERS];

/* The barrier's entry, made if `count` is not 0; null if there is none, or no room. */
static struct barrier *find_barrier(const pthread_barrier_t *object, unsigned count)
{
    struct barrier *unused = NULL;
    size_t at = ((uintptr_t)object >> 4) % BARRIERS;

    for (size_t i = 0; i < BARRIERS; i++, at = (at + 1) % BARRIERS) {
        if (barriers[at].object == object)
            return &barriers[at];
        if (barriers[at].object == NULL && barriers[at].round == 0) {
            unused = unused == NULL ? &barriers[at] : unused;
            break;
        }
        if (barriers[at].object == NULL && unused == NULL)
            unused = &barriers[at];
    }
    if (count == 0 || unused == NULL)
        return NULL;
    unused->object = object;
    return unused;
}

INTERPOSE(int, pthread_barrier_init, (pthread_barrier_t *b, const pthread_barrierattr_t *attributes,
                                      unsigned count))
{
    struct hn_thread *me = hn_inside();
    int result = REAL(pthread_barrier_init)(b, attributes, count);
    int shared = PTHREAD_PROCESS_PRIVATE;
    struct barrier *entry;

    if (attributes != NULL)
        pthread_barrierattr_getpshared(attributes, &shared);
    if (result != 0 || me == NULL || !hn_deterministic() || shared == PTHREAD_PROCESS_SHARED)
        return result;
    entry = find_barrier(b, count);
    if (entry != NULL) {
        entry->count = count;
        entry->arrived = 0;
    }
    return 0;
}

INTERPOSE(int, pthread_barrier_destroy, (pthread_barrier_t *b))
{
    struct barrier *entry = hn_inside() == NULL ? NULL : find_barrier(b, 0);

    if (entry != NULL) {
        entry->object = NULL;
        entry->round++;     /* keeps searches going past this slot */
    }
    return REAL(pthread_barrier_destroy)(b);
}

static int wait_barrier(struct hn_thread *me, struct barrier *entry, const pthread_barrier_t *b)
{
    uint64_t round = entry->round;

    const int last = ++entry->arrived == entry->count;

    if (last) {
        entry->arrived = 0;
        entry->round++;
        hn_wake(b, HN_W_BARRIER, INT_MAX);
    }
    if (hn_directed)
        hn_ask(me, HN_EV_LEAVES, b, entry->count);
    if (last)
        return PTHREAD_BARRIER_SERIAL_THREAD;
    while (entry->round == round && hn_c->order != 0)
        hn_block(me, b, HN_W_BARRIER, -1);
    return 0;
}

INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t *b))
{
    struct hn_thread *me = hn_inside();
    struct barrier *entry;
    int result;

    if (me == NULL)
        return REAL(pthread_barrier_wait)(b);
    hn_sync_ref(me, b, HN_ATOMIC, HN_CALLER);
    hn_event(me, HN_EV_BARRIER_ENTER, (uintptr_t)b, 0);
    entry = hn_deterministic() ? find_barrier(b, 0) : NULL;
    if (entry != NULL) {
        result = wait_barrier(me, entry, b);
    } else {
        hn_leave(me);
        result = REAL(pthread_barrier_wait)(b);
    }
    me = hn_inside();
    if (me != NULL) {
        hn_stamp(me);
        hn_event(me, HN_EV_BARRIER_LEAVE, (uintptr_t)b, 0);
    }
    return result;
}
