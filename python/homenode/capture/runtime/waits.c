/* Condition variables and barriers.
 *
 * A condition variable needs no state of its own under the baton: its waiters are in the queue of
 * blocked threads. A barrier's count and arrivals are in a table here, beside the C library's
 * object, which stays valid for code that is not instrumented. Objects shared between processes are
 * left to the C library, with the baton released during the wait.
 */
#include "fields.h"

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

/* Accesses in the order of glibc 2.36, whose waiters are in two groups: those that were there when
 * the groups changed places, which a signal wakes, and those that came later. Here the first is
 * always number 0. What follows the unlocking of the mutex is recorded before it. */
enum {
    SEQUENCE = 0,               /* 8 bytes; the names of the fields differ between versions */
    FIRST_START = 8,
    REFERENCES = 16,
    SIZES = 24,
    FIRST_SIZE = 32,
    WAITERS = 36,
    GROUP_SIGNALS = 40,
    NEW = 4,                    /* from a field of the first group to that of the second */
    GLIBC_COND_WAITER = 8,
};

#define ACQUIRE_INTERNAL R(FIRST_SIZE), A(FIRST_SIZE)
#define CHANGE_GROUPS(size_of_new)                                                     \
    R(FIRST_SIZE), LONG_R(FIRST_START), R(SIZES), A(GROUP_SIGNALS), R(REFERENCES),     \
        A(REFERENCES), LONG_R(FIRST_START), LONG_W(FIRST_START), W(GROUP_SIGNALS),     \
        LONG_R(SEQUENCE), LONG_A(SEQUENCE), ACQUIRE_INTERNAL, R(size_of_new),          \
        W(size_of_new)

static const hn_field hn_wakes_none[] = {R(WAITERS), 0};
static const hn_field hn_wakes_of_first[] = {
    R(WAITERS), ACQUIRE_INTERNAL, LONG_R(SEQUENCE), R(SIZES),
    A(GROUP_SIGNALS), ADD(SIZES), ACQUIRE_INTERNAL, 0};
static const hn_field hn_wakes_of_second[] = {
    R(WAITERS), ACQUIRE_INTERNAL, LONG_R(SEQUENCE), R(SIZES + NEW), CHANGE_GROUPS(SIZES),
    A(GROUP_SIGNALS + NEW), ADD(SIZES), ACQUIRE_INTERNAL, 0};
static const hn_field hn_wakes_all[] = {
    R(WAITERS), ACQUIRE_INTERNAL, LONG_R(SEQUENCE), R(SIZES), CHANGE_GROUPS(SIZES + NEW),
    A(GROUP_SIGNALS + NEW), W(SIZES + NEW), ACQUIRE_INTERNAL, 0};
static const hn_field hn_waits[] = {LONG_A(SEQUENCE), A(WAITERS),  R(GROUP_SIGNALS),
                                 A(REFERENCES),    R(GROUP_SIGNALS), 0};
static const hn_field hn_awakes[] = {LONG_R(FIRST_START), A(REFERENCES),       R(GROUP_SIGNALS),
                                  A(GROUP_SIGNALS),    LONG_R(FIRST_START), A(WAITERS), 0};
_Static_assert(offsetof(pthread_cond_t, __data.__wrefs) == WAITERS, "glibc's condition variable");

struct relocking {
    pthread_mutex_t *mutex;
    uintptr_t pc;
};

static void relock(void *argument)
{
    const struct relocking *at = argument;

    hn_relock(at->mutex, at->pc);
}

/* The wait itself: unlock, sleep, lock; a cancelled thread locks too before it unwinds. */
static int wait_condition(struct hn_thread *me, pthread_cond_t *c, pthread_mutex_t *m,
                          int64_t timeout_ns, uintptr_t pc)
{
    struct relocking relocking = {m, pc};
    enum hn_woken why = HN_BY_WAKE;
    int result;

    hn_fields(me, c, hn_waits, pc);
    hn_note_waiting(me, c, m, pc);
    /* Nothing is recorded between the real unlock and the sleep, so no other thread runs. */
    result = hn_unlock_to_wait(m);
    if (result != 0)
        return result;
    pthread_cleanup_push(relock, &relocking);
    if (hn_c->order != 0) {
        me->relock = m;
        me->relock_pc = pc;
        me->wait_cancellable = 1;
        me->signalled = 0;
        why = hn_block(me, c, HN_W_CONDITION, timeout_ns);
        me->wait_cancellable = 0;
        me->relock = NULL;
        if (!me->relocked)
            hn_put_fields(me, me, c, hn_awakes, pc);
    }
    pthread_testcancel();
    pthread_cleanup_pop(0);
    result = hn_relock(m, pc);
    if (result == 0 && why == HN_BY_TIME)
        return ETIMEDOUT;
    return result;
}

/* Directed order: records for `t`, which `me` has woken, what it accesses until it asks for its
 * mutex. */
void hn_put_awake(struct hn_thread *me, struct hn_thread *t)
{
    hn_put_fields(me, t, t->wait_address, hn_awakes, t->relock_pc);
    hn_put_relock(me, t);
}

