/* Waits of the program that are made in place of QEMU's calls (syscall_dispatch.c), in virtual
 * time: each is the call itself, asked not to wait, again and again until it has an answer or time
 * is up. The arguments are those of the host's call.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* QEMU's own error number: the program's call is restarted after the signal's handler. */
enum { MAKE_AGAIN = 512, OPERATIONS_MAX = 64 };

/* A call, its form that does not wait, and the answer that means "not now". */
struct attempt {
    long number;
    long a[6];
    long not_now;
    long result;
    fd_set sets[3];             /* select's, as they were given */
};

static int answered(void *argument)
{
    struct attempt *t = argument;

    if (t->number == SYS_pselect6) {
        for (int i = 0; i < 3; i++)
            if (t->a[1 + i] != 0)
                memcpy((void *)t->a[1 + i], &t->sets[i], bytes_of_set(t->a[0]));
    }
    t->result = make_call(t->number, t->a);
    return t->result != t->not_now;
}

/* The result of a wait that a signal has ended. */
long interrupted(int may_restart)
{
    return may_restart && signal_restarts() ? -MAKE_AGAIN : -EINTR;
}

/* Waits for an answer; `original` is QEMU's call, which is made if recording ends meanwhile. */
static long await(struct hn_thread *me, struct attempt *t, const long original[6],
                  int64_t timeout_ns, int may_restart)
{
    const int state = hn_wait_until(me, answered, t, timeout_ns);

    if (state < 0)
        return interrupted(may_restart);
    if (state == 1 && t->result == t->not_now)
        return make_call(t->number, original);
    return t->result;
}

/* Waits with the call's signal mask; `mask` may be null. */
static long await_masked(struct hn_thread *me, struct attempt *t, const long original[6],
                         int64_t timeout_ns, const uint64_t *mask)
{
    uint64_t before;
    long result;

    if (mask == NULL)
        return await(me, t, original, timeout_ns, 0);
    dispatch_mask(mask, &before);
    result = await(me, t, original, timeout_ns, 0);
    if (result != -EINTR)
        dispatch_mask(&before, NULL);
    return result;
}

static uint64_t now_of(const struct hn_thread *me)
{
    return me->state == HN_RUNNING ? hn_now_ns(me) : 0;
}

/* Writes the rest of a time-out in its place, as the kernel does. */
static void write_rest(struct timespec *timeout, uint64_t until, const struct hn_thread *me)
{
    const uint64_t now = now_of(me);
    const uint64_t left = until > now ? until - now : 0;

    timeout->tv_sec = (time_t)(left / HN_NS_PER_SECOND);
    timeout->tv_nsec = (long)(left % HN_NS_PER_SECOND);
}

static long emulate_poll(struct hn_thread *me, long number, const long a[6])
{
    struct timespec zero = {0, 0};
    struct timespec *timeout = (struct timespec *)a[2];
    struct attempt t = {.number = number, .a = {a[0], a[1], (long)&zero, 0, 0, 0}};
    const int64_t ns = timeout == NULL ? -1 : timespec_ns(timeout);
    const uint64_t until = now_of(me) + (uint64_t)ns;
    const long result = await_masked(me, &t, a, ns, (const uint64_t *)a[3]);

    if (timeout != NULL)
        write_rest(timeout, until, me);
    return result;
}

static long emulate_select(struct hn_thread *me, long number, const long a[6])
{
    struct timespec zero = {0, 0};
    struct timespec *timeout = (struct timespec *)a[4];
    /* The last argument points to the mask and its size. */
    const uint64_t *mask = a[5] == 0 ? NULL : *(const uint64_t *const *)a[5];
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2], a[3], (long)&zero, 0}};
    const int64_t ns = timeout == NULL ? -1 : timespec_ns(timeout);
    const uint64_t until = now_of(me) + (uint64_t)ns;
    long result;

    if (a[0] < 0 || a[0] > FD_SETSIZE)
        return make_call(number, a);
    for (int i = 0; i < 3; i++)
        if (a[1 + i] != 0)
            memcpy(&t.sets[i], (const void *)a[1 + i], bytes_of_set(a[0]));
    result = await_masked(me, &t, a, ns, mask);
    if (timeout != NULL)
        write_rest(timeout, until, me);
    return result;
}

