/* System calls that may block. In deterministic order no thread sleeps in the kernel with the baton
 * held: it asks whether the call would block, and while it would, waits in virtual time and asks
 * again. Mostly another thread of the program makes the call ready (the other end of a pipe), so
 * the answer, too, is a function of the references.
 *
 * Other calls (connect, open of a FIFO, stdio on a terminal, ...) keep the baton; the watchdog
 * takes it away after a while.
 */
#include "hn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Records the event of a system call; returns the thread if it must not block with the baton. */
struct hn_thread *hn_enter_call(long number)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || hn_in_handler(me))
        return NULL;
    hn_event(me, HN_EV_SYSCALL_ENTER, (uint64_t)number, 0);
    return hn_deterministic() ? me : NULL;
}

void hn_leave_call(long number)
{
    struct hn_thread *me = hn_me;

    if (!me->in_runtime)
        hn_event(me, HN_EV_SYSCALL_EXIT, (uint64_t)number, 0);
}

/* Records what a call has transferred; the kernel may return a larger number (MSG_TRUNC). */
static void transferred(const void *start, size_t size, ssize_t result, uint64_t kind, uintptr_t pc)
{
    if (result > 0)
        hn_transfer(hn_me, (uintptr_t)start, (size_t)result < size ? (size_t)result : size, kind,
                    pc);
}

static void transferred_pieces(const struct iovec *pieces, size_t count, ssize_t result,
                               uint64_t kind, uintptr_t pc)
{
    if (result > 0)
        hn_transfer_pieces(hn_me, pieces, count, (size_t)result, kind, pc);
}

/* The header of a message could be read if there is a result. */
static void transferred_message(const struct msghdr *message, ssize_t result, uint64_t kind,
                                uintptr_t pc)
{
    if (result > 0)
        hn_transfer_pieces(hn_me, message->msg_iov, message->msg_iovlen, (size_t)result, kind, pc);
}

#define FILLED(to, size) transferred(to, size, result, HN_WRITE, HN_CALLER)
#define TAKEN(from, size) transferred(from, size, result, HN_READ, HN_CALLER)
#define PIECES_FILLED(v, count) \
    transferred_pieces(v, (size_t)(count), result, HN_WRITE, HN_CALLER)
#define PIECES_TAKEN(v, count) transferred_pieces(v, (size_t)(count), result, HN_READ, HN_CALLER)

/* A call on one descriptor: waits until it is ready, makes the call, and records what has been
 * transferred. */
#define ON_FD(name, number, events, use, nonblocking, transfer, params, ...)         \
    INTERPOSE(ssize_t, name, params)                                                 \
    {                                                                                \
        struct hn_thread *me = hn_enter_call(number);                                \
        ssize_t result = -1;                                                         \
                                                                                     \
        if (me == NULL || (nonblocking) || hn_wait_fd(me, fd, events, use) == 0)     \
            result = REAL(name)(__VA_ARGS__);                                        \
        transfer;                                                                    \
        hn_leave_call(number);                                                       \
        return result;                                                               \
    }

/* Whether the kernel refuses pieces before it looks at the descriptor; adds up their bytes. */
static int refused(const struct iovec *pieces, size_t count, size_t *bytes)
{
    if (count > IOV_MAX)
        return 1;
    for (size_t i = 0; i < count; i++) {
        struct iovec piece;

        if (hn_copy_in(&piece, pieces + i, sizeof piece) != 0 ||
            hn_beyond_memory((uintptr_t)piece.iov_base, piece.iov_len))
            return 1;
        *bytes += piece.iov_len;
    }
    return 0;
}

/* Whether `readv` or `writev` does not wait: its descriptor is ready, or it transfers nothing, or
 * it fails. Mostly it is ready, which takes one system call to know; each piece takes another. */
static int pieces_at_once(int fd, short events, const struct iovec *pieces, int count)
{
    size_t bytes = 0;

    return !hn_fd_blocks(fd, events, HN_FD_FILE) || refused(pieces, (size_t)count, &bytes) ||
           bytes == 0;
}

/* The same for a message; receiving one without bytes waits. */
static int message_at_once(int fd, short events, const struct msghdr *message)
{
    struct msghdr copy;
    size_t bytes = 0;

    return !hn_fd_blocks(fd, events, HN_FD_SOCKET) ||
           hn_copy_in(&copy, message, sizeof copy) != 0 ||
           refused(copy.msg_iov, copy.msg_iovlen, &bytes);
}

