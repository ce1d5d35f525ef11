/* Mutexes, those of C11 too. */
#include "fields.h"

#include <errno.h>

enum {
    GLIBC_ROBUST = 16,
    GLIBC_INHERITS_PRIORITY = 32,
    GLIBC_PSHARED = 128,
    LOCK = offsetof(pthread_mutex_t, __data.__lock),
    COUNT = offsetof(pthread_mutex_t, __data.__count),
    OWNER = offsetof(pthread_mutex_t, __data.__owner),
    USERS = offsetof(pthread_mutex_t, __data.__nusers),
    KIND = offsetof(pthread_mutex_t, __data.__kind),
    LIST = offsetof(pthread_mutex_t, __data.__list),
    NEXT = LIST + 8,
    FIELDS_MAX = 20,
};

/* What a wait for a condition leaves out when it unlocks the mutex and locks it again. */
#define APART(field) ((hn_field)((field) | HN_FIELD_APART))
#define USER APART(R(USERS)), APART(W(USERS))

/* Accesses in the order of glibc 2.36, but for the word that takes the lock: it comes first. A
 * thread that lost the line between its read of the kind and this word would seem to share no
 * data. Locking with a limit of time and without waiting are other code. The fields of a thread's
 * list of robust mutexes that are outside of the mutex are left out: they are its neighbours', or
 * in the thread's own memory. */
struct mutex_fields {
    hn_field lock[8], has[8];
    hn_field timed[5], timed_has[8];
    hn_field try[4], try_has[10];
    hn_field unlock[FIELDS_MAX];
    hn_field lock_again[7], timed_again[6], try_again[6], unlock_once[7];
};

enum { NORMAL, RECURSIVE, ERRORCHECK, ADAPTIVE, ROBUST, INHERITS };

#define TRY_NORMAL .try = {R(KIND), R(LOCK)}, .try_has = {USER, W(OWNER)}
#define TIMED_NORMAL .timed_has = {USER, W(OWNER)}

static const struct mutex_fields hn_kinds[] = {
    [NORMAL] = {
        .lock = {A(LOCK), R(KIND), APART(R(KIND))},
        .has = {R(OWNER), USER, W(OWNER)},
        .timed = {A(LOCK), R(KIND), R(KIND)}, TIMED_NORMAL, TRY_NORMAL,
        .unlock = {R(KIND), W(OWNER), USER, R(KIND), A(LOCK)},
    },
    [RECURSIVE] = {
        .lock = {A(LOCK), R(KIND), R(KIND), R(OWNER), APART(R(KIND))},
        .has = {R(OWNER), W(COUNT), USER, W(OWNER)},
        .timed = {A(LOCK), R(KIND), R(OWNER), R(KIND)},
        .timed_has = {W(COUNT), USER, W(OWNER)},
        .try = {R(KIND), R(OWNER), R(LOCK)},
        .try_has = {USER, W(OWNER), W(COUNT)},
        .unlock = {R(KIND), R(KIND), R(OWNER), ADD(COUNT), W(OWNER), USER, R(KIND), A(LOCK)},
        .lock_again = {R(KIND), R(KIND), R(OWNER), ADD(COUNT)},
        .timed_again = {R(KIND), R(OWNER), ADD(COUNT)},
        .try_again = {R(KIND), R(OWNER), ADD(COUNT)},
        .unlock_once = {R(KIND), R(KIND), R(OWNER), ADD(COUNT)},
    },
    [ERRORCHECK] = {
        .lock = {A(LOCK), R(KIND), R(KIND), R(KIND), R(KIND), R(OWNER), APART(R(KIND))},
        .has = {R(OWNER), USER, W(OWNER)},
        .timed = {A(LOCK), R(KIND), R(OWNER), R(KIND)}, TIMED_NORMAL, TRY_NORMAL,
        .unlock = {R(KIND), R(KIND), R(KIND), R(OWNER), R(LOCK), W(OWNER), USER, R(KIND),
                   A(LOCK)},
        .lock_again = {R(KIND), R(KIND), R(KIND), R(KIND), R(OWNER)},
        .timed_again = {R(KIND), R(OWNER)},
        .try_again = {R(KIND), R(LOCK)},
    },
    [ADAPTIVE] = {
        .lock = {A(LOCK), R(KIND), R(KIND), R(KIND)},
        .has = {R(OWNER), USER, W(OWNER)},
        .timed = {A(LOCK), R(KIND)}, TIMED_NORMAL, TRY_NORMAL,
        .unlock = {R(KIND), R(KIND), R(KIND), W(OWNER), USER, R(KIND), A(LOCK)},
    },
    [ROBUST] = {
        .lock = {R(LOCK), A(LOCK), R(KIND), R(KIND)},
        .has = {R(OWNER), W(COUNT), LONG_W(NEXT), LONG_W(LIST), USER, W(OWNER)},
        .timed = {R(LOCK), A(LOCK), R(KIND)},
        .timed_has = {R(OWNER), W(COUNT), LONG_W(NEXT), LONG_W(LIST), USER, W(OWNER)},
        .try = {R(KIND), R(LOCK)},
        .try_has = {R(OWNER), LONG_W(NEXT), LONG_W(LIST), USER, W(OWNER), W(COUNT)},
        .unlock = {R(KIND), R(KIND), R(LOCK), R(OWNER), LONG_R(NEXT), LONG_R(LIST), LONG_R(NEXT),
                   W(OWNER), LONG_W(LIST), LONG_W(NEXT), USER, A(LOCK)},
        .lock_again = {R(KIND), R(KIND), R(LOCK), R(KIND), ADD(COUNT)},
        .timed_again = {R(KIND), R(LOCK), R(KIND), ADD(COUNT)},
        .try_again = {R(KIND), R(LOCK), R(KIND), ADD(COUNT)},
        .unlock_once = {R(KIND), R(KIND), R(LOCK), R(OWNER), ADD(COUNT)},
    },
    [INHERITS] = {
        .lock = {R(LOCK), A(LOCK), R(KIND), R(KIND), R(KIND)},
        .has = {W(COUNT), USER, W(OWNER)},
        .timed = {R(LOCK), A(LOCK), R(KIND), R(KIND)},
        .timed_has = {W(COUNT), USER, W(OWNER)},
        .try = {R(KIND), R(KIND), R(LOCK)},
        .try_has = {USER, W(OWNER), W(COUNT)},
        .unlock = {R(KIND), R(KIND), R(LOCK), R(KIND), R(KIND), W(OWNER), USER, R(KIND), R(KIND),
                   R(LOCK), A(LOCK)},
        .lock_again = {R(KIND), R(KIND), R(LOCK), ADD(COUNT)},
        .timed_again = {R(KIND), R(LOCK), ADD(COUNT)},
        .try_again = {R(KIND), R(LOCK), ADD(COUNT)},
        .unlock_once = {R(KIND), R(KIND), R(LOCK), ADD(COUNT)},
    },
};

