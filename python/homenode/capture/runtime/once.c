/* One-time initialisation and semaphores. */
#include "hn.h"

#include <errno.h>
#include <semaphore.h>

/* While an initialiser runs, the others must wait under the baton, not in the C library. */
struct once_node {
    pthread_once_t *control;
    struct once_node *next;
};

static struct once_node *running;

static void once_ended(struct once_node **node)
{
    struct once_node **link = &running;

    struct hn_thread *me = hn_inside();

    while (*link != *node)
        link = &(*link)->next;
    *link = (*node)->next;
    if (me != NULL)
        hn_sync_mark(me, (*node)->control);
    hn_wake((*node)->control, HN_W_ONCE, INT32_MAX);
}

static int is_running(const pthread_once_t *control)
{
    for (const struct once_node *n = running; n != NULL; n = n->next)
        if (n->control == control)
            return 1;
    return 0;
}

INTERPOSE(int, pthread_once, (pthread_once_t *control, void (*routine)(void)))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic()) {
        int result = REAL(pthread_once)(control, routine);

        me = hn_inside();
        if (me != NULL)
            hn_stamp(me);
        return result;
    }
    hn_sync_ref(me, control, HN_READ, HN_CALLER);
    while (hn_c->order != 0 && is_running(control))
        hn_block(me, control, HN_W_ONCE, -1);
    struct once_node node = {control, running};
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
        hn_sync_ref(me, s, HN_ATOMIC, HN_CALLER);
    result = REAL(sem_trywait)(s);
    taken();
    return result;
}

static void about_to_wait(struct hn_thread *me, sem_t *s, uintptr_t pc)
{
    hn_sync_ref(me, s, HN_ATOMIC, pc);
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
        hn_sync_ref(me, s, HN_ATOMIC, HN_CALLER);
        hn_event(me, HN_EV_CONDITION_WAKE, (uintptr_t)s, 0);
    }
    result = REAL(sem_post)(s);
    hn_wake(s, HN_W_SEMAPHORE, 1);
    return result;
}