static long emulate_epoll(struct hn_thread *me, long number, const long a[6])
{
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2], 0, 0, 0}};
    const int64_t ns = (int)a[3] < 0 ? -1 : (int)a[3] * INT64_C(1000000);

    return await_masked(me, &t, a, ns, (const uint64_t *)a[4]);
}

/* One piece of a write: a pipe with room takes it as a whole; a socket returns the number of bytes
 * taken. `flags` are those of a socket. */
static long write_piece(int fd, const char *from, size_t size, long flags)
{
    const size_t piece = size < PIPE_BUF ? size : PIPE_BUF;
    const long a[6] = {fd, (long)from, (long)piece, flags | MSG_DONTWAIT, 0, 0};
    const long sent = make_call(SYS_sendto, a);

    return sent == -ENOTSOCK ? make_call(SYS_write, a) : sent;
}

/* Writes all; returns the number of bytes written, or the error if there are none. */
static long write_all(struct hn_thread *me, int fd, const char *from, size_t size, long flags)
{
    size_t done = 0;

    while (done < size) {
        const int failed = hn_wait_fd(me, fd, POLLOUT, HN_FD_FILE) != 0;
        const long rest[6] = {fd, (long)(from + done), (long)(size - done), 0, 0, 0};
        long result;

        if (failed)
            result = errno == EINTR ? interrupted(1) : -errno;
        else if (hn_c->order == 0)
            result = make_call(SYS_write, rest);
        else
            result = write_piece(fd, from + done, size - done, flags);
        if (result == -EAGAIN && !failed)
            continue;
        if (result < 0)
            return done > 0 ? (long)done : result;
        done += (size_t)result;
    }
    return (long)done;
}

static long emulate_write(struct hn_thread *me, long number, const long a[6])
{
    (void)number;
    return write_all(me, (int)a[0], (const char *)a[1], (size_t)a[2], 0);
}

static long emulate_sendto(struct hn_thread *me, long number, const long a[6])
{
    (void)number;
    return write_all(me, (int)a[0], (const char *)a[1], (size_t)a[2], a[3]);
}

/* A message; what a stream did not take at first is sent after it. A socket that is writable may
 * still refuse a datagram, for which its receiver has no room, so the call itself is repeated. */
static long emulate_sendmsg(struct hn_thread *me, long number, const long a[6])
{
    const struct msghdr *message = (const struct msghdr *)a[1];
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2] | MSG_DONTWAIT},
                        .not_now = -EAGAIN};
    long done = await(me, &t, a, hn_socket_timeout_ns((int)a[0], POLLOUT), 1);
    size_t taken = done > 0 ? (size_t)done : 0;

    for (size_t i = 0; done > 0 && i < message->msg_iovlen; i++) {
        const struct iovec *piece = &message->msg_iov[i];
        const size_t skipped = taken < piece->iov_len ? taken : piece->iov_len;
        long part;

        taken -= skipped;
        part = write_all(me, (int)a[0], (const char *)piece->iov_base + skipped,
                         piece->iov_len - skipped, a[2]);
        if (part < 0)
            return done;
        done += part;
        if ((size_t)part < piece->iov_len - skipped)
            break;
    }
    return done;
}

static long emulate_datagram(struct hn_thread *me, long number, const long a[6])
{
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2], a[3] | MSG_DONTWAIT, a[4], a[5]},
                        .not_now = -EAGAIN};

    return await(me, &t, a, hn_socket_timeout_ns((int)a[0], POLLOUT), 1);
}