#define DONTWAIT ((flags & MSG_DONTWAIT) != 0)
/* Errors and urgent data are there or not. */
#define RECEIVES_AT_ONCE ((flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)) != 0)
/* The kernel cuts a length before it looks at the buffer. */
#define CUT(size) ((size) < INT_MAX ? (size) : INT_MAX)
#define RECEIVES_INTO(to, size) \
    (RECEIVES_AT_ONCE || hn_beyond_memory((uintptr_t)(to), CUT(size)))
#define SENDS_AT_ONCE(from, size) (DONTWAIT || hn_beyond_memory((uintptr_t)(from), CUT(size)))
#define MOVES_NONE(buffer, size) ((size) == 0 || hn_beyond_memory((uintptr_t)(buffer), size))
#define RECEIVED(transfer)                         \
    do {                                           \
        if (result > 0 && !hn_discards(fd, flags)) \
            transfer;                              \
    } while (0)

ON_FD(read, SYS_read, POLLIN, HN_FD_FILE, MOVES_NONE(to, size), FILLED(to, size),
      (int fd, void *to, size_t size), fd, to, size)
ON_FD(__read_chk, SYS_read, POLLIN, HN_FD_FILE, MOVES_NONE(to, size), FILLED(to, size),
      (int fd, void *to, size_t size, size_t room), fd, to, size, room)
ON_FD(readv, SYS_readv, POLLIN, HN_FD_FILE, pieces_at_once(fd, POLLIN, v, count),
      PIECES_FILLED(v, count), (int fd, const struct iovec *v, int count), fd, v, count)
ON_FD(writev, SYS_writev, POLLOUT, HN_FD_FILE, pieces_at_once(fd, POLLOUT, v, count),
      PIECES_TAKEN(v, count), (int fd, const struct iovec *v, int count), fd, v, count)
ON_FD(recv, SYS_recvfrom, POLLIN, HN_FD_SOCKET, RECEIVES_INTO(to, size),
      RECEIVED(FILLED(to, size)),
      (int fd, void *to, size_t size, int flags), fd, to, size, flags)
ON_FD(__recv_chk, SYS_recvfrom, POLLIN, HN_FD_SOCKET, RECEIVES_INTO(to, size),
      RECEIVED(FILLED(to, size)),
      (int fd, void *to, size_t size, size_t room, int flags), fd, to, size, room, flags)
ON_FD(recvfrom, SYS_recvfrom, POLLIN, HN_FD_SOCKET, RECEIVES_INTO(to, size),
      RECEIVED(FILLED(to, size)),
      (int fd, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length), fd, to,
      size, flags, from, length)
ON_FD(__recvfrom_chk, SYS_recvfrom, POLLIN, HN_FD_SOCKET, RECEIVES_INTO(to, size),
      RECEIVED(FILLED(to, size)),
      (int fd, void *to, size_t size, size_t room, int flags, struct sockaddr *from,
       socklen_t *length),
      fd, to, size, room, flags, from, length)
ON_FD(recvmsg, SYS_recvmsg, POLLIN, HN_FD_SOCKET,
      RECEIVES_AT_ONCE || message_at_once(fd, POLLIN, message),
      RECEIVED(transferred_message(message, result, HN_WRITE, HN_CALLER)),
      (int fd, struct msghdr *message, int flags), fd, message, flags)
ON_FD(send, SYS_sendto, POLLOUT, HN_FD_SOCKET, SENDS_AT_ONCE(from, size),
      TAKEN(from, size),
      (int fd, const void *from, size_t size, int flags), fd, from, size, flags)
ON_FD(sendto, SYS_sendto, POLLOUT, HN_FD_SOCKET, SENDS_AT_ONCE(from, size),
      TAKEN(from, size),
      (int fd, const void *from, size_t size, int flags, const struct sockaddr *to,
       socklen_t length),
      fd, from, size, flags, to, length)
ON_FD(sendmsg, SYS_sendmsg, POLLOUT, HN_FD_SOCKET,
      DONTWAIT || message_at_once(fd, POLLOUT, message),
      transferred_message(message, result, HN_READ, HN_CALLER),
      (int fd, const struct msghdr *message, int flags), fd, message, flags)

/* Calls that do not block: on files, at a position, and of random numbers. */
#define AT_ONCE(name, number, transfer, params, ...)  \
    INTERPOSE(ssize_t, name, params)                  \
    {                                                 \
        ssize_t result;                               \
                                                      \
        hn_enter_call(number);                        \
        result = REAL(name)(__VA_ARGS__);             \
        transfer;                                     \
        hn_leave_call(number);                        \
        return result;                                \
    }

