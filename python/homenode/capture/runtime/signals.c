/* Signal handlers. A signal may interrupt the scheduler, a hook, or a thread that sleeps without
 * the baton; there a handler could neither record nor yield. So the program's handlers are called
 * through ours, which checks first. If the handler cannot run now, the signal is blocked, sent
 * again, and unblocked when the thread leaves the runtime: the kernel keeps the queue, so none is
 * lost.
 *
 * In a handler a thread records but never yields, because the interrupted code may hold a lock of
 * the C library that the next thread would wait for while it holds the baton.
 */
#include "hn.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { SIGNALS = 65, KERNEL_SET_BYTES = 8 };

typedef void handler_3(int, siginfo_t *, void *);

static struct sigaction wanted[SIGNALS];
static unsigned char ours[SIGNALS];

extern const char __start_hn_hooks[], __stop_hn_hooks[];

static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

static int in_a_hook(const ucontext_t *context)
{
    uintptr_t at = interrupted_at(context);

    return at >= (uintptr_t)__start_hn_hooks && at < (uintptr_t)__stop_hn_hooks;
}

/* Signals raised by an instruction: they cannot be deferred. */
static int is_synchronous(int number, const siginfo_t *info)
{
    if (info->si_code <= 0)
        return 0;
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP;
}

static int real_action(int number, const struct sigaction *action);

/* Calls the program's handler as the kernel would: SA_RESETHAND and SA_NODEFER, which the kernel
 * does not get, as a signal that is put off must come to our handler once more, and only then. */
static void call_handler(int number, siginfo_t *info, void *context)
{
    const struct sigaction action = wanted[number];
    const uint64_t set = UINT64_C(1) << (number - 1);

    if ((action.sa_flags & SA_RESETHAND) != 0) {
        struct sigaction reset = action;

        reset.sa_handler = SIG_DFL;
        ours[number] = 0;
        real_action(number, &reset);
    }
    if ((action.sa_flags & SA_NODEFER) != 0 && !sigismember(&action.sa_mask, number))
        hn_sys(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, KERNEL_SET_BYTES);
    if ((action.sa_flags & SA_SIGINFO) != 0)
        action.sa_sigaction(number, info, context);
    else
        action.sa_handler(number);
}

/* Blocks the signal until the thread leaves the runtime, and sends it again. */
static void put_off(struct hn_thread *me, int number, siginfo_t *info, ucontext_t *context)
{
    sigaddset(&context->uc_sigmask, number);
    me->put_off |= UINT64_C(1) << (number - 1);
    hn_sys(SYS_rt_tgsigqueueinfo, hn_c->pid, me->tid, number, (long)info);
    if (me->waiting) {
        hn_lock();
        hn_interrupt(me, HN_BY_SIGNAL);
        hn_unlock();
    } else if (!me->in_runtime && me->limit != NULL) {
        me->limit = me->next;   /* the next hook takes the slow path, which unblocks the signal */
    }
}

static void run_handler(struct hn_thread *me, int number, siginfo_t *info, void *context)
{
    const int was_outside = me->state == HN_OUTSIDE;
    const uintptr_t saved_low = me->handler_low, saved_high = me->handler_high;
    const int saved_depth = me->in_handler;
    const uint64_t saved_turn = me->op_clock;
    const stack_t *stack = &((ucontext_t *)context)->uc_stack;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t base = (uintptr_t)stack->ss_sp;

    if (hn_logical && me->state == HN_RUNNING && hn_c->holder == me)
        me->op_clock = UINT64_MAX;      /* the interrupted operation is not over */
    if (hn_logical && !me->raises && !is_synchronous(number, info))
        hn_shared->signals++;
    me->in_handler = saved_depth + 1;
    me->handler_high = here;
    me->handler_low = here >= base && here < base + stack->ss_size ? base : 0;
    call_handler(number, info, context);
    me->handler_low = saved_low;
    me->handler_high = saved_high;
    me->in_handler = saved_depth;
    if (me->op_clock == UINT64_MAX)
        me->op_clock = saved_turn;
    me->restarts = (wanted[number].sa_flags & SA_RESTART) != 0;
    if (was_outside && me->state == HN_RUNNING)
        hn_leave(me);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct hn_thread *me = hn_me;
    int saved_errno = errno;

    if (me->state == HN_UNUSED || hn_c->order == 0)
        call_handler(number, info, context);
    else if (!is_synchronous(number, info) && (me->in_runtime || in_a_hook(context)))
        put_off(me, number, info, context);
    else
        run_handler(me, number, info, context);
    errno = saved_errno;
}