/* One of the messages that the program wants. */
static long emulate_recvmsg(struct hn_thread *me, long number, const long a[6])
{
    if ((a[2] & MSG_DONTWAIT) == 0 && hn_wait_fd(me, (int)a[0], POLLIN, HN_FD_SOCKET) != 0)
        return errno == EINTR ? interrupted(1) : -errno;
    return make_call(number, a);
}

/* A pipe takes what it has room for. A socket takes all: in parts, between which the thread
 * waits. */
static long emulate_sendfile(struct hn_thread *me, long number, const long a[6])
{
    int type = 0;
    socklen_t length = sizeof type;
    const long size = a[3];
    const int in_parts = getsockopt((int)a[0], SOL_SOCKET, SO_TYPE, &type, &length) == 0;
    long done = 0, part;

    do {
        const long rest = size - done;

        if (hn_wait_fd(me, (int)a[0], POLLOUT, HN_FD_FILE) != 0)
            part = errno == EINTR ? interrupted(1) : -errno;
        else
            part = make_call(number,
                             (const long[6]){a[0], a[1], a[2],
                                             in_parts && rest > PIPE_BUF ? PIPE_BUF : rest});
        done += part > 0 ? part : 0;
    } while (part > 0 && in_parts && done < size);
    return done > 0 ? done : part;
}

static long emulate_writev(struct hn_thread *me, long number, const long a[6])
{
    const struct iovec *pieces = (const struct iovec *)a[1];
    long done = 0;

    (void)number;
    for (long i = 0; i < a[2]; i++) {
        const long part = write_all(me, (int)a[0], pieces[i].iov_base, pieces[i].iov_len, 0);

        if (part < 0)
            return done > 0 ? done : part;
        done += part;
        if ((size_t)part < pieces[i].iov_len)
            break;
    }
    return done;
}

static long emulate_flock(struct hn_thread *me, long number, const long a[6])
{
    struct attempt t = {.number = number, .a = {a[0], a[1] | LOCK_NB}, .not_now = -EWOULDBLOCK};

    return await(me, &t, a, -1, 1);
}

static long emulate_fcntl(struct hn_thread *me, long number, const long a[6])
{
    const long asks = a[1] == F_SETLKW ? F_SETLK : F_OFD_SETLK;
    struct attempt t = {.number = number, .a = {a[0], asks, a[2]}, .not_now = -EAGAIN};

    if (a[1] != F_SETLKW && a[1] != F_OFD_SETLKW)
        return make_call(number, a);
    return await(me, &t, a, -1, 1);
}

static long emulate_msgrcv(struct hn_thread *me, long number, const long a[6])
{
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2], a[3], a[4] | IPC_NOWAIT},
                        .not_now = -ENOMSG};

    return await(me, &t, a, -1, 0);
}

static long emulate_msgsnd(struct hn_thread *me, long number, const long a[6])
{
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2], a[3] | IPC_NOWAIT},
                        .not_now = -EAGAIN};

    return await(me, &t, a, -1, 0);
}

/* Lists with operations that do not wait are passed on, as the failed operation is not known. */
static long emulate_semop(struct hn_thread *me, long number, const long a[6])
{
    const struct sembuf *given = (const struct sembuf *)a[1];
    const struct timespec *timeout = (const struct timespec *)a[3];
    struct sembuf asks[OPERATIONS_MAX];
    struct attempt t = {.number = number, .a = {a[0], (long)asks, a[2], 0}, .not_now = -EAGAIN};

    if (a[2] < 0 || a[2] > OPERATIONS_MAX)
        return make_call(number, a);
    for (long i = 0; i < a[2]; i++) {
        if ((given[i].sem_flg & IPC_NOWAIT) != 0)
            return make_call(number, a);
        asks[i] = given[i];
        asks[i].sem_flg |= IPC_NOWAIT;
    }
    return await(me, &t, a, timeout == NULL ? -1 : timespec_ns(timeout), 0);
}

