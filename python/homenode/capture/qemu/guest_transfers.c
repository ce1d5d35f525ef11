/* Data that the program's system calls transfer (../runtime/transfers.c). */
#include "guest.h"

#include <sys/socket.h>
#include <sys/uio.h>

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
        transfer_pieces(me, a[1], a[2], bytes, HN_WRITE);
        break;
    case CALL_WRITEV: case CALL_PWRITEV:
        transfer_pieces(me, a[1], a[2], bytes, HN_READ);
        break;
    case CALL_RECVMSG:
        if (!hn_discards((int)a[0], (int)a[2]))
            transfer_message(me, a[1], bytes, HN_WRITE);
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