static void about_to_wait_elsewhere(struct hn_thread *me, pthread_cond_t *c, pthread_mutex_t *m,
                                    uintptr_t pc)
{
    hn_fields(me, c, hn_waits, pc);
    hn_note_waiting(me, c, m, pc);
    hn_leave(me);
}

static void waited_elsewhere(pthread_cond_t *c, pthread_mutex_t *m, uintptr_t pc)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL)
        return;
    hn_stamp(me);
    hn_put_fields(me, me, c, hn_awakes, pc);
    hn_note_relocked(m, pc);
}

/* Free order and shared objects: the real wait, which releases the lock and takes it again. */
#define FOREIGN_WAIT(me, c, m, call)                                  \
    do {                                                              \
        int outcome;                                                  \
        if ((me) != NULL)                                             \
            about_to_wait_elsewhere((me), (c), (m), HN_LOCK_CALLER);       \
        outcome = call;                                               \
        waited_elsewhere((c), (m), HN_LOCK_CALLER);                        \
        return outcome;                                               \
    } while (0)

INTERPOSE(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || cond_shared(c))
        FOREIGN_WAIT(me, c, m, REAL(pthread_cond_wait)(c, m));
    return wait_condition(me, c, m, -1, HN_LOCK_CALLER);
}

INTERPOSE(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m,
                                        const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || cond_shared(c))
        FOREIGN_WAIT(me, c, m, REAL(pthread_cond_timedwait)(c, m, deadline));
    return wait_condition(me, c, m, hn_until(deadline, cond_clock(c)), HN_LOCK_CALLER);
}

INTERPOSE(int, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                        const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || cond_shared(c))
        FOREIGN_WAIT(me, c, m, REAL(pthread_cond_clockwait)(c, m, clock, deadline));
    return wait_condition(me, c, m, hn_until(deadline, clock), HN_LOCK_CALLER);
}

/* What a signal or broadcast accesses, by who waits; all lists begin with the same read. Changes
 * the groups if the call does. */
static const hn_field *by_waking(struct hn_thread *me, const pthread_cond_t *c, int count)
{
    int waiting = c->__data.__wrefs >= GLIBC_COND_WAITER, first = 0;

    me->in_runtime++;
    hn_lock();
    for (const struct hn_thread *t = hn_c->blocked.first; t != NULL; t = t->queue_next)
        if (t->wait_address == c && t->wait_class == HN_W_CONDITION) {
            waiting = 1;
            first |= t->signalled;
        }
    for (struct hn_thread *t = hn_c->blocked.first; t != NULL && !first; t = t->queue_next)
        if (t->wait_address == c && t->wait_class == HN_W_CONDITION)
            t->signalled = 1;
    hn_unlock();
    me->in_runtime--;
    if (!waiting)
        return hn_wakes_none;
    return count > 1 ? hn_wakes_all : first ? hn_wakes_of_first : hn_wakes_of_second;
}

static void wake_condition(pthread_cond_t *c, int count, uintptr_t pc)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL)
        return;
    hn_fields(me, c, hn_wakes_none, pc);
    if (hn_c->order == 0)
        return;
    hn_put_fields(me, me, c, by_waking(me, c, count) + 1, pc);
    hn_event(me, HN_EV_CONDITION_WAKE, (uintptr_t)c, 0);
    hn_wake(c, HN_W_CONDITION, count);
}

INTERPOSE(int, pthread_cond_signal, (pthread_cond_t *c))
{
    wake_condition(c, 1, HN_LOCK_CALLER);
    return REAL(pthread_cond_signal)(c);
}

INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t *c))
{
    wake_condition(c, INT_MAX, HN_LOCK_CALLER);
    return REAL(pthread_cond_broadcast)(c);
}

/* Barriers. Accesses in the order of glibc 2.36. */
enum { ARRIVED = 0, ROUND = 4, COUNT_OF = 8, SHARED_BY = 12, LEFT = 16 };

static const hn_field hn_arrives[] = {A(ARRIVED), R(COUNT_OF), R(ROUND), 0};
static const hn_field hn_opens[] = {A(ROUND), R(SHARED_BY), 0};
static const hn_field hn_awaits[] = {R(SHARED_BY), 0};
static const hn_field hn_departs_last[] = {A(LEFT), 0};
static const hn_field hn_departs[] = {R(ROUND), A(LEFT), 0};

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
    int result, last;

    if (me == NULL)
        return REAL(pthread_barrier_wait)(b);
    hn_fields(me, b, hn_arrives, HN_CALLER);
    entry = hn_deterministic() ? find_barrier(b, 0) : NULL;
    last = entry != NULL && entry->arrived + 1 == entry->count;
    hn_put_fields(me, me, b, last ? hn_opens : hn_awaits, HN_CALLER);
    hn_event(me, HN_EV_BARRIER_ENTER, (uintptr_t)b, 0);
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
        hn_put_fields(me, me, b, last ? hn_departs_last : hn_departs, HN_CALLER);
    }
    return result;
}
