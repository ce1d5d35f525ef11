/* Calls that move data between descriptors, or between a descriptor or a process and the program's
 * memory: pages of a pipe, files to sockets, and memory of processes.
 */
#include "hn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Calls with a pipe: in deterministic order repeated, without waiting, until there is an answer. */
struct move {
    ssize_t (*make)(const struct move *m, unsigned flags);
    int from, to;
    off64_t *from_offset, *to_offset;
    const struct iovec *pieces;
    size_t size;                /* or the number of pieces */
    unsigned flags;
    ssize_t result;
};

static int moved(void *argument)
{
    struct move *m = argument;

    m->result = m->make(m, m->flags | SPLICE_F_NONBLOCK);
    return m->result >= 0 || errno != EAGAIN;
}

static ssize_t move_or_wait(struct hn_thread *me, struct move *m)
{
    if (me == NULL || (m->flags & SPLICE_F_NONBLOCK) != 0)
        return m->make(m, m->flags);
    if (hn_wait_restarting(me, moved, m, -1) < 0)
        return -1;
    return hn_c->order == 0 && m->result < 0 ? m->make(m, m->flags) : m->result;
}

static int has_mode(int fd, mode_t type)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

HN_DECLARE_REAL(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned));

static ssize_t splice_now(const struct move *m, unsigned flags)
{
    return REAL(splice)(m->from, m->from_offset, m->to, m->to_offset, m->size, flags);
}

/* The flag is for pipes only: a socket or terminal at the other end must be ready. */
static int other_end_ready(struct hn_thread *me, int from, int to)
{
    if (has_mode(from, S_IFIFO))
        return has_mode(to, S_IFIFO) || hn_wait_fd(me, to, POLLOUT, HN_FD_FILE) == 0;
    return !has_mode(to, S_IFIFO) || hn_wait_fd(me, from, POLLIN, HN_FD_FILE) == 0;
}

INTERPOSE_DECLARED(ssize_t, splice, (int from, off64_t *from_offset, int to, off64_t *to_offset,
                                     size_t size, unsigned flags))
{
    struct hn_thread *me = hn_enter_call(SYS_splice);
    struct move call = {splice_now, from, to, from_offset, to_offset, NULL, size, flags, -1};
    ssize_t result = -1;

    if (me == NULL || size == 0 || other_end_ready(me, from, to))
        result = move_or_wait(me, &call);
    hn_leave_call(SYS_splice);
    return result;
}

HN_DECLARE_REAL(ssize_t, tee, (int, int, size_t, unsigned));

static ssize_t tee_now(const struct move *m, unsigned flags)
{
    return REAL(tee)(m->from, m->to, m->size, flags);
}

INTERPOSE_DECLARED(ssize_t, tee, (int from, int to, size_t size, unsigned flags))
{
    struct hn_thread *me = hn_enter_call(SYS_tee);
    struct move call = {tee_now, from, to, NULL, NULL, NULL, size, flags, -1};
    const ssize_t result = move_or_wait(me, &call);

    hn_leave_call(SYS_tee);
    return result;
}

HN_DECLARE_REAL(ssize_t, vmsplice, (int, const struct iovec *, size_t, unsigned));

static ssize_t vmsplice_now(const struct move *m, unsigned flags)
{
    return REAL(vmsplice)(m->from, m->pieces, m->size, flags);
}

/* Fills the buffers from a pipe. Into a pipe it puts the buffers' pages, which are read later, when
 * the pipe is; they count as read here. */