static const struct mutex_fields *fields_of(const pthread_mutex_t *m)
{
    const int kind = m->__data.__kind;

    if ((kind & GLIBC_INHERITS_PRIORITY) != 0)
        return &hn_kinds[INHERITS];
    return &hn_kinds[(kind & GLIBC_ROBUST) != 0 ? ROBUST : kind & 3];
}

/* Whether the mutex notices that the calling thread has it: it counts, or is an error. */
static int has_already(const struct hn_thread *me, const pthread_mutex_t *m)
{
    const int type = m->__data.__kind & 3;

    return (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) &&
           m->__data.__owner == me->tid;
}

static struct hn_taking by_lock(const struct hn_thread *me, const pthread_mutex_t *m,
                                uintptr_t pc)
{
    const struct mutex_fields *f = fields_of(m);

    if (me != NULL && has_already(me, m))
        return (struct hn_taking){m, pc, f->lock_again, hn_no_fields, hn_no_fields};
    return (struct hn_taking){m, pc, f->lock, hn_no_fields, f->has};
}

static struct hn_taking by_timed_lock(const struct hn_thread *me, const pthread_mutex_t *m,
                                      uintptr_t pc)
{
    const struct mutex_fields *f = fields_of(m);

    if (me != NULL && has_already(me, m))
        return (struct hn_taking){m, pc, f->timed_again, hn_no_fields, hn_no_fields};
    return (struct hn_taking){m, pc, f->timed, hn_no_fields, f->timed_has};
}

static struct hn_taking by_trylock(const struct hn_thread *me, const pthread_mutex_t *m,
                                   uintptr_t pc)
{
    const struct mutex_fields *f = fields_of(m);

    if (me != NULL && has_already(me, m))
        return (struct hn_taking){m, pc, f->try_again, hn_no_fields, hn_no_fields};
    return (struct hn_taking){m, pc, f->try, hn_lock_word, f->try_has};
}

static const hn_field *by_unlock(const struct hn_thread *me, const pthread_mutex_t *m)
{
    const struct mutex_fields *f = fields_of(m);

    return has_already(me, m) && m->__data.__count > 1 ? f->unlock_once : f->unlock;
}

/* Errors that the real blocking call returns at once, without waiting. */
static int answers_at_once(struct hn_thread *me, const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && m->__data.__owner == me->tid;
}

INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t *m))
{
    struct hn_thread *me = hn_inside();
    const struct hn_taking taking = by_trylock(me, m, HN_LOCK_CALLER);
    int result;

    if (me != NULL && hn_deterministic())
        hn_fields(me, m, taking.asks, taking.pc);
    if (me != NULL && m->__data.__owner != me->tid && hn_is_asked_for(me, m))
        return EBUSY;
    result = REAL(pthread_mutex_trylock)(m);
    hn_note_acquired(result, &taking);
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
    const struct hn_taking taking = by_lock(me, m, HN_LOCK_CALLER);
    int result = EBUSY;

    if (me != NULL && hn_deterministic()) {
        hn_fields(me, m, taking.asks, taking.pc);
        result = lock_mutex(me, m, -1);
    }
    if (result == EBUSY)
        result = REAL(pthread_mutex_lock)(m);
    hn_note_acquired(result, &taking);
    return result;
}

INTERPOSE(int, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t clock,
                                         const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();
    const struct hn_taking taking = by_timed_lock(me, m, HN_LOCK_CALLER);
    int result = EBUSY;

    if (me != NULL && hn_deterministic()) {
        hn_fields(me, m, taking.asks, taking.pc);
        result = lock_mutex(me, m, hn_until(deadline, clock));
    }
    if (result == EBUSY)
        result = REAL(pthread_mutex_clocklock)(m, clock, deadline);
    hn_note_acquired(result, &taking);
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
        hn_note_releasing(me, m, by_unlock(me, m), HN_LOCK_CALLER);
    result = REAL(pthread_mutex_unlock)(m);
    hn_wake(m, HN_W_LOCK, 1);
    return result;
}

/* Waits for conditions. */

/* The list without the fields that a wait for a condition leaves alone. */
static void leave_out(const hn_field *from, hn_field to[FIELDS_MAX])
{
    for (; *from != 0; from++)
        if ((*from & HN_FIELD_APART) == 0)
            *to++ = *from;
    *to = 0;
}

/* Records that the calling thread waits for a condition and releases the mutex for that. The last
 * access of the release comes after the event: a simulation recognises the release by it. */
void hn_note_waiting(struct hn_thread *me, const void *condition, pthread_mutex_t *m,
                     uintptr_t pc)
{
    hn_field fields[FIELDS_MAX];
    size_t last = 0;

    leave_out(fields_of(m)->unlock, fields);
    while (fields[last + 1] != 0)
        last++;
    fields[last] = 0;
    hn_put_fields(me, me, m, fields, pc);
    hn_event(me, HN_EV_CONDITION_WAIT, (uintptr_t)condition, 0);
    hn_put_fields(me, me, m, hn_lock_word, pc);
    hn_event(me, HN_EV_LOCK_RELEASE, (uintptr_t)m, 0);
}

int hn_unlock_to_wait(pthread_mutex_t *m)
{
    const int result = REAL(pthread_mutex_unlock)(m);

    hn_wake(m, HN_W_LOCK, 1);
    return result;
}

int hn_relock(pthread_mutex_t *m, uintptr_t pc)
{
    struct hn_thread *me = hn_inside();
    struct hn_taking taking = by_lock(me, m, pc);
    hn_field asks[FIELDS_MAX], has[FIELDS_MAX];
    int result = EBUSY;

    leave_out(taking.asks, asks);
    leave_out(taking.has, has);
    taking.asks = asks;
    taking.has = has;
    if (me != NULL && hn_deterministic()) {
        if (!me->relocked)
            hn_fields(me, m, taking.asks, pc);
        me->relocked = 0;
        result = lock_mutex(me, m, -1);
    }
    if (result == EBUSY)
        result = REAL(pthread_mutex_lock)(m);
    hn_note_acquired(result, &taking);
    return result;
}

/* Records that the C library's own wait has ended. */
void hn_note_relocked(pthread_mutex_t *m, uintptr_t pc)
{
    struct hn_taking taking = by_lock(NULL, m, pc);
    hn_field asks[FIELDS_MAX], has[FIELDS_MAX];

    leave_out(taking.asks, asks);
    leave_out(taking.has, has);
    taking.asks = asks;
    taking.has = has;
    hn_note_acquired(0, &taking);
}

/* Records for `t`, whose wait for a condition is over, what it accesses until it asks for its
 * mutex. */
void hn_put_relock(struct hn_thread *me, struct hn_thread *t)
{
    const pthread_mutex_t *m = t->relock;
    hn_field asks[FIELDS_MAX];

    leave_out(fields_of(m)->lock, asks);
    hn_put_fields(me, t, m, asks, t->relock_pc);
    t->relocked = 1;
}
