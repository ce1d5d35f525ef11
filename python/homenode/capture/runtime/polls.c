/* System calls that wait for several descriptors: in deterministic order the call without a
 * time-out, repeated in virtual time. A call with a signal mask is left to the kernel, outside. */
#include "hn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>

struct poll_call {
    struct pollfd *fds;
    nfds_t count;
    int result;
};

static int poll_ready(void *argument)
{
    struct poll_call *c = argument;
    const struct timespec now = {0, 0};
    long result = hn_sys(SYS_ppoll, (long)c->fds, (long)c->count, (long)&now, 0);

    if (result < 0) {
        errno = (int)-result;
        result = -1;
    }
    c->result = (int)result;
    return result != 0;
}

INTERPOSE(int, ppoll, (struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask))
{
    struct hn_thread *me = hn_enter_call(SYS_ppoll);
    struct poll_call call = {fds, count, 0};
    int64_t timeout_ns;
    int result;

    if (me == NULL || !hn_limit_ns(timeout, &timeout_ns)) {
        result = REAL(ppoll)(fds, count, timeout, mask);
    } else if (mask != NULL) {
        hn_leave(me);
        result = REAL(ppoll)(fds, count, timeout, mask);
        hn_inside();
    } else {
        result = hn_wait_until(me, poll_ready, &call, timeout_ns) < 0 ? -1 : call.result;
    }
    hn_leave_call(SYS_ppoll);
    return result;
}

INTERPOSE(int, poll, (struct pollfd *fds, nfds_t count, int timeout_ms))
{
    const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

    if (hn_inside() == NULL)
        return REAL(poll)(fds, count, timeout_ms);
    return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

INTERPOSE(int, __poll_chk, (struct pollfd *fds, nfds_t count, int timeout_ms, size_t room))
{
    (void)room;
    return poll(fds, count, timeout_ms);
}

/* The answers overwrite the program's sets, which the program may not be able to read or write: it
 * is asked about copies, and the kernel writes the program's own in the last call. */
struct select_call {
    int count;
    size_t bytes;
    const fd_set *sets[3];
    fd_set given[3];
};

HN_DECLARE_REAL(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *));
HN_DECLARE_REAL(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *,
                               const sigset_t *));

static int select_ready(void *argument)
{
    const struct select_call *c = argument;
    struct timeval now = {0, 0};
    fd_set copies[3], *asked[3];

    for (int i = 0; i < 3; i++) {
        asked[i] = c->sets[i] == NULL ? NULL : &copies[i];
        memcpy(&copies[i], &c->given[i], c->bytes);
    }
    return REAL(select)(c->count, asked[0], asked[1], asked[2], &now) != 0;
}

/* Waits until `select` answers at once, or its time is up: 0. An error: -1. */
static int wait_selected(struct hn_thread *me, int count, fd_set *const sets[3],
                         int64_t timeout_ns)
{
    struct select_call call = {.count = count, .sets = {sets[0], sets[1], sets[2]}};
    int result;

    if (count < 0)
        return 0;
    if (count > FD_SETSIZE) {       /* how much the kernel reads depends on its own tables */
        hn_leave(me);
        return 0;
    }
    call.bytes = (size_t)(count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
    for (int i = 0; i < 3; i++)
        if (sets[i] != NULL && hn_copy_in(&call.given[i], sets[i], call.bytes) != 0)
            return 0;
    result = hn_wait_until(me, select_ready, &call, timeout_ns);
    return result < 0 ? -1 : 0;
}

/* The time to wait in the kernel: none, unless the thread has no turn. */
static int waits_in_kernel(const struct hn_thread *me)
{
    return me->state != HN_RUNNING || hn_c->order == 0;
}

/* Writes the rest of a time-out in its place, as the kernel does. */
static void write_rest(struct timeval *timeout, const struct hn_thread *me, uint64_t until)
{
    const uint64_t now = hn_now_ns(me);
    const uint64_t left = until > now ? until - now : 0;

    timeout->tv_sec = (time_t)(left / HN_NS_PER_SECOND);
    timeout->tv_usec = (suseconds_t)(left % HN_NS_PER_SECOND / 1000);
}

INTERPOSE_DECLARED(int, select, (int count, fd_set *r, fd_set *w, fd_set *e,
                                 struct timeval *timeout))
{
    struct hn_thread *me = hn_enter_call(SYS_select);
    struct timeval now = {0, 0};
    struct timespec limit;
    int64_t timeout_ns = -1;
    uint64_t until = 0;
    int result = -1;

    if (me != NULL && timeout != NULL) {
        limit.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000;
        limit.tv_nsec = timeout->tv_usec % 1000000 * 1000;
        if (!hn_limit_ns(&limit, &timeout_ns))
            me = NULL;
        else
            until = hn_now_ns(me) + (uint64_t)timeout_ns;
    }
    if (me == NULL || wait_selected(me, count, (fd_set *[]){r, w, e}, timeout_ns) == 0)
        result = REAL(select)(count, r, w, e,
                              me == NULL || waits_in_kernel(me) ? timeout : &now);
    if (me != NULL && hn_inside() == me && timeout != NULL && count <= FD_SETSIZE)
        write_rest(timeout, me, until);
    hn_leave_call(SYS_select);
    return result;
}

INTERPOSE_DECLARED(int, pselect, (int count, fd_set *r, fd_set *w, fd_set *e,
                                  const struct timespec *timeout, const sigset_t *mask))
{
    struct hn_thread *me = hn_enter_call(SYS_pselect6);
    const struct timespec now = {0, 0};
    int64_t timeout_ns = -1;
    int result = -1;

    if (me != NULL && !hn_limit_ns(timeout, &timeout_ns))
        me = NULL;
    if (me != NULL && mask != NULL)
        hn_leave(me);
    if (me == NULL || mask != NULL ||
        wait_selected(me, count, (fd_set *[]){r, w, e}, timeout_ns) == 0)
        result = REAL(pselect)(count, r, w, e,
                               me == NULL || waits_in_kernel(me) ? timeout : &now, mask);
    if (me != NULL)
        hn_inside();
    hn_leave_call(SYS_pselect6);
    return result;
}
