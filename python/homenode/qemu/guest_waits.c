/* Calls that may block on something else than a futex, in deterministic order: as the runtime does
 * it (runtime/fdwait.c), the thread asks whether the call would block, and waits in virtual time
 * while it would. A time-out that the kernel would wait out for real is overwritten with zero for
 * the length of the call; where it is no memory but an argument (poll, epoll_wait), the call is
 * made outside, without the turn, and the recording does not promise to repeat.
 */
#include "guest.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { POLLED_MAX = 1024 };

static const struct timespec zero;

static int64_t nanoseconds(const struct timespec *t)
{
    int64_t ns;

    if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= HN_NS_PER_SECOND)
        return 0;
    if (__builtin_mul_overflow(t->tv_sec, INT64_C(1000000000), &ns))
        return INT64_MAX / 2;
    return ns + t->tv_nsec;
}

/* nanosleep and clock_nanosleep; `request` is where the time is. */
void guest_sleep(struct hn_thread *me, clockid_t clock, int absolute, uint64_t request)
{
    struct timespec wanted;
    int64_t ns;

    if (!peek(request, &wanted, sizeof wanted) || !hn_is_virtual(clock))
        return;
    ns = absolute ? hn_until(&wanted, clock) : nanoseconds(&wanted);
    if (ns > 0)
        hn_block(me, me, HN_W_TIME, ns);
    if (hn_c->order != 0 && !patch(guest_of(me), request, &zero, sizeof zero))
        hn_leave(me);
}

struct polled {
    struct pollfd fds[POLLED_MAX];
    unsigned long count;
    uint64_t where;
};

static int polled_ready(void *argument)
{
    struct polled *p = argument;

    if (p->count > POLLED_MAX || !peek(p->where, p->fds, p->count * sizeof *p->fds))
        return 1;
    return hn_sys(SYS_ppoll, (long)p->fds, (long)p->count, (long)&zero, 0) != 0;
}

/* poll and ppoll; a negative time-out is none, and `timeout` is where it is, 0 for poll. */
static void wait_polled(struct hn_thread *me, const uint64_t a[6], int64_t timeout_ns,
                        uint64_t timeout)
{
    struct polled p;

    p.where = a[0];
    p.count = a[1];
    if (timeout_ns == 0 || polled_ready(&p))
        return;
    if (timeout_ns > 0 && timeout == 0) {
        hn_leave(me);
        return;
    }
    if (hn_wait_until(me, polled_ready, &p, timeout_ns) == 1 || hn_c->order == 0)
        return;
    if (timeout == 0 || !patch(guest_of(me), timeout, &zero, sizeof zero))
        hn_leave(me);
}

struct selected {
    int count;
    uint64_t where[3];
};

static int selected_ready(void *argument)
{
    const struct selected *s = argument;
    fd_set sets[3];
    fd_set *given[3] = {NULL, NULL, NULL};
    struct timespec now = zero;
    const size_t bytes = ((size_t)(s->count > 0 ? s->count : 0) + 63) / 64 * 8;

    if (bytes > sizeof sets[0])
        return 1;
    for (int i = 0; i < 3; i++) {
        if (s->where[i] == 0)
            continue;
        memset(&sets[i], 0, sizeof sets[i]);
        given[i] = &sets[i];
        if (bytes != 0 && !peek(s->where[i], given[i], bytes))
            return 1;
    }
    return pselect(s->count, given[0], given[1], given[2], &now, NULL) != 0;
}

static void wait_selected(struct hn_thread *me, const uint64_t a[6], int in_microseconds)
{
    struct selected s = {(int)a[0], {a[1], a[2], a[3]}};
    int64_t timeout_ns = -1;
    struct timespec t;

    if (a[4] != 0) {
        if (!peek(a[4], &t, sizeof t))
            return;
        t.tv_nsec *= in_microseconds ? 1000 : 1;
        timeout_ns = nanoseconds(&t);
    }
    if (hn_wait_until(me, selected_ready, &s, timeout_ns) == 1 || hn_c->order == 0)
        return;
    if (a[4] == 0 || !patch(guest_of(me), a[4], &zero, sizeof zero))
        hn_leave(me);
}

static int epoll_ready(void *argument)
{
    struct pollfd p = {(int)*(const uint64_t *)argument, POLLIN, 0};

    return hn_sys(SYS_ppoll, (long)&p, 1, (long)&zero, 0) != 0;
}

struct child_call {
    idtype_t type;
    id_t id;
    int options;
};

static int child_ready(void *argument)
{
    const struct child_call *c = argument;
    siginfo_t info;

    memset(&info, 0, sizeof info);
    return waitid(c->type, c->id, &info, c->options | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static void wait_child(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    struct child_call c;

    if (call == CALL_WAITID) {
        c = (struct child_call){(idtype_t)a[0], (id_t)a[1], (int)a[3]};
    } else {
        const int pid = (int)a[0];

        c.type = pid == -1 ? P_ALL : pid > 0 ? P_PID : P_PGID;
        c.id = (id_t)(pid > 0 ? pid : pid == -1 ? 0 : -pid);
        c.options = WEXITED | ((int)a[2] & (WNOHANG | WUNTRACED | WCONTINUED));
    }
    if ((c.options & WNOHANG) != 0 || child_ready(&c))
        return;
    /* How long it takes depends on the other process. */
    hn_shared->outside++;
    hn_wait_until(me, child_ready, &c, -1);
}

static int large_write(int fd, uint64_t size)
{
    struct stat status;

    return size > PIPE_BUF && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

static int asks_not_to_wait(enum call call, const uint64_t a[6])
{
    if (call == CALL_RECVFROM || call == CALL_SENDTO)
        return (a[3] & MSG_DONTWAIT) != 0;
    return (call == CALL_RECVMSG || call == CALL_SENDMSG) && (a[2] & MSG_DONTWAIT) != 0;
}

/* A call that may block is about to be made. */
void guest_wait(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    struct timespec t;

    if (call == CALL_READ || call == CALL_READV || call == CALL_RECVFROM || call == CALL_RECVMSG) {
        if (!asks_not_to_wait(call, a))
            hn_wait_fd(me, (int)a[0], POLLIN);
    } else if (call == CALL_SENDTO || call == CALL_SENDMSG) {
        if (!asks_not_to_wait(call, a))
            hn_wait_fd(me, (int)a[0], POLLOUT);
    } else if (call == CALL_WRITE) {
        if (large_write((int)a[0], a[2]))
            hn_leave(me);
        else
            hn_wait_fd(me, (int)a[0], POLLOUT);
    } else if (call == CALL_POLL) {
        wait_polled(me, a, (int)a[2] < 0 ? -1 : (int)a[2] * INT64_C(1000000), 0);
    } else if (call == CALL_PPOLL) {
        if (a[2] == 0)
            wait_polled(me, a, -1, 0);
        else if (peek(a[2], &t, sizeof t))
            wait_polled(me, a, nanoseconds(&t), a[2]);
    } else if (call == CALL_SELECT || call == CALL_PSELECT) {
        wait_selected(me, a, call == CALL_SELECT);
    } else if (call == CALL_EPOLL) {
        if ((int)a[3] < 0)
            hn_wait_until(me, epoll_ready, (void *)(uintptr_t)&a[0], -1);
        else if ((int)a[3] > 0)
            hn_leave(me);
    } else {
        wait_child(me, call, a);
    }
}
