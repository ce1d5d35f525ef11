/* Calls that may block on something other than a futex, in deterministic order: as the runtime does
 * it (runtime/fd_wait.c), the thread asks whether the call would block, and waits in virtual time
 * while it would. Where there is no such question, or where the call itself must say that time is
 * up, it is made here in its place (host_waits.c). On machines where that is impossible, a time-out
 * that the kernel would wait out for real is overwritten with zero for the length of the call; and
 * where it is no memory but an argument (poll, epoll_wait), the call is made outside, without the
 * turn, and the recording does not promise to repeat.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { POLLED_MAX = 1024 };

static const struct timespec zero;

int64_t timespec_ns(const struct timespec *t)
{
    int64_t ns;

    if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= HN_NS_PER_SECOND)
        return 0;
    if (__builtin_mul_overflow(t->tv_sec, INT64_C(1000000000), &ns))
        return INT64_MAX / 2;
    return ns + t->tv_nsec;
}

/* nanosleep and clock_nanosleep; `request` is the address of the time. */
void guest_sleep(struct hn_thread *me, clockid_t clock, int absolute, uint64_t request)
{
    struct timespec wanted;
    int64_t ns;

    if (!peek(request, &wanted, sizeof wanted) || !hn_is_virtual(clock))
        return;
    if (dispatch_possible()) {
        choose_replacement(guest_of(me), guest_of(me)->call, 0);
        return;
    }
    ns = absolute ? hn_until(&wanted, clock) : timespec_ns(&wanted);
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

/* poll and ppoll; a negative time-out means none, and `timeout` is its address, 0 for poll. */
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
    const size_t bytes = bytes_of_set(s->count > 0 ? s->count : 0);

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
        timeout_ns = timespec_ns(&t);
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

/* Whether a child has changed its state in a way that the caller waits for. */
int child_ready(idtype_t type, id_t id, int options)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    return waitid(type, id, &info, options | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

struct child_call {
    idtype_t type;
    id_t id;
    int options;
};

static int child_of_call_ready(void *argument)
{
    const struct child_call *c = argument;

    return child_ready(c->type, c->id, c->options);
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
    if ((c.options & WNOHANG) != 0 || child_of_call_ready(&c))
        return;
    /* The duration depends on the other process. */
    hn_shared->outside++;
    if (dispatch_possible())
        choose_replacement(guest_of(me), call, 0);
    else
        hn_wait_until(me, child_of_call_ready, &c, -1);
}

/* Whether a write may have to wait in the middle, unlike one that a pipe or stream with some room
 * takes as a whole. */
static int may_stop_midway(int fd, uint64_t size)
{
    struct stat status;
    int type = 0;
    socklen_t length = sizeof type;

    if (size <= PIPE_BUF || fstat(fd, &status) != 0)
        return 0;
    if (S_ISSOCK(status.st_mode))
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length);
    return (S_ISFIFO(status.st_mode) || type == SOCK_STREAM) &&
           (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

/* Total bytes of an iovec. */
static uint64_t bytes_of(uint64_t pieces, uint64_t count)
{
    struct iovec piece;
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < count && peek(pieces + i * sizeof piece, &piece, sizeof piece); i++)
        bytes += piece.iov_len;
    return bytes;
}

/* Whether what is written to a descriptor may have to wait for room. */
static int takes_parts(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* A call for which one cannot ask whether it blocks: it is replaced, or made without the turn. */
static void wait_in_call(struct hn_thread *me, enum call call, int midway)
{
    if (dispatch_possible())
        choose_replacement(guest_of(me), call, midway);
    else
        hn_leave(me);
}

enum hn_fd_use use_of_fd(enum call call)
{
    switch (call) {
    case CALL_ACCEPT: case CALL_ACCEPT4:
        return HN_FD_ACCEPTS;
    case CALL_RECVFROM: case CALL_RECVMSG: case CALL_SENDTO: case CALL_SENDMSG:
    case CALL_RECVMMSG: case CALL_SENDMMSG:
        return HN_FD_SOCKET;
    default:
        return HN_FD_FILE;
    }
}

/* A call that waits for a descriptor. */
static void wait_for_fd(struct hn_thread *me, enum call call, int fd, short events)
{
    if (!hn_fd_blocks(fd, events, use_of_fd(call)))
        return;
    if (dispatch_possible())
        choose_replacement(guest_of(me), call, 0);
    else
        hn_wait_fd(me, fd, events, use_of_fd(call));
}

/* A call that may block although its descriptor is ready: it has many messages, much data, or a
 * receiver without room. */
static void wait_in_attempts(struct hn_thread *me, enum call call, int fd, short events)
{
    if (!hn_fd_waits(fd))
        return;
    if (dispatch_possible())
        choose_replacement(guest_of(me), call, 0);
    else
        hn_wait_fd(me, fd, events, use_of_fd(call));
}

static void wait_to_write(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    const uint64_t size = call == CALL_WRITEV ? bytes_of(a[1], a[2]) : a[2];
    const int plain = call != CALL_SENDTO || (a[3] & ~(uint64_t)MSG_NOSIGNAL) == 0;

    if (plain && may_stop_midway((int)a[0], size))
        wait_in_call(me, call, 1);
    else if (call == CALL_SENDTO)
        wait_in_attempts(me, call, (int)a[0], POLLOUT);
    else
        wait_for_fd(me, call, (int)a[0], POLLOUT);
}

/* Whether the other end is on this machine, so that connecting does not wait. */
static int connects_at_once(const uint64_t a[6])
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to = {{0}};
    int type = 0;
    socklen_t length = sizeof type;

    if ((fcntl((int)a[0], F_GETFL) & O_NONBLOCK) != 0 ||
        getsockopt((int)a[0], SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type == SOCK_DGRAM ||
        !peek(a[1], &to, a[2] < sizeof to ? (size_t)(uint32_t)a[2] : sizeof to))
        return 1;
    if (to.any.sa_family == AF_INET)
        return ntohl(to.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (to.any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&to.v6.sin6_addr);
    return to.any.sa_family == AF_UNIX || to.any.sa_family == AF_UNSPEC;
}

/* Whether the header of a message can be read; without, the call fails. */
static int has_message(uint64_t address)
{
    struct msghdr message;
    struct iovec first;

    return peek(address, &message, sizeof message) &&
           (message.msg_iovlen == 0 ||
            peek((uint64_t)(uintptr_t)message.msg_iov, &first, sizeof first));
}

/* Whether an iovec has no bytes, or is refused. */
static int is_empty(uint64_t pieces, uint64_t count)
{
    struct iovec piece;
    int empty = 1;

    for (uint64_t i = 0; i < count; i++) {
        if (!peek(pieces + i * sizeof piece, &piece, sizeof piece) ||
            hn_beyond_memory((uint64_t)(uintptr_t)piece.iov_base, piece.iov_len))
            return 1;
        empty = empty && piece.iov_len == 0;
    }
    return empty;
}

static int asks_not_to_wait(enum call call, const uint64_t a[6])
{
    /* Errors and urgent data are there or not. */
    const uint64_t at_once = MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB;

    switch (call) {
    case CALL_READ: case CALL_WRITE:
        return a[2] == 0 || hn_beyond_memory(a[1], a[2]);
    case CALL_READV: case CALL_WRITEV:
        return a[2] > IOV_MAX || is_empty(a[1], a[2]);
    case CALL_ACCEPT4:
        return (a[3] & ~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0;
    case CALL_RECVFROM:
        return (a[3] & at_once) != 0;
    case CALL_RECVMMSG:
        return (a[3] & at_once) != 0;
    case CALL_SENDMMSG:
        return (a[3] & (MSG_DONTWAIT | MSG_FASTOPEN)) != 0;
    case CALL_RECVMSG:
        return (a[2] & at_once) != 0 || !has_message(a[1]);
    case CALL_SENDTO:
        return (a[3] & MSG_DONTWAIT) != 0;
    case CALL_SENDMSG:
        return (a[2] & (MSG_DONTWAIT | MSG_FASTOPEN)) != 0 || !has_message(a[1]);
    case CALL_FLOCK:
        return (a[1] & (LOCK_NB | LOCK_UN)) != 0;
    case CALL_FCNTL:
        return a[1] != F_SETLKW && a[1] != F_OFD_SETLKW;
    case CALL_MSGRCV:
        return (a[4] & IPC_NOWAIT) != 0;
    case CALL_MSGSND:
        return (a[3] & IPC_NOWAIT) != 0;
    case CALL_POLL:
        return (int)a[2] == 0;
    case CALL_EPOLL:
        return (int)a[3] == 0;
    default:
        return 0;
    }
}

/* poll and the like where the kernel cannot send calls back. */
static void wait_asking(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    struct timespec t;

    if (call == CALL_POLL) {
        wait_polled(me, a, (int)a[2] < 0 ? -1 : (int)a[2] * INT64_C(1000000), 0);
    } else if (call == CALL_PPOLL) {
        if (a[3] != 0)      /* other signals are blocked in the call than here */
            hn_leave(me);
        else if (a[2] == 0)
            wait_polled(me, a, -1, 0);
        else if (peek(a[2], &t, sizeof t))
            wait_polled(me, a, timespec_ns(&t), a[2]);
    } else if (call == CALL_EPOLL) {
        if ((int)a[3] < 0)
            hn_wait_until(me, epoll_ready, (void *)(uintptr_t)&a[0], -1);
        else
            hn_leave(me);
    } else {
        wait_selected(me, a, call == CALL_SELECT);
    }
}

/* Called before a call that may block. */
void guest_wait(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    if (asks_not_to_wait(call, a))
        return;
    switch (call) {
    case CALL_READ: case CALL_READV: case CALL_ACCEPT: case CALL_ACCEPT4: case CALL_RECVFROM:
    case CALL_RECVMSG:
        wait_for_fd(me, call, (int)a[0], POLLIN);
        break;
    case CALL_RECVMMSG:
        wait_in_attempts(me, call, (int)a[0], POLLIN);
        break;
    case CALL_SENDMSG: case CALL_SENDMMSG:
        wait_in_attempts(me, call, (int)a[0], POLLOUT);
        break;
    case CALL_SENDFILE:
        if (takes_parts((int)a[0]))
            wait_in_attempts(me, call, (int)a[0], POLLOUT);
        break;
    case CALL_WRITE: case CALL_WRITEV: case CALL_SENDTO:
        wait_to_write(me, call, a);
        break;
    case CALL_POLL: case CALL_PPOLL: case CALL_SELECT: case CALL_PSELECT: case CALL_EPOLL:
        if (dispatch_possible())
            choose_replacement(guest_of(me), call, 0);
        else
            wait_asking(me, call, a);
        break;
    case CALL_FLOCK: case CALL_FCNTL: case CALL_MSGRCV: case CALL_MSGSND: case CALL_SEMOP:
    case CALL_SIGNAL_WAIT: case CALL_SUSPEND:
        wait_in_call(me, call, 0);
        break;
    case CALL_CONNECT:
        if (!connects_at_once(a))
            hn_leave(me);
        break;
    default:
        wait_child(me, call, a);
        break;
    }
}
