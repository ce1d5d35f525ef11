/* System calls that may block. In deterministic order no thread sleeps in the kernel with the baton
 * held: it asks whether the call would block, and while it would, waits in virtual time and asks
 * again. Mostly another thread of the program makes the call ready (the other end of a pipe), so
 * the answer, too, is a function of the references.
 *
 * Other calls (connect, open of a FIFO, stdio on a terminal, ...) keep the baton; the watchdog
 * takes it away after a while.
 */
#include "hn.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

#define FILLED(to, size) hn_transferred(to, size, result, HN_WRITE, HN_CALLER)
#define TAKEN(from, size) hn_transferred(from, size, result, HN_READ, HN_CALLER)

/* Waits until the descriptor is ready, and records what has been read. */
#define READ(name, params, ...)                                                        \
    INTERPOSE(ssize_t, name, params)                                                   \
    {                                                                                  \
        struct hn_thread *me = hn_enter_call(SYS_read);                                \
        ssize_t result = -1;                                                           \
                                                                                       \
        if (me == NULL || size == 0 || hn_beyond_memory((uintptr_t)to, size) ||        \
            hn_wait_fd(me, fd, POLLIN, HN_FD_FILE) == 0)                               \
            result = REAL(name)(__VA_ARGS__);                                          \
        FILLED(to, size);                                                              \
        hn_leave_call(SYS_read);                                                       \
        return result;                                                                 \
    }

READ(read, (int fd, void *to, size_t size), fd, to, size)
READ(__read_chk, (int fd, void *to, size_t size, size_t room), fd, to, size, room)

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

READ_AT(pread)
READ_AT(pread64)
READ_AT_CHECKED(__pread_chk)
READ_AT_CHECKED(__pread64_chk)
WRITE_AT(pwrite)
WRITE_AT(pwrite64)
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
