/* Signals that arrive while threads are switched without the kernel (user_threads.c of the
 * runtime).
 *
 * A signal is sent to a kernel thread. QEMU's handler passes it to the thread of the program that
 * runs there, and leaves all other signals blocked in that kernel thread until the program's
 * handler begins. So a signal is passed on only if that thread is at home, and the thread then
 * stays there. Else it is deferred: at the end of its turn the running thread sends all threads
 * home for good, and each sends itself the signals that were deferred for it.
 */
#include "guest.h"

#include <sys/syscall.h>

enum { DEFERRED_MAX = 64 };

static struct deferred {
    uint32_t state;
    int tid;                    /* of the kernel thread that got it */
    int number;
    siginfo_t info;
} deferred[DEFERRED_MAX];
enum { FREE, BEING_FILLED, FULL };

int hn_signals_deferred;        /* some are deferred, or one was passed on */

/* QEMU has handlers from the beginning, so these do not count. Threads are sent home by SIGBUS,
 * whose handler is ours by then. */
int hn_has_handlers(void)
{
    return 0;
}

static void keep(int number, const siginfo_t *info)
{
    for (int i = 0; i < DEFERRED_MAX; i++) {
        uint32_t expected = FREE;

        if (!__atomic_compare_exchange_n(&deferred[i].state, &expected, BEING_FILLED, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        deferred[i].tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
        deferred[i].number = number;
        deferred[i].info = *info;
        __atomic_store_n(&deferred[i].state, FULL, __ATOMIC_RELEASE);
        return;
    }
}

/* Defers a signal that must not be handled yet; returns whether it has. */
int defer_signal(int number, const siginfo_t *info)
{
    struct hn_thread *me = hn_me;
    int stays;

    if (me == &hn_no_thread || hn_c->order == 0)
        return 0;
    stays = hn_is_home(me) && (me->stays_home || !me->in_runtime || !hn_user_switching);
    if (stays) {
        me->stays_home = 1;
        hn_signals_deferred |= hn_user_switching;
        return 0;
    }
    keep(number, info);
    hn_signals_deferred = 1;
    return 1;
}

/* Sends the signals that were deferred for a thread that is home for good. */
static void deliver(const struct hn_thread *me)
{
    hn_signals_deferred = 0;
    for (int i = 0; i < DEFERRED_MAX; i++) {
        struct deferred found = deferred[i];

        if (__atomic_load_n(&deferred[i].state, __ATOMIC_ACQUIRE) != FULL)
            continue;
        if (found.tid != me->tid) {
            hn_signals_deferred = 1;
            continue;
        }
        __atomic_store_n(&deferred[i].state, FREE, __ATOMIC_RELEASE);
        hn_sys(SYS_rt_tgsigqueueinfo, hn_c->pid, me->tid, found.number, (long)&found.info);
    }
}

/* Sends all threads home, and delivers. The caller has the turn. */
void deliver_deferred_signals(struct hn_thread *me)
{
    hn_must_go_home(me);
    hn_stop_user_switching();
    deliver(me);
}

/* Called when a parked thread resumes. */
void hn_resumed(struct hn_thread *me)
{
    if (HN_UNLIKELY(hn_signals_deferred) && !hn_user_switching && hn_is_home(me))
        deliver(me);
}

/* Sends the thread home that is stuck on this kernel thread, by a signal that is never blocked. */
void hn_send_home(int tid)
{
    siginfo_t info = {.si_signo = SIGBUS, .si_code = SI_QUEUE};

    info.si_pid = hn_c->pid;
    info.si_ptr = deferred;
    hn_sys(SYS_rt_tgsigqueueinfo, hn_c->pid, tid, SIGBUS, (long)&info);
}

/* Handles such a signal; returns whether it was one. */
int is_home_request(const siginfo_t *info)
{
    struct hn_thread *me = hn_me;

    if (info->si_code != SI_QUEUE || info->si_ptr != deferred || info->si_pid != hn_c->pid)
        return 0;
    if (me->state == HN_OUTSIDE && !me->in_runtime)
        hn_go_home(me);
    return 1;
}

/* A child does not inherit its parent's deferred signals. */
void signals_after_fork(void)
{
    hn_signals_deferred = 0;
    for (int i = 0; i < DEFERRED_MAX; i++)
        deferred[i].state = FREE;
}
