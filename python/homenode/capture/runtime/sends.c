/* Calls that write several buffers, or to pipes and sockets. A pipe or a stream with some room may
 * take a part of the data, after which the kernel waits for more room, until it has taken all. In
 * deterministic order such a call is made in parts, each when there is room, as POSIX allows.
 */
#include "hn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

HN_DECLARE_REAL(ssize_t, write, (int, const void *, size_t));
HN_DECLARE_REAL(ssize_t, writev, (int, const struct iovec *, int));
HN_DECLARE_REAL(ssize_t, sendmsg, (int, const struct msghdr *, int));

/* The header of a message could be read if there is a result. */
static void taken_message(const struct msghdr *message, ssize_t result, uintptr_t pc)
{
    if (result > 0)
        hn_transfer_pieces(hn_me, message->msg_iov, message->msg_iovlen, (size_t)result, HN_READ,
                           pc);
}

struct sending {
    int fd, flags;
    const struct msghdr *message;
    ssize_t result;
};

static int sent(void *argument)
{
    struct sending *s = argument;

    s->result = REAL(sendmsg)(s->fd, s->message, s->flags | MSG_DONTWAIT);
    return s->result >= 0 || errno != EAGAIN;
}

/* Waits until the socket takes something. A socket that is writable may still refuse a datagram,
 * for which its receiver has no room, so it is the call itself that is repeated. */
static ssize_t send_some(struct hn_thread *me, int fd, const struct msghdr *message, int flags)
{
    struct sending call = {fd, flags, message, -1};
    int state;

    if (sent(&call))
        return call.result;
    state = hn_wait_restarting(me, sent, &call, hn_socket_timeout_ns(fd, POLLOUT));
    if (state == 1 && hn_c->order == 0)
        return REAL(sendmsg)(fd, message, flags);
    if (state == 0)
        errno = EAGAIN;
    return state == 1 ? call.result : -1;
}

static void step_over(struct iovec *piece, size_t size)
{
    piece->iov_base = (char *)piece->iov_base + size;
    piece->iov_len -= size;
}

/* Sends a message. What a stream did not take at first is sent after it. */
static ssize_t send_all(struct hn_thread *me, int fd, const struct msghdr *message, int flags,
                        uintptr_t pc)
{
    ssize_t done = send_some(me, fd, message, flags);
    size_t taken = done > 0 ? (size_t)done : 0;

    taken_message(message, done, pc);
    for (size_t i = 0; done > 0 && i < message->msg_iovlen; i++) {
        struct iovec rest = message->msg_iov[i];
        const struct msghdr next = {.msg_iov = &rest, .msg_iovlen = 1};
        const size_t skipped = taken < rest.iov_len ? taken : rest.iov_len;

        taken -= skipped;
        step_over(&rest, skipped);
        while (rest.iov_len > 0) {
            const ssize_t part = send_some(me, fd, &next, flags);

            if (part <= 0)
                return done;
            taken_message(&next, part, pc);
            done += part;
            step_over(&rest, (size_t)part);
        }
    }
    return done;
}

/* With MSG_FASTOPEN a call that may not wait connects later. */
static int send_waits(const struct hn_thread *me, int fd, int flags)
{
    return me != NULL && (flags & (MSG_DONTWAIT | MSG_FASTOPEN)) == 0 && hn_fd_waits(fd);
}

#define SEND(name, address, address_length, params, ...)                                      \
    INTERPOSE(ssize_t, name, params)                                                          \
    {                                                                                         \
        struct hn_thread *me = hn_enter_call(SYS_sendto);                                     \
        struct iovec piece = {(void *)(uintptr_t)from, size};                                 \
        const struct msghdr message = {.msg_name = (void *)(uintptr_t)(address),              \
                                       .msg_namelen = (address_length),                       \
                                       .msg_iov = &piece,                                     \
                                       .msg_iovlen = 1};                                      \
        ssize_t result;                                                                       \
                                                                                              \
        if (send_waits(me, fd, flags)) {                                                      \
            result = send_all(me, fd, &message, flags, HN_CALLER);                            \
        } else {                                                                              \
            result = REAL(name)(__VA_ARGS__);                                                 \
            hn_transferred(from, size, result, HN_READ, HN_CALLER);                           \
        }                                                                                     \
        hn_leave_call(SYS_sendto);                                                            \
        return result;                                                                        \
    }

