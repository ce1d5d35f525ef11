/* Calls that receive into several buffers, and from sockets (blocking.c). The kernel may write over
 * the lists of buffers, which are copied before the call. */
#include "hn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* A list of no bytes, like one that is refused, has an answer at once. */
#define INTO_PIECES(name, number, at_once, params, ...)                             \
    INTERPOSE(ssize_t, name, params)                                                \
    {                                                                               \
        struct hn_thread *me = hn_enter_call(number);                               \
        struct hn_pieces pieces;                                                    \
        ssize_t result = -1;                                                        \
                                                                                    \
        if (!hn_take_pieces(&pieces, v, (size_t)count) || pieces.bytes == 0 ||      \
            me == NULL || (at_once) || hn_wait_fd(me, fd, POLLIN, HN_FD_FILE) == 0) \
            result = REAL(name)(__VA_ARGS__);                                       \
        if (result > 0)                                                             \
            hn_transfer_pieces(hn_me, pieces.all, pieces.count, (size_t)result,     \
                               HN_WRITE, HN_CALLER);                                \
        hn_drop_pieces(&pieces);                                                    \
        hn_leave_call(number);                                                      \
        return result;                                                              \
    }
#define INTO_PIECES_AT(name)                                                            \
    INTO_PIECES(name, SYS_preadv, 1, (int fd, const struct iovec *v, int count, off_t at), fd, v, \
                count, at)
#define INTO_PIECES_WITH_FLAGS(name)                                                        \
    INTO_PIECES(name, SYS_preadv2, at != -1 || (flags & RWF_NOWAIT) != 0,                   \
                (int fd, const struct iovec *v, int count, off_t at, int flags), fd, v, count, at, \
                flags)

INTO_PIECES(readv, SYS_readv, 0, (int fd, const struct iovec *v, int count), fd, v, count)
INTO_PIECES_AT(preadv)
INTO_PIECES_AT(preadv64)
INTO_PIECES_WITH_FLAGS(preadv2)
INTO_PIECES_WITH_FLAGS(preadv64v2)

/* Errors and urgent data are there or not. */
#define RECEIVES_AT_ONCE ((flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)) != 0)

/* Whether the kernel refuses a buffer, whose length it cuts before it looks. */
static int refuses_buffer(const void *start, size_t size)
{
    return hn_beyond_memory((uintptr_t)start, size < INT_MAX ? size : INT_MAX);
}

/* Whether to receive in parts, because the kernel would wait in the middle of the call. */
static int receives_all(int fd, int flags)
{
    int type = 0;
    socklen_t length = sizeof type;

    return (flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL && hn_fd_waits(fd) &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

HN_DECLARE_REAL(ssize_t, recv, (int, void *, size_t, int));

static ssize_t receive_all(struct hn_thread *me, int fd, char *to, size_t size, int flags)
{
    size_t done = 0;
    ssize_t part = 1;

    while (done < size && part > 0) {
        part = -1;
        if (hn_wait_fd(me, fd, POLLIN, HN_FD_SOCKET) == 0)
            part = REAL(recv)(fd, to + done, size - done,
                              hn_c->order == 0 ? flags : flags & ~MSG_WAITALL);
        done += part > 0 ? (size_t)part : 0;
    }
    return done > 0 ? (ssize_t)done : part;
}

#define RECEIVE(name, params, ...)                                                     \
    INTERPOSE_DECLARED(ssize_t, name, params)                                          \
    {                                                                                  \
        struct hn_thread *me = hn_enter_call(SYS_recvfrom);                            \
        ssize_t result = -1;                                                           \
                                                                                       \
        if (me == NULL || RECEIVES_AT_ONCE || refuses_buffer(to, size))                \
            result = REAL(name)(__VA_ARGS__);                                          \
        else if (receives_all(fd, flags))                                              \
            result = receive_all(me, fd, to, size, flags);                             \
        else if (hn_wait_fd(me, fd, POLLIN, HN_FD_SOCKET) == 0)                        \
            result = REAL(name)(__VA_ARGS__);                                          \
        if (result > 0 && !hn_discards(fd, flags))                                     \
            hn_transferred(to, size, result, HN_WRITE, HN_CALLER);                     \
        hn_leave_call(SYS_recvfrom);                                                   \
        return result;                                                                 \
    }

HN_DECLARE_REAL(ssize_t, __recv_chk, (int, void *, size_t, size_t, int));
HN_DECLARE_REAL(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *));
HN_DECLARE_REAL(ssize_t, __recvfrom_chk,
                (int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *));
RECEIVE(recv, (int fd, void *to, size_t size, int flags), fd, to, size, flags)
RECEIVE(__recv_chk, (int fd, void *to, size_t size, size_t room, int flags), fd, to, size, room,
        flags)
RECEIVE(recvfrom,
        (int fd, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length), fd,
        to, size, flags, from, length)
RECEIVE(__recvfrom_chk,
        (int fd, void *to, size_t size, size_t room, int flags, struct sockaddr *from,
         socklen_t *length),
        fd, to, size, room, flags, from, length)

INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
    struct hn_thread *me = hn_enter_call(SYS_recvmsg);
    struct hn_pieces pieces;
    ssize_t result = -1;

    if (!hn_take_message(&pieces, message) || me == NULL || RECEIVES_AT_ONCE ||
        hn_wait_fd(me, fd, POLLIN, HN_FD_SOCKET) == 0)
        result = REAL(recvmsg)(fd, message, flags);
    if (result > 0 && !hn_discards(fd, flags))
        hn_transfer_pieces(hn_me, pieces.all, pieces.count, (size_t)result, HN_WRITE, HN_CALLER);
    hn_drop_pieces(&pieces);
    hn_leave_call(SYS_recvmsg);
    return result;
}

