/* System calls that wait for events, as in blocking.c: epoll, children, signals, file locks. */
#include "hn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Deterministic order: repeats the call without waiting until it has an answer. A call with a
 * signal mask is left to the kernel, outside. */
struct epoll_call {
    int fd, most, result;
    struct epoll_event *events;
};

HN_DECLARE_REAL(int, epoll_wait, (int, struct epoll_event *, int, int));

static int epoll_ready(void *argument)
{
    struct epoll_call *c = argument;

    c->result = REAL(epoll_wait)(c->fd, c->events, c->most, 0);
    return c->result != 0;
}

INTERPOSE_DECLARED(int, epoll_wait, (int fd, struct epoll_event *events, int most, int timeout_ms))
{
    struct hn_thread *me = hn_enter_call(SYS_epoll_wait);
    struct epoll_call call = {fd, most, 0, events};
    int64_t timeout_ns = timeout_ms < 0 ? -1 : timeout_ms * INT64_C(1000000);
    int result;

    if (me == NULL) {
        result = REAL(epoll_wait)(fd, events, most, timeout_ms);
    } else {
        result = hn_wait_until(me, epoll_ready, &call, timeout_ns) < 0 ? -1 : call.result;
    }
    hn_leave_call(SYS_epoll_wait);
    return result;
}

/* Calls that cannot be asked whether they would block: made outside, without the baton. */
#define OUTSIDE(ret, name, number, params, ...)            \
    INTERPOSE(ret, name, params)                           \
    {                                                      \
        struct hn_thread *me = hn_enter_call(number);      \
        ret result;                                        \
                                                           \
        if (me != NULL)                                    \
            hn_leave(me);                                  \
        result = REAL(name)(__VA_ARGS__);                  \
        if (me != NULL)                                    \
            hn_inside();                                   \
        hn_leave_call(number);                             \
        return result;                                     \
    }

OUTSIDE(int, epoll_pwait, SYS_epoll_pwait,
        (int fd, struct epoll_event *events, int most, int timeout_ms, const sigset_t *mask), fd,
        events, most, timeout_ms, mask)
OUTSIDE(int, pause, SYS_pause, (void), )
OUTSIDE(int, sigsuspend, SYS_rt_sigsuspend, (const sigset_t *mask), mask)
OUTSIDE(int, connect, SYS_connect, (int fd, const struct sockaddr *to, socklen_t length), fd, to,
        length)

/* Waits for signals. */
struct signal_call {
    const sigset_t *set;
    siginfo_t *info;
    int result;
};

HN_DECLARE_REAL(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *));

static int signal_ready(void *argument)
{
    const struct timespec now = {0, 0};
    struct signal_call *c = argument;

    c->result = REAL(sigtimedwait)(c->set, c->info, &now);
    return c->result > 0 || errno != EAGAIN;
}

INTERPOSE_DECLARED(int, sigtimedwait, (const sigset_t *set, siginfo_t *info,
                                       const struct timespec *timeout))
{
    struct hn_thread *me = hn_enter_call(SYS_rt_sigtimedwait);
    struct signal_call call = {set, info, -1};
    int64_t timeout_ns = 0;
    int state;

    if (me == NULL || !hn_limit_ns(timeout, &timeout_ns)) {
        call.result = REAL(sigtimedwait)(set, info, timeout);
    } else {
        state = hn_wait_until(me, signal_ready, &call, timeout_ns);
        if (state == 0)
            errno = EAGAIN;
        if (state < 1)
            call.result = -1;
    }
    hn_leave_call(SYS_rt_sigtimedwait);
    return call.result;
}

INTERPOSE(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info))
{
    return hn_inside() == NULL ? REAL(sigwaitinfo)(set, info) : sigtimedwait(set, info, NULL);
}

INTERPOSE(int, sigwait, (const sigset_t *set, int *number))
{
    siginfo_t info;
    int result;

    if (hn_inside() == NULL)
        return REAL(sigwait)(set, number);
    do
        result = sigtimedwait(set, &info, NULL);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno;
    *number = result;
    return 0;
}

/* Children. */
struct wait_call {
    pid_t who, result;
    int *status;
    int options;
    struct rusage *usage;
};

HN_DECLARE_REAL(pid_t, wait4, (pid_t, int *, int, struct rusage *));