SEND(send, NULL, 0, (int fd, const void *from, size_t size, int flags), fd, from, size, flags)
SEND(sendto, to, length,
     (int fd, const void *from, size_t size, int flags, const struct sockaddr *to,
      socklen_t length),
     fd, from, size, flags, to, length)

INTERPOSE_DECLARED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
    struct hn_thread *me = hn_enter_call(SYS_sendmsg);
    ssize_t result;

    if (send_waits(me, fd, flags)) {
        result = send_all(me, fd, message, flags, HN_CALLER);
    } else {
        result = REAL(sendmsg)(fd, message, flags);
        taken_message(message, result, HN_CALLER);
    }
    hn_leave_call(SYS_sendmsg);
    return result;
}

/* Sends several messages: the number sent, or -1 if there are none. */
static int send_messages(struct hn_thread *me, int fd, struct mmsghdr *messages, unsigned count,
                         int flags, uintptr_t pc)
{
    const unsigned most = count < IOV_MAX ? count : IOV_MAX;

    for (unsigned i = 0; i < most; i++) {
        const ssize_t result = send_all(me, fd, &messages[i].msg_hdr, flags, pc);

        if (result < 0)
            return i > 0 ? (int)i : -1;
        messages[i].msg_len = (unsigned)result;
    }
    return (int)most;
}

INTERPOSE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags))
{
    struct hn_thread *me = hn_enter_call(SYS_sendmmsg);
    int result;

    if (send_waits(me, fd, flags) && count > 0) {
        result = send_messages(me, fd, messages, count, flags, HN_CALLER);
    } else {
        result = REAL(sendmmsg)(fd, messages, count, flags);
        for (int i = 0; i < result; i++)
            taken_message(&messages[i].msg_hdr, messages[i].msg_len, HN_CALLER);
    }
    hn_leave_call(SYS_sendmmsg);
    return result;
}

/* How a write is made: in one call, or in parts to a pipe or a stream. */
enum manner { IN_ONE, TO_PIPE, TO_STREAM };

static enum manner manner_of_write(int fd, size_t size)
{
    struct stat status;
    int type = 0;
    socklen_t length = sizeof type;

    if (size <= PIPE_BUF || fstat(fd, &status) != 0)
        return IN_ONE;
    if (S_ISFIFO(status.st_mode))
        return TO_PIPE;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM &&
                   hn_fd_waits(fd)
               ? TO_STREAM
               : IN_ONE;
}

/* A pipe that is ready takes PIPE_BUF bytes without blocking. */
static ssize_t write_parts(struct hn_thread *me, int fd, const char *from, size_t size,
                           uintptr_t pc)
{
    size_t done = 0;

    while (done < size) {
        const size_t part = size - done < PIPE_BUF ? size - done : PIPE_BUF;
        ssize_t result = -1;

        if (hn_wait_fd(me, fd, POLLOUT, HN_FD_FILE) == 0)
            result = REAL(write)(fd, from + done, part);
        if (result < 0)
            return done > 0 ? (ssize_t)done : -1;
        hn_transferred(from + done, part, result, HN_READ, pc);
        done += (size_t)result;
        if ((size_t)result < part)
            break;
    }
    return (ssize_t)done;
}

static ssize_t write_pieces(struct hn_thread *me, int fd, const struct hn_pieces *pieces,
                            uintptr_t pc)
{
    ssize_t done = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct iovec *one = &pieces->all[i];
        const ssize_t part = write_parts(me, fd, one->iov_base, one->iov_len, pc);

        if (part < 0)
            return done > 0 ? done : -1;
        done += part;
        if ((size_t)part < one->iov_len)
            break;
    }
    return done;
}