#define READ_AT(name)                                                                            \
    AT_ONCE(name, SYS_pread64, FILLED(to, size), (int fd, void *to, size_t size, off_t at), fd,  \
            to, size, at)
#define READ_AT_CHECKED(name)                                                                    \
    AT_ONCE(name, SYS_pread64, FILLED(to, size),                                                 \
            (int fd, void *to, size_t size, off_t at, size_t room), fd, to, size, at, room)
#define WRITE_AT(name)                                                                           \
    AT_ONCE(name, SYS_pwrite64, TAKEN(from, size),                                               \
            (int fd, const void *from, size_t size, off_t at), fd, from, size, at)
#define PIECES_AT(name, number, transfer)                                                        \
    AT_ONCE(name, number, transfer, (int fd, const struct iovec *v, int count, off_t at), fd, v, \
            count, at)

READ_AT(pread)
READ_AT(pread64)
READ_AT_CHECKED(__pread_chk)
READ_AT_CHECKED(__pread64_chk)
WRITE_AT(pwrite)
WRITE_AT(pwrite64)
PIECES_AT(preadv, SYS_preadv, PIECES_FILLED(v, count))
PIECES_AT(preadv64, SYS_preadv, PIECES_FILLED(v, count))
PIECES_AT(pwritev, SYS_pwritev, PIECES_TAKEN(v, count))
PIECES_AT(pwritev64, SYS_pwritev, PIECES_TAKEN(v, count))
AT_ONCE(getrandom, SYS_getrandom, FILLED(to, size), (void *to, size_t size, unsigned flags), to,
        size, flags)

/* Usually a client is another program; the recorder does not see what it sends, and when. */
#define ACCEPT(name, number, at_once, params, ...)                          \
    INTERPOSE(int, name, params)                                            \
    {                                                                       \
        struct hn_thread *me = hn_enter_call(number);                       \
        int result = -1;                                                    \
                                                                            \
        if (me == NULL || (at_once) ||                                      \
            hn_wait_fd(me, fd, POLLIN, HN_FD_ACCEPTS) == 0)                 \
            result = REAL(name)(__VA_ARGS__);                               \
        if (me != NULL && result >= 0)                                      \
            __atomic_add_fetch(&hn_shared->connections, 1, __ATOMIC_RELAXED); \
        hn_leave_call(number);                                              \
        return result;                                                      \
    }

ACCEPT(accept, SYS_accept, 0, (int fd, struct sockaddr *from, socklen_t *length), fd, from, length)
ACCEPT(accept4, SYS_accept4, (flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0,
       (int fd, struct sockaddr *from, socklen_t *length, int flags), fd, from, length, flags)

/* A pipe that is ready takes PIPE_BUF bytes without blocking; larger writes are split, as
 * POSIX allows. */
HN_DECLARE_REAL(ssize_t, write, (int, const void *, size_t));

static ssize_t write_pieces(struct hn_thread *me, int fd, const char *from, size_t size,
                            uintptr_t pc)
{
    size_t done = 0;

    while (done < size) {
        size_t piece = size - done < PIPE_BUF ? size - done : PIPE_BUF;
        ssize_t result = -1;

        if (hn_wait_fd(me, fd, POLLOUT, HN_FD_FILE) == 0)
            result = REAL(write)(fd, from + done, piece);
        if (result < 0)
            return done > 0 ? (ssize_t)done : -1;
        transferred(from + done, piece, result, HN_READ, pc);
        done += (size_t)result;
        if ((size_t)result < piece)
            break;
    }
    return (ssize_t)done;
}

static int in_pieces(int fd, size_t size)
{
    struct stat status;

    return size > PIPE_BUF && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

INTERPOSE_DECLARED(ssize_t, write, (int fd, const void *from, size_t size))
{
    struct hn_thread *me = hn_enter_call(SYS_write);
    ssize_t result = -1;

    if (me != NULL && in_pieces(fd, size)) {
        result = write_pieces(me, fd, from, size, HN_CALLER);
    } else if (me == NULL || MOVES_NONE(from, size) ||
               hn_wait_fd(me, fd, POLLOUT, HN_FD_FILE) == 0) {
        result = REAL(write)(fd, from, size);
        TAKEN(from, size);
    }
    hn_leave_call(SYS_write);
    return result;
}