INTERPOSE_DECLARED(ssize_t, vmsplice, (int fd, const struct iovec *list, size_t count,
                                       unsigned flags))
{
    struct hn_thread *me = hn_enter_call(SYS_vmsplice);
    struct move call = {vmsplice_now, fd, -1, NULL, NULL, list, count, flags, -1};
    const int fills = (hn_sys(SYS_fcntl, fd, F_GETFL, 0, 0) & O_ACCMODE) == O_RDONLY;
    struct hn_pieces pieces;
    ssize_t result;

    hn_take_pieces(&pieces, list, count);
    result = move_or_wait(me, &call);
    if (result > 0)
        hn_transfer_pieces(hn_me, pieces.all, pieces.count, (size_t)result,
                           fills ? HN_WRITE : HN_READ, HN_CALLER);
    hn_drop_pieces(&pieces);
    hn_leave_call(SYS_vmsplice);
    return result;
}

/* A pipe takes what it has room for. A socket takes all: in parts, between which the thread waits
 * (sends.c). */
HN_DECLARE_REAL(ssize_t, sendfile, (int, int, off_t *, size_t));

static ssize_t send_file(struct hn_thread *me, int to, int from, off_t *offset, size_t size)
{
    const size_t most = has_mode(to, S_IFSOCK) ? PIPE_BUF : size;
    ssize_t done = 0, part;

    /* Refused whether there is room or not. (Nothing, too, waits for room in a pipe.) */
    if (most < size && REAL(sendfile)(to, from, offset, 0) < 0)
        return -1;
    do {
        const size_t rest = size - (size_t)done;

        part = -1;
        if (hn_wait_fd(me, to, POLLOUT, HN_FD_FILE) == 0)
            part = REAL(sendfile)(to, from, offset, rest < most ? rest : most);
        done += part > 0 ? part : 0;
    } while (part > 0 && most < size && (size_t)done < size);
    return done > 0 ? done : part;
}

static int can_read(int fd)
{
    const long flags = hn_sys(SYS_fcntl, fd, F_GETFL, 0, 0);

    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

#define SENDFILE(name)                                                                       \
    INTERPOSE_DECLARED(ssize_t, name, (int to, int from, off_t *offset, size_t size))        \
    {                                                                                        \
        struct hn_thread *me = hn_enter_call(SYS_sendfile);                                  \
        const int may_wait = me != NULL && can_read(from) && hn_fd_waits(to) &&              \
                             (has_mode(to, S_IFIFO) || has_mode(to, S_IFSOCK));              \
        const ssize_t result = may_wait ? send_file(me, to, from, offset, size)              \
                                        : REAL(sendfile)(to, from, offset, size);            \
                                                                                             \
        hn_leave_call(SYS_sendfile);                                                         \
        return result;                                                                       \
    }

SENDFILE(sendfile)
SENDFILE(sendfile64)

/* Memory of processes: the caller's own on one side, and on both if it is the process. */
#define BETWEEN_PROCESSES(name, kind_here, kind_there)                                       \
    INTERPOSE(ssize_t, name,                                                                 \
              (pid_t process, const struct iovec *here, unsigned long here_count,            \
               const struct iovec *there, unsigned long there_count, unsigned long flags))   \
    {                                                                                        \
        struct hn_pieces ours, theirs;                                                       \
        ssize_t result;                                                                      \
                                                                                             \
        hn_enter_call(SYS_##name);                                                           \
        hn_take_pieces(&ours, here, here_count);                                             \
        hn_take_pieces(&theirs, there, there_count);                                         \
        result = REAL(name)(process, here, here_count, there, there_count, flags);           \
        if (result > 0 && process == getpid())                                               \
            hn_transfer_pieces(hn_me, theirs.all, theirs.count, (size_t)result, kind_there,  \
                               HN_CALLER);                                                   \
        if (result > 0)                                                                      \
            hn_transfer_pieces(hn_me, ours.all, ours.count, (size_t)result, kind_here,       \
                               HN_CALLER);                                                   \
        hn_drop_pieces(&ours);                                                               \
        hn_drop_pieces(&theirs);                                                             \
        hn_leave_call(SYS_##name);                                                           \
        return result;                                                                       \
    }

BETWEEN_PROCESSES(process_vm_readv, HN_WRITE, HN_READ)
BETWEEN_PROCESSES(process_vm_writev, HN_READ, HN_WRITE)