/* Whether a signal comes from outside of the program or from a timer, at a time not determined. */
int is_from_outside(const siginfo_t *info)
{
    return info->si_code > 0 || info->si_code == SI_TIMER || info->si_pid != hn_c->pid;
}

static long emulate_sigtimedwait(struct hn_thread *me, long number, const long a[6])
{
    struct timespec zero = {0, 0};
    const struct timespec *timeout = (const struct timespec *)a[2];
    siginfo_t came;
    struct attempt t = {.number = number, .a = {a[0], (long)&came, (long)&zero, a[3]},
                        .not_now = -EAGAIN};
    const long result = await(me, &t, a, timeout == NULL ? -1 : timespec_ns(timeout), 0);

    if (result <= 0 || t.result <= 0)
        return result;
    if (is_from_outside(&came))
        hn_shared->outside++;
    if (a[1] != 0)
        memcpy((void *)a[1], &came, sizeof came);
    return result;
}

/* Waits for a signal's handler, with another signal mask. The mask stays as the handler left it:
 * QEMU blocks all signals from the arrival of one until it delivers it. */
static long emulate_sigsuspend(struct hn_thread *me, long number, const long a[6])
{
    dispatch_mask((const uint64_t *)a[0], NULL);
    while (hn_block(me, me, HN_W_TIME, -1) != HN_BY_SIGNAL)
        if (hn_c->order == 0)
            return make_call(number, a);
    return -EINTR;
}

/* QEMU calls the C library's for pause, with all signals blocked before and afterwards. */
HN_EXPORT int sigsuspend(const sigset_t *mask)
{
    const long a[6] = {(long)mask, sizeof(uint64_t)};
    struct hn_thread *me = guest_thread();
    long result = -EINTR;

    if (me == NULL || guest_of(me)->call != CALL_PAUSE || !dispatch_possible())
        result = make_call(SYS_rt_sigsuspend, a);
    else
        result = emulate_sigsuspend(me, SYS_rt_sigsuspend, a);
    errno = (int)-result;
    return -1;
}

/* Calls that wait only for a descriptor. */
static long with_fd(struct hn_thread *me, short events, long number, const long a[6])
{
    if (hn_wait_fd(me, (int)a[0], events, use_of_fd(guest_of(me)->call)) != 0)
        return errno == EINTR ? interrupted(1) : -errno;
    return make_call(number, a);
}

static long emulate_input(struct hn_thread *me, long number, const long a[6])
{
    return with_fd(me, POLLIN, number, a);
}

static long emulate_output(struct hn_thread *me, long number, const long a[6])
{
    return with_fd(me, POLLOUT, number, a);
}

static long emulate_wait4(struct hn_thread *me, long number, const long a[6])
{
    struct attempt t = {.number = number, .a = {a[0], a[1], a[2] | WNOHANG, a[3]}};

    return await(me, &t, a, -1, 1);
}

static int waitid_ready(void *argument)
{
    const long *a = argument;

    return child_ready((idtype_t)a[0], (id_t)a[1], (int)a[3]);
}

static long emulate_waitid(struct hn_thread *me, long number, const long a[6])
{
    if (hn_wait_until(me, waitid_ready, (void *)(uintptr_t)a, -1) < 0)
        return interrupted(1);
    return make_call(number, a);
}

/* Sleeps until a point of virtual time; if a handler ran, `rest` gets the remaining time. */
static long sleep_until(struct hn_thread *me, int64_t ns, struct timespec *rest)
{
    const uint64_t until = now_of(me) + (uint64_t)ns;

    if (ns <= 0 || hn_block(me, me, HN_W_TIME, ns) != HN_BY_SIGNAL)
        return 0;
    if (rest != NULL)
        write_rest(rest, until, me);
    return -EINTR;
}

static long emulate_nanosleep(struct hn_thread *me, long number, const long a[6])
{
    (void)number;
    return sleep_until(me, timespec_ns((const struct timespec *)a[0]), (struct timespec *)a[1]);
}