/* Whether the thread is still in the handler it entered, or has left it by siglongjmp. */
int hn_in_handler(struct hn_thread *me)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (me->in_handler == 0)
        return 0;
    if (here <= me->handler_high && here >= me->handler_low)
        return 1;
    me->in_handler = 0;
    return 0;
}

/* Delivers deferred signals. The caller has left the runtime. */
void hn_run_pending(struct hn_thread *me)
{
    uint64_t set = me->put_off;

    if (me->in_runtime)
        return;
    me->put_off = 0;
    hn_sys(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, KERNEL_SET_BYTES);
}

HN_DECLARE_REAL(int, sigaction, (int, const struct sigaction *, struct sigaction *));

static int real_action(int number, const struct sigaction *action)
{
    return REAL(sigaction)(number, action, NULL);
}

INTERPOSE_DECLARED(int, sigaction,
                   (int number, const struct sigaction *action, struct sigaction *old))
{
    struct sigaction before, mine;
    int was_ours, result;

    if (!hn_recording || number <= 0 || number >= SIGNALS)
        return REAL(sigaction)(number, action, old);
    before = wanted[number];
    was_ours = ours[number];
    if (action == NULL) {
        result = REAL(sigaction)(number, NULL, old);
    } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
        result = REAL(sigaction)(number, action, old);
        if (result == 0)
            ours[number] = 0;
    } else {
        hn_stop_user_switching();
        mine = *action;
        mine.sa_sigaction = on_signal;
        mine.sa_flags |= SA_SIGINFO;
        mine.sa_flags &= ~(SA_RESETHAND | SA_NODEFER);
        wanted[number] = *action;
        result = REAL(sigaction)(number, &mine, old);
        if (result == 0)
            ours[number] = 1;
        else
            wanted[number] = before;
    }
    if (result == 0 && old != NULL && was_ours && (old->sa_flags & SA_SIGINFO) != 0 &&
        old->sa_sigaction == on_signal) {
        const int replaced = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;

        old->sa_sigaction = before.sa_sigaction;
        old->sa_flags = (old->sa_flags & ~replaced) | (before.sa_flags & replaced);
    }
    return result;
}

typedef void (*plain_handler)(int);

/* Signals that interrupt system calls even if signal() installs the handler. */
static sigset_t interrupting;

enum { ONCE_FLAGS = SA_RESETHAND | SA_NODEFER };