static int child_ready(void *argument)
{
    struct wait_call *c = argument;

    c->result = REAL(wait4)(c->who, c->status, c->options | WNOHANG, c->usage);
    return c->result != 0;
}

/* How far other threads have got when a child ends depends on real time, also if it has ended. */
static void note_child_awaited(const struct hn_thread *me)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (&hn_slots[i] != me && hn_slots[i].state != HN_UNUSED && hn_slots[i].state != HN_DEAD) {
            hn_shared->outside++;
            return;
        }
}

INTERPOSE_DECLARED(pid_t, wait4, (pid_t who, int *status, int options, struct rusage *usage))
{
    struct hn_thread *me = hn_enter_call(SYS_wait4);
    struct wait_call call = {who, 0, status, options, usage};
    pid_t result;

    if (me == NULL || (options & WNOHANG) != 0)
        result = REAL(wait4)(who, status, options, usage);
    else {
        note_child_awaited(me);
        result = hn_wait_restarting(me, child_ready, &call, -1) < 0 ? -1 : call.result;
    }
    hn_leave_call(SYS_wait4);
    return result;
}

INTERPOSE(pid_t, waitpid, (pid_t who, int *status, int options))
{
    return hn_inside() == NULL ? REAL(waitpid)(who, status, options)
                               : wait4(who, status, options, NULL);
}

INTERPOSE(pid_t, wait, (int *status))
{
    return hn_inside() == NULL ? REAL(wait)(status) : wait4(-1, status, 0, NULL);
}

INTERPOSE(pid_t, wait3, (int *status, int options, struct rusage *usage))
{
    return hn_inside() == NULL ? REAL(wait3)(status, options, usage)
                               : wait4(-1, status, options, usage);
}

OUTSIDE(int, waitid, SYS_waitid, (idtype_t kind, id_t who, siginfo_t *info, int options), kind,
        who, info, options)

/* File locks. */
struct flock_call {
    int fd, operation, result;
};

HN_DECLARE_REAL(int, flock, (int, int));

static int flock_ready(void *argument)
{
    struct flock_call *c = argument;

    c->result = REAL(flock)(c->fd, c->operation | LOCK_NB);
    return c->result == 0 || errno != EWOULDBLOCK;
}

INTERPOSE_DECLARED(int, flock, (int fd, int operation))
{
    struct hn_thread *me = hn_enter_call(SYS_flock);
    struct flock_call call = {fd, operation, 0};
    int result;

    if (me == NULL || (operation & LOCK_NB) != 0)
        result = REAL(flock)(fd, operation);
    else
        result = hn_wait_restarting(me, flock_ready, &call, -1) < 0 ? -1 : call.result;
    hn_leave_call(SYS_flock);
    return result;
}

struct fcntl_call {
    int fd, command, result;
    void *argument;
};

HN_DECLARE_REAL(int, fcntl, (int, int, ...));

static int fcntl_ready(void *argument)
{
    struct fcntl_call *c = argument;

    c->result = REAL(fcntl)(c->fd, c->command, c->argument);
    return c->result == 0 || (errno != EAGAIN && errno != EACCES);
}

static int any_fcntl(int fd, int command, void *argument)
{
    const int waits = command == F_SETLKW || command == F_OFD_SETLKW;
    struct hn_thread *me = waits ? hn_enter_call(SYS_fcntl) : NULL;
    struct fcntl_call call = {fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, 0, argument};
    int result;

    if (me == NULL)
        result = REAL(fcntl)(fd, command, argument);
    else
        result = hn_wait_restarting(me, fcntl_ready, &call, -1) < 0 ? -1 : call.result;
    if (waits)
        hn_leave_call(SYS_fcntl);
    return result;
}

INTERPOSE_DECLARED(int, fcntl, (int fd, int command, ...))
{
    va_list rest;
    void *argument;

    va_start(rest, command);
    argument = va_arg(rest, void *);
    va_end(rest);
    return any_fcntl(fd, command, argument);
}

INTERPOSE(int, fcntl64, (int fd, int command, ...))
{
    va_list rest;
    void *argument;

    va_start(rest, command);
    argument = va_arg(rest, void *);
    va_end(rest);
    return any_fcntl(fd, command, argument);
}