/* Several messages. The kernel waits for each; here those that are there are received, and the
 * thread waits for more. */
struct receiving {
    int fd, flags;
    struct mmsghdr *messages;
    unsigned count;
    int result;
    uintptr_t pc;
};

HN_DECLARE_REAL(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *));

static int receive_those(struct receiving *r, int flags, struct timespec *timeout)
{
    const size_t count = r->count < IOV_MAX ? r->count : IOV_MAX;
    struct hn_pieces *const pieces = count == 0 ? NULL : hn_borrow(count * sizeof *pieces);

    for (size_t i = 0; pieces != NULL && i < count; i++)
        hn_take_message(&pieces[i], &r->messages[i].msg_hdr);
    r->result = REAL(recvmmsg)(r->fd, r->messages, r->count, flags, timeout);
    if (pieces == NULL)
        return r->result;
    for (size_t i = 0; i < count; i++) {
        if (r->result > (int)i && !hn_discards(r->fd, flags))
            hn_transfer_pieces(hn_me, pieces[i].all, pieces[i].count, r->messages[i].msg_len,
                               HN_WRITE, r->pc);
        hn_drop_pieces(&pieces[i]);
    }
    hn_give_back(pieces, count * sizeof *pieces);
    return r->result;
}

static int received(void *argument)
{
    struct receiving *r = argument;

    return receive_those(r, (r->flags & ~MSG_WAITFORONE) | MSG_DONTWAIT, NULL) >= 0 ||
           errno != EAGAIN;
}

/* Waits for messages and receives those that are there. */
static int receive_some(struct hn_thread *me, struct receiving *r)
{
    int state;

    if (received(r))
        return r->result;
    state = hn_wait_restarting(me, received, r, hn_socket_timeout_ns(r->fd, POLLIN));
    if (state == 1 && hn_c->order == 0)
        return receive_those(r, r->flags, NULL);
    if (state == 0)
        errno = EAGAIN;
    return state == 1 ? r->result : -1;
}

/* As the kernel does, looks at the time only when a message has come. */
static int receive_messages(struct hn_thread *me, struct receiving r, struct timespec *timeout,
                            int64_t timeout_ns)
{
    const uint64_t until = hn_now_ns(me) + (uint64_t)timeout_ns;
    uint64_t left;
    int done = 0;

    do {
        const int part = receive_some(me, &r);

        if (part <= 0)
            return done > 0 ? done : part;
        done += part;
        r.messages += part;
        r.count -= (unsigned)part;
        left = until > hn_now_ns(me) ? until - hn_now_ns(me) : 0;
    } while (r.count > 0 && (r.flags & MSG_WAITFORONE) == 0 && (timeout == NULL || left > 0));
    if (timeout != NULL) {
        timeout->tv_sec = (time_t)(left / HN_NS_PER_SECOND);
        timeout->tv_nsec = (long)(left % HN_NS_PER_SECOND);
    }
    return done;
}

INTERPOSE_DECLARED(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags,
                                   struct timespec *timeout))
{
    struct hn_thread *me = hn_enter_call(SYS_recvmmsg);
    struct receiving call = {fd, flags, messages, count, 0, HN_CALLER};
    struct timespec limit;
    int64_t timeout_ns = -1;
    int result;

    if (me == NULL || RECEIVES_AT_ONCE || count == 0 || !hn_fd_waits(fd) ||
        (timeout != NULL && (hn_copy_in(&limit, timeout, sizeof limit) != 0 ||
                             !hn_limit_ns(&limit, &timeout_ns))))
        result = receive_those(&call, flags, timeout);
    else
        result = receive_messages(me, call, timeout, timeout_ns);
    hn_leave_call(SYS_recvmmsg);
    return result;
}
