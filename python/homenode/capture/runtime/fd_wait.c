/* Waits in virtual time for a condition, mostly for a descriptor to be ready. */
#include "hn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { STEP_NS = 2000, STEP_MAX_NS = 1000000 };

/* Waits until `ready` returns true: 1. Time-out: 0. A handler ran that does not restart calls: -1
 * and EINTR. Also 1 when recording ends: the real call then blocks as usual. */
int hn_wait_until(struct hn_thread *me, int (*ready)(void *), void *argument, int64_t timeout_ns)
{
    int64_t step_ns = STEP_NS;
    enum hn_woken why;

    pthread_testcancel();
    while (!ready(argument)) {
        if (timeout_ns == 0)
            return 0;
        if (timeout_ns > 0 && step_ns > timeout_ns)
            step_ns = timeout_ns;
        me->wait_cancellable = 1;
        why = hn_block(me, argument, HN_W_TIME, step_ns);
        me->wait_cancellable = 0;
        pthread_testcancel();
        if (hn_c->order == 0)
            return 1;
        if (why == HN_BY_SIGNAL && !(me->restarts && me->may_restart)) {
            errno = EINTR;
            return -1;
        }
        if (timeout_ns > 0)
            timeout_ns -= step_ns;
        if (step_ns < STEP_MAX_NS)
            step_ns *= 2;
    }
    return 1;
}

/* The same for a call that the kernel restarts after a handler with SA_RESTART, unlike poll. */
int hn_wait_restarting(struct hn_thread *me, int (*ready)(void *), void *argument,
                       int64_t timeout_ns)
{
    int result;

    me->may_restart = 1;
    result = hn_wait_until(me, ready, argument, timeout_ns);
    me->may_restart = 0;
    return result;
}

static int fd_ready(void *argument)
{
    struct pollfd *p = argument;
    const struct timespec now = {0, 0};
    const long result = hn_sys(SYS_ppoll, (long)p, 1, (long)&now, 0);

    /* A signal ends it although it does not wait. Errors are left to the call itself. */
    return result != 0 && result != -EINTR;
}

/* The time-out that is set on the socket; negative: none. */
int64_t hn_socket_timeout_ns(int fd, short events)
{
    const int option = events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
    struct timeval limit = {0, 0};
    socklen_t size = sizeof limit;

    if (getsockopt(fd, SOL_SOCKET, option, &limit, &size) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0))
        return -1;
    return (limit.tv_sec * INT64_C(1000000) + limit.tv_usec) * 1000;
}

/* Whether calls on `fd` wait, unless they ask not to. */
int hn_fd_waits(int fd)
{
    const long flags = hn_sys(SYS_fcntl, fd, F_GETFL, 0, 0);

    return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

/* Whether the kernel refuses the call before it looks whether the descriptor is ready: it is no
 * socket, or one that is in the wrong state for this use. */
static int wrong_socket(int fd, short events, enum hn_fd_use use)
{
    const struct msghdr nothing = {0};
    int listens = 0, family = AF_UNSPEC, type = 0;
    socklen_t size = sizeof listens;
    long sent;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0)
        return use != HN_FD_FILE && errno == ENOTSOCK;
    if (listens != 0 || use == HN_FD_ACCEPTS)
        return (listens != 0) != (use == HN_FD_ACCEPTS);
    if (events != POLLOUT)
        return 0;
    /* A full one that has been shut down is not ready. Sending nothing tells; datagrams may be
     * empty. */
    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
    if (family != AF_UNIX || type != SOCK_STREAM)
        return 0;
    sent = hn_sys(SYS_sendmsg, fd, (long)&nothing, MSG_DONTWAIT | MSG_NOSIGNAL, 0);
    return sent < 0 && sent != -EAGAIN;
}

/* Whether a call on `fd` would block now; one that the descriptor is not made for fails. */
int hn_fd_blocks(int fd, short events, enum hn_fd_use use)
{
    const long refused = events == POLLIN ? O_WRONLY : O_RDONLY;
    struct pollfd p = {fd, events, 0};
    long flags;

    if (fd_ready(&p))
        return 0;
    flags = hn_sys(SYS_fcntl, fd, F_GETFL, 0, 0);
    return flags >= 0 && (flags & O_NONBLOCK) == 0 && (flags & O_ACCMODE) != refused &&
           !wrong_socket(fd, events, use);
}

/* Waits until a call on `fd` will not block. -1: the call fails now, with errno. */
int hn_wait_fd(struct hn_thread *me, int fd, short events, enum hn_fd_use use)
{
    struct pollfd p = {fd, events, 0};
    int result;

    if (!hn_fd_blocks(fd, events, use))
        return 0;
    result = hn_wait_restarting(me, fd_ready, &p, hn_socket_timeout_ns(fd, events));
    if (result == 0)
        errno = EAGAIN;
    return result == 1 ? 0 : -1;
}

/* Whether the kernel refuses a buffer, whatever is mapped there. */
int hn_beyond_memory(uint64_t start, uint64_t size)
{
    return size > INT64_MAX || start + size > INT64_MAX;
}

/* The nanoseconds of a time-out, or -1 if there is none. Returns 0 if the kernel refuses it. */
int hn_limit_ns(const struct timespec *timeout, int64_t *ns)
{
    *ns = -1;
    if (timeout == NULL)
        return 1;
    if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= HN_NS_PER_SECOND)
        return 0;
    if (__builtin_mul_overflow(timeout->tv_sec, INT64_C(1000000000), ns) ||
        __builtin_add_overflow(*ns, timeout->tv_nsec, ns))
        *ns = INT64_MAX / 2;
    return 1;
}
