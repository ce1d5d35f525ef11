/* Data that the program's system calls transfer (../runtime/transfers.c). */
#include "guest.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The kernel may write over the list of buffers that a call fills, so it is copied before. */
void guest_note_buffers(struct guest *g)
{
    const uint64_t *a = g->arguments;

    hn_drop_pieces(&g->pieces);
    if (g->call == CALL_READV || g->call == CALL_PREADV || g->call == CALL_VMSPLICE)
        hn_take_pieces(&g->pieces, (const struct iovec *)(uintptr_t)a[1], a[2]);
    else if (g->call == CALL_RECVMSG)
        hn_take_message(&g->pieces, (const struct msghdr *)(uintptr_t)a[1]);
}

static void transfer_noted(struct hn_thread *me, uint64_t bytes, uint64_t kind)
{
    const struct hn_pieces *pieces = &guest_of(me)->pieces;

    hn_transfer_pieces(me, pieces->all, pieces->count, bytes, kind, 0);
}

static void transfer_pieces(struct hn_thread *me, uint64_t pieces, uint64_t count, uint64_t bytes,
                            uint64_t kind)
{
    struct iovec piece;

    for (uint64_t i = 0; i < count && bytes > 0; i++) {
        if (!peek(pieces + i * sizeof piece, &piece, sizeof piece))
            return;
        hn_transfer_pieces(me, &piece, 1, bytes, kind, 0);
        bytes -= piece.iov_len < bytes ? piece.iov_len : bytes;
    }
}

static void transfer_message(struct hn_thread *me, uint64_t address, uint64_t bytes, uint64_t kind)
{
    struct msghdr message;

    if (peek(address, &message, sizeof message))
        transfer_pieces(me, (uint64_t)(uintptr_t)message.msg_iov, message.msg_iovlen, bytes, kind);
}

static void transfer_messages(struct hn_thread *me, uint64_t address, uint64_t count,
                              uint64_t kind)
{
    struct mmsghdr one;

    for (uint64_t i = 0; i < count && peek(address + i * sizeof one, &one, sizeof one); i++)
        transfer_pieces(me, (uint64_t)(uintptr_t)one.msg_hdr.msg_iov, one.msg_hdr.msg_iovlen,
                        one.msg_len, kind);
}

/* Records what a call that has returned `bytes` has read or written. Which instruction made the
 * call is not known. */
void guest_transfer(struct hn_thread *me, enum call call, const uint64_t a[6], uint64_t bytes)
{
    /* The kernel may return more than there is room for (MSG_TRUNC). */
    const uint64_t fitting = a[2] < bytes ? a[2] : bytes;

    switch (call) {
    case CALL_READ: case CALL_PREAD:
        hn_transfer(me, a[1], fitting, HN_WRITE, 0);
        break;
    case CALL_RECVFROM:
        if (!hn_discards((int)a[0], (int)a[3]))
            hn_transfer(me, a[1], fitting, HN_WRITE, 0);
        break;
    case CALL_WRITE: case CALL_PWRITE: case CALL_SENDTO:
        hn_transfer(me, a[1], fitting, HN_READ, 0);
        break;
    case CALL_READV: case CALL_PREADV:
        transfer_noted(me, bytes, HN_WRITE);
        break;
    case CALL_WRITEV: case CALL_PWRITEV:
        transfer_pieces(me, a[1], a[2], bytes, HN_READ);
        break;
    case CALL_RECVMSG:
        if (!hn_discards((int)a[0], (int)a[2]))
            transfer_noted(me, bytes, HN_WRITE);
        break;
    case CALL_RECVMMSG:
        if (!hn_discards((int)a[0], (int)a[3]))
            transfer_messages(me, a[1], bytes, HN_WRITE);
        break;
    case CALL_SENDMMSG:
        transfer_messages(me, a[1], bytes, HN_READ);
        break;
    case CALL_VMSPLICE:     /* fills the buffers from the end of a pipe that can be read */
        transfer_noted(me, bytes, (fcntl((int)a[0], F_GETFL) & O_ACCMODE) == O_RDONLY ? HN_WRITE
                                                                                    : HN_READ);
        break;
    case CALL_SENDMSG:
        transfer_message(me, a[1], bytes, HN_READ);
        break;
    case CALL_RANDOM:
        hn_transfer(me, a[0], bytes, HN_WRITE, 0);
        break;
    default:
        break;
    }
}