static long emulate_clock_nanosleep(struct hn_thread *me, long number, const long a[6])
{
    const struct timespec *wanted = (const struct timespec *)a[2];

    if (!hn_is_virtual((clockid_t)a[0]))
        return make_call(number, a);
    if ((a[1] & TIMER_ABSTIME) != 0)
        return sleep_until(me, hn_until(wanted, (clockid_t)a[0]), NULL);
    return sleep_until(me, timespec_ns(wanted), (struct timespec *)a[3]);
}

/* By the calls that QEMU makes for the program's; `midway` marks those that may wait in the
 * middle. */
static const struct {
    enum call call;
    int midway;
    long number;
    replacement *make;
} replacements[] = {
    {CALL_POLL, 0, SYS_ppoll, emulate_poll},
    {CALL_PPOLL, 0, SYS_ppoll, emulate_poll},
    {CALL_SELECT, 0, SYS_pselect6, emulate_select},
    {CALL_PSELECT, 0, SYS_pselect6, emulate_select},
    {CALL_EPOLL, 0, SYS_epoll_pwait, emulate_epoll},
    {CALL_READ, 0, SYS_read, emulate_input},
    {CALL_READV, 0, SYS_readv, emulate_input},
    {CALL_ACCEPT, 0, SYS_accept4, emulate_input},
    {CALL_ACCEPT4, 0, SYS_accept4, emulate_input},
    {CALL_RECVFROM, 0, SYS_recvfrom, emulate_input},
    {CALL_RECVMSG, 0, SYS_recvmsg, emulate_input},
    {CALL_WRITE, 0, SYS_write, emulate_output},
    {CALL_WRITEV, 0, SYS_writev, emulate_output},
    {CALL_SENDTO, 0, SYS_sendto, emulate_datagram},
    {CALL_SENDMSG, 0, SYS_sendmsg, emulate_sendmsg},
    {CALL_RECVMMSG, 0, SYS_recvmsg, emulate_recvmsg},
    {CALL_SENDMMSG, 0, SYS_sendmsg, emulate_sendmsg},
    {CALL_SENDFILE, 0, SYS_sendfile, emulate_sendfile},
    {CALL_WRITE, 1, SYS_write, emulate_write},
    {CALL_WRITEV, 1, SYS_writev, emulate_writev},
    {CALL_SENDTO, 1, SYS_sendto, emulate_sendto},
    {CALL_FLOCK, 0, SYS_flock, emulate_flock},
    {CALL_FCNTL, 0, SYS_fcntl, emulate_fcntl},
    {CALL_MSGRCV, 0, SYS_msgrcv, emulate_msgrcv},
    {CALL_MSGSND, 0, SYS_msgsnd, emulate_msgsnd},
    {CALL_SEMOP, 0, SYS_semtimedop, emulate_semop},
    {CALL_WAIT4, 0, SYS_wait4, emulate_wait4},
    {CALL_WAITID, 0, SYS_waitid, emulate_waitid},
    {CALL_NANOSLEEP, 0, SYS_nanosleep, emulate_nanosleep},
    {CALL_CLOCK_NANOSLEEP, 0, SYS_clock_nanosleep, emulate_clock_nanosleep},
    {CALL_FUTEX, 0, SYS_futex, replace_futex},
    {CALL_SIGNAL_WAIT, 0, SYS_rt_sigtimedwait, emulate_sigtimedwait},
    {CALL_SUSPEND, 0, SYS_rt_sigsuspend, emulate_sigsuspend},
};

/* Chooses the function that replaces the thread's call when QEMU makes it. */
void choose_replacement(struct guest *g, enum call call, int midway)
{
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) {
        if (replacements[i].call == call && replacements[i].midway == midway) {
            g->replaced_number = replacements[i].number;
            g->replacement = replacements[i].make;
            g->replaces_all = call == CALL_RECVMMSG || call == CALL_SENDMMSG;
        }
    }
}
