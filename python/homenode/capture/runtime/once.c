/* One-time initialisation and semaphores. */
#include "fields.h"

#include <errno.h>
#include <semaphore.h>

/* While an initialiser runs, the others must wait under the baton, not in the C library. */
struct once_node {
    pthread_once_t *control;
    struct once_node *next;
    uintptr_t pc;
};

/* Accesses in the order of glibc 2.36. */
enum { GLIBC_ONCE_DONE = 2, SEMAPHORE_SHARED = 8 };

static const hn_field hn_once_looks[] = {R(0), 0};
static const hn_field hn_once_begins[] = {R(0), A(0), 0};
static const hn_field hn_once_ends[] = {W(0), 0};
static const hn_field hn_looks[] = {LONG_R(0), 0};
static const hn_field hn_takes[] = {LONG_R(0), LONG_A(0), 0};
static const hn_field hn_taken_at_once[] = {LONG_A(0), 0};
static const hn_field hn_posts[] = {R(SEMAPHORE_SHARED), LONG_R(0), LONG_A(0), 0};

static struct once_node *running;

static void once_ended(struct once_node **node)
{
    struct once_node **link = &running;

    struct hn_thread *me = hn_inside();

    while (*link != *node)
        link = &(*link)->next;
    *link = (*node)->next;
    if (me != NULL) {
        hn_fields(me, (*node)->control, hn_once_ends, (*node)->pc);
        hn_sync_mark(me, (*node)->control);
    }
    hn_wake((*node)->control, HN_W_ONCE, INT32_MAX);
}

static int is_running(const pthread_once_t *control)
{
    for (const struct once_node *n = running; n != NULL; n = n->next)
        if (n->control == control)
            return 1;
    return 0;
}

/* The C library says so before the thread that has run the initialiser has its turn to say it. */
static int is_done(const volatile pthread_once_t *control)
{
    return *control == GLIBC_ONCE_DONE && !is_running((const pthread_once_t *)control);
}

HN_DECLARE_REAL(int, pthread_once, (pthread_once_t *, void (*)(void)));

/* Free order: the C library's own waits. */
static int once_elsewhere(struct hn_thread *me, pthread_once_t *control, void (*routine)(void),
                          uintptr_t pc)
{
    const int begins = !is_done(control);
    int result;

    if (me != NULL)
        hn_fields(me, control, hn_once_looks, pc);
    if (me != NULL && begins)
        hn_put_fields(me, me, control, hn_once_begins, pc);
    result = REAL(pthread_once)(control, routine);
    me = hn_inside();
    if (me == NULL)
        return result;
    hn_stamp(me);
    if (begins)
        hn_fields(me, control, hn_once_ends, pc);
    return result;
}

INTERPOSE_DECLARED(int, pthread_once, (pthread_once_t *control, void (*routine)(void)))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic())
        return once_elsewhere(me, control, routine, HN_LOCK_CALLER);
    hn_fields(me, control, hn_once_looks, HN_LOCK_CALLER);
    if (is_done(control))
        return REAL(pthread_once)(control, routine);
    hn_put_fields(me, me, control, hn_once_begins, HN_LOCK_CALLER);
    while (hn_c->order != 0 && is_running(control)) {
        hn_block(me, control, HN_W_ONCE, -1);
        hn_put_fields(me, me, control, hn_once_looks, HN_LOCK_CALLER);
    }
    if (is_done(control))
        return REAL(pthread_once)(control, routine);
    struct once_node node = {control, running, HN_LOCK_CALLER};
    /* This also runs when the routine throws or the thread is cancelled. */
    struct once_node *ends __attribute__((cleanup(once_ended))) = &node;

    running = ends;
    return REAL(pthread_once)(control, routine);
}

static void taken(void)
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_stamp(me);
}

INTERPOSE(int, sem_trywait, (sem_t *s))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL)
        hn_fields(me, s, hn_looks, HN_CALLER);
    result = REAL(sem_trywait)(s);
    if (me != NULL && result == 0)
        hn_put_fields(me, me, s, hn_taken_at_once, HN_CALLER);
    taken();
    return result;
}

static void about_to_wait(struct hn_thread *me, sem_t *s, uintptr_t pc)
{
    hn_fields(me, s, hn_takes, pc);
    if (hn_c->order != 0)
        hn_event(me, HN_EV_CONDITION_WAIT, (uintptr_t)s, 0);
}

/* 0, or an error number. */
static int wait_semaphore(struct hn_thread *me, sem_t *s, int64_t timeout_ns)
{
    enum hn_woken why;

    pthread_testcancel();
    while (REAL(sem_trywait)(s) != 0) {
        if (errno != EAGAIN)
            return errno;
        if (timeout_ns == 0)
            return ETIMEDOUT;
        if (hn_c->order == 0)
            return EAGAIN;
        me->wait_cancellable = 1;
        why = hn_block(me, s, HN_W_SEMAPHORE, timeout_ns);
        me->wait_cancellable = 0;
        pthread_testcancel();
        if (why == HN_BY_TIME)
            return REAL(sem_trywait)(s) == 0 ? 0 : ETIMEDOUT;
        if (why == HN_BY_SIGNAL && REAL(sem_trywait)(s) != 0)
            return EINTR;
        if (why == HN_BY_SIGNAL)
            return 0;
    }
    return 0;
}

static int wait_and_report(sem_t *s, int64_t timeout_ns, uintptr_t pc)
{
    struct hn_thread *me = hn_me;
    int error;

    about_to_wait(me, s, pc);
    error = wait_semaphore(me, s, timeout_ns);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

INTERPOSE(int, sem_wait, (sem_t *s))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL && hn_deterministic())
        return wait_and_report(s, -1, HN_CALLER);
    if (me != NULL)
        about_to_wait(me, s, HN_CALLER);
    result = REAL(sem_wait)(s);
    taken();
    return result;
}

INTERPOSE(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL && hn_deterministic())
        return wait_and_report(s, hn_until(deadline, clock), HN_CALLER);
    if (me != NULL)
        about_to_wait(me, s, HN_CALLER);
    result = REAL(sem_clockwait)(s, clock, deadline);
    taken();
    return result;
}

INTERPOSE(int, sem_timedwait, (sem_t *s, const struct timespec *deadline))
{
    if (hn_inside() == NULL)
        return REAL(sem_timedwait)(s, deadline);
    return sem_clockwait(s, CLOCK_REALTIME, deadline);
}

INTERPOSE(int, sem_post, (sem_t *s))
{
    struct hn_thread *me = hn_inside();
    int result;

    if (me != NULL) {
        hn_fields(me, s, hn_posts, HN_CALLER);
        hn_event(me, HN_EV_CONDITION_WAKE, (uintptr_t)s, 0);
    }
    result = REAL(sem_post)(s);
    hn_wake(s, HN_W_SEMAPHORE, 1);
    return result;
}