static plain_handler set_plain(int number, plain_handler handler, int flags)
{
    struct sigaction action, old;

    if (handler == SIG_ERR || number < 1 || number >= SIGNALS) {
        errno = EINVAL;
        return SIG_ERR;
    }
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (flags == SA_RESTART) {
        sigaddset(&action.sa_mask, number);
        action.sa_flags = sigismember(&interrupting, number) ? 0 : SA_RESTART;
    }
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

#define SET_HANDLER(name, flags)                                                            \
    INTERPOSE(plain_handler, name, (int number, plain_handler handler))                     \
    {                                                                                       \
        return hn_recording ? set_plain(number, handler, flags) : REAL(name)(number, handler); \
    }

SET_HANDLER(signal, SA_RESTART)
SET_HANDLER(bsd_signal, SA_RESTART)
SET_HANDLER(ssignal, SA_RESTART)
SET_HANDLER(sysv_signal, ONCE_FLAGS)
SET_HANDLER(__sysv_signal, ONCE_FLAGS)

INTERPOSE(int, siginterrupt, (int number, int interrupts))
{
    struct sigaction action;

    if (!hn_recording)
        return REAL(siginterrupt)(number, interrupts);
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    if (interrupts) {
        sigaddset(&interrupting, number);
        action.sa_flags &= ~SA_RESTART;
    } else {
        sigdelset(&interrupting, number);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

/* System V: the handler stays, and the signal is unblocked; or the signal is blocked. */
INTERPOSE(plain_handler, sigset, (int number, plain_handler handler))
{
    plain_handler before;
    struct sigaction old;
    sigset_t only, mask;

    if (!hn_recording || number < 1 || number >= SIGNALS)
        return REAL(sigset)(number, handler);
    sigemptyset(&only);
    sigaddset(&only, number);
    if (handler == SIG_HOLD) {
        if (sigprocmask(SIG_BLOCK, &only, &mask) != 0 || sigaction(number, NULL, &old) != 0)
            return SIG_ERR;
        before = old.sa_handler;
    } else {
        before = set_plain(number, handler, 0);
        if (before == SIG_ERR || sigprocmask(SIG_UNBLOCK, &only, &mask) != 0)
            return SIG_ERR;
    }
    return sigismember(&mask, number) ? SIG_HOLD : before;
}

/* raise() and the like: the signal is for the calling thread. */
INTERPOSE(int, raise, (int number))
{
    struct hn_thread *me = hn_logical ? hn_inside() : NULL;
    int result;

    if (me == NULL)
        return REAL(raise)(number);
    me->raises++;
    result = REAL(raise)(number);
    me->raises--;
    return result;
}

/* Whether a library has installed a handler before the program began. The C library's handlers are
 * for signals that it reserves. */
int hn_has_handlers(void)
{
    enum { OF_THE_C_LIBRARY = 32 };
    struct { uintptr_t handler, rest[3]; } action;

    for (int i = 1; i < SIGNALS; i++)
        if (i != OF_THE_C_LIBRARY && i != OF_THE_C_LIBRARY + 1 &&
            hn_sys(SYS_rt_sigaction, i, 0, (long)&action, KERNEL_SET_BYTES) == 0 &&
            action.handler > (uintptr_t)SIG_IGN)
            return 1;
    return 0;
}

/* Moves a thread to its home, where it restarts its wait in the kernel. */
static void on_send_home(int number, siginfo_t *info, void *context)
{
    struct hn_thread *me = hn_me;
    int saved_errno = errno;

    if (me->state == HN_OUTSIDE && !me->in_runtime && !in_a_hook(context))
        hn_go_home(me);
    errno = saved_errno;
}

/* A parked thread resumes. There is nothing to deliver: with handlers there are no parked
 * threads. */
void hn_resumed(struct hn_thread *me) {}

/* Sends the thread home that is stuck on this kernel thread (user_threads.c). While a thread can be
 * away from home, the program has no handlers. */
void hn_send_home(int tid)
{
    static int ready;
    struct sigaction action = {.sa_sigaction = on_send_home, .sa_flags = SA_SIGINFO | SA_RESTART};

    if (!ready)
        REAL(sigaction)(SIGRTMAX, &action, NULL);
    ready = 1;
    hn_sys(SYS_tgkill, hn_c->pid, tid, SIGRTMAX, 0);
}

/* The program did not block the deferred signals: deliver them before it reads its mask. */
static void settle(const sigset_t *set)
{
    struct hn_thread *me = hn_me;

    if (set != NULL)
        hn_stop_user_switching();
    if (me->put_off != 0)
        hn_run_pending(me);
}

INTERPOSE(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old))
{
    settle(set);
    return REAL(pthread_sigmask)(how, set, old);
}

INTERPOSE(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old))
{
    settle(set);
    return REAL(sigprocmask)(how, set, old);
}
