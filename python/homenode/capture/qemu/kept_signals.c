/* Signals that come while threads take turns without the kernel (carriers.c of the runtime).
 *
 * A signal is for a kernel thread, and QEMU's handler leaves it to the program's thread that it
 * finds there, with all others blocked in that kernel thread until the program's handler begins. So
 * it is passed on only where that thread is on its own kernel thread, and stays there. Else it is
 * kept: the thread that has the turn sees to it at the end of it, and all threads go home for good;
 * each sends itself there what was kept for it.
 */
#include "guest.h"

#include <sys/syscall.h>

enum { KEPT_MAX = 64 };

static struct kept {
    uint32_t state;
    int tid;                    /* of the kernel thread that it came to */
    int number;
    siginfo_t info;
} kept[KEPT_MAX];
enum { FREE, BEING_FILLED, FULL };

int hn_signals_kept;            /* some are, or one was passed on */

/* QEMU has had handlers from the beginning. To be called home needs SIGBUS, whose handler is ours
 * then. */
int hn_has_handlers(void)
{
    return 0;
}

static void keep(int number, const siginfo_t *info)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        uint32_t expected = FREE;

        if (!__atomic_compare_exchange_n(&kept[i].state, &expected, BEING_FILLED, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        kept[i].tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
        kept[i].number = number;
        kept[i].info = *info;
        __atomic_store_n(&kept[i].state, FULL, __ATOMIC_RELEASE);
        return;
    }
}

/* Whether a signal that has come must not be handled yet. */
int keep_signal(int number, const siginfo_t *info)
{
    struct hn_thread *me = hn_me;
    int stays;

    if (me == &hn_nobody || hn_c->order == 0)
        return 0;
    stays = hn_is_home(me) && (me->stays_home || !me->in_runtime || !hn_carries);
    if (stays) {
        me->stays_home = 1;
        hn_signals_kept |= hn_carries;
        return 0;
    }
    keep(number, info);
    hn_signals_kept = 1;
    return 1;
}

/* A thread that is home for good gets what was kept for it. */
static void deliver(const struct hn_thread *me)
{
    hn_signals_kept = 0;
    for (int i = 0; i < KEPT_MAX; i++) {
        struct kept found = kept[i];

        if (__atomic_load_n(&kept[i].state, __ATOMIC_ACQUIRE) != FULL)
            continue;
        if (found.tid != me->tid) {
            hn_signals_kept = 1;
            continue;
        }
        __atomic_store_n(&kept[i].state, FREE, __ATOMIC_RELEASE);
        hn_sys(SYS_rt_tgsigqueueinfo, hn_c->pid, me->tid, found.number, (long)&found.info);
    }
}

/* All go home. The caller has the turn. */
void take_signals(struct hn_thread *me)
{
    hn_must_go_home(me);
    hn_stop_carrying();
    deliver(me);
}

/* A parked thread goes on. */
void hn_resumed(struct hn_thread *me)
{
    if (HN_UNLIKELY(hn_signals_kept) && !hn_carries && hn_is_home(me))
        deliver(me);
}

/* Sends home the thread that is stuck on this kernel thread: by a signal that is never blocked. */
void hn_send_home(int tid)
{
    siginfo_t info = {.si_signo = SIGBUS, .si_code = SI_QUEUE};

    info.si_pid = hn_c->pid;
    info.si_ptr = kept;
    hn_sys(SYS_rt_tgsigqueueinfo, hn_c->pid, tid, SIGBUS, (long)&info);
}

/* Whether a signal was that, and has been heeded. */
int sent_home(const siginfo_t *info)
{
    struct hn_thread *me = hn_me;

    if (info->si_code != SI_QUEUE || info->si_ptr != kept || info->si_pid != hn_c->pid)
        return 0;
    if (me->state == HN_OUTSIDE && !me->in_runtime)
        hn_go_home(me);
    return 1;
}

/* A child has no signals of its parent's. */
void signals_after_fork(void)
{
    hn_signals_kept = 0;
    for (int i = 0; i < KEPT_MAX; i++)
        kept[i].state = FREE;
}