INTERPOSE_DECLARED(ssize_t, write, (int fd, const void *from, size_t size))
{
    struct hn_thread *me = hn_enter_call(SYS_write);
    struct iovec piece = {(void *)(uintptr_t)from, size};
    const struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    const int at_once = me == NULL || size == 0 || hn_beyond_memory((uintptr_t)from, size);
    const enum manner manner = at_once ? IN_ONE : manner_of_write(fd, size);
    ssize_t result = -1;

    if (manner == TO_PIPE) {
        result = write_parts(me, fd, from, size, HN_CALLER);
    } else if (manner == TO_STREAM) {
        result = send_all(me, fd, &message, 0, HN_CALLER);
    } else if (at_once || hn_wait_fd(me, fd, POLLOUT, HN_FD_FILE) == 0) {
        result = REAL(write)(fd, from, size);
        hn_transferred(from, size, result, HN_READ, HN_CALLER);
    }
    hn_leave_call(SYS_write);
    return result;
}

/* `writev` with the thread's turn; a list of no bytes, like one that is refused, has an answer at
 * once. */
static ssize_t write_list(struct hn_thread *me, int fd, const struct iovec *list, int count,
                          uintptr_t pc)
{
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)list,
                                   .msg_iovlen = (size_t)count};
    struct hn_pieces pieces;
    const int at_once = !hn_take_pieces(&pieces, list, (size_t)count) || pieces.bytes == 0;
    const enum manner manner = at_once ? IN_ONE : manner_of_write(fd, pieces.bytes);
    ssize_t result = -1;

    if (manner == TO_PIPE) {
        result = write_pieces(me, fd, &pieces, pc);
    } else if (manner == TO_STREAM) {
        result = send_all(me, fd, &message, 0, pc);
    } else if (at_once || hn_wait_fd(me, fd, POLLOUT, HN_FD_FILE) == 0) {
        result = REAL(writev)(fd, list, count);
        taken_message(&message, result, pc);
    }
    hn_drop_pieces(&pieces);
    return result;
}

#define FROM_PIECES(name, number, at_once, params, ...)                                  \
    INTERPOSE_DECLARED(ssize_t, name, params)                                            \
    {                                                                                    \
        struct hn_thread *me = hn_enter_call(number);                                    \
        ssize_t result;                                                                  \
                                                                                         \
        if (me == NULL || (at_once)) {                                                   \
            result = REAL(name)(__VA_ARGS__);                                            \
            if (result > 0)                                                              \
                hn_transfer_pieces(hn_me, v, (size_t)count, (size_t)result, HN_READ,     \
                                   HN_CALLER);                                           \
        } else {                                                                         \
            result = write_list(me, fd, v, count, HN_CALLER);                            \
        }                                                                                \
        hn_leave_call(number);                                                           \
        return result;                                                                   \
    }
#define FROM_PIECES_AT(name)                                                              \
    HN_DECLARE_REAL(ssize_t, name, (int, const struct iovec *, int, off_t));              \
    FROM_PIECES(name, SYS_pwritev, 1, (int fd, const struct iovec *v, int count, off_t at), fd, v, \
                count, at)
/* Without a position it is `writev`; with flags it is passed on. */
#define FROM_PIECES_WITH_FLAGS(name)                                                          \
    HN_DECLARE_REAL(ssize_t, name, (int, const struct iovec *, int, off_t, int));             \
    FROM_PIECES(name, SYS_pwritev2, at != -1 || flags != 0,                                   \
                (int fd, const struct iovec *v, int count, off_t at, int flags), fd, v, count, at, \
                flags)

FROM_PIECES(writev, SYS_writev, 0, (int fd, const struct iovec *v, int count), fd, v, count)
FROM_PIECES_AT(pwritev)
FROM_PIECES_AT(pwritev64)
FROM_PIECES_WITH_FLAGS(pwritev2)
FROM_PIECES_WITH_FLAGS(pwritev64v2)
