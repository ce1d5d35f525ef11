/* Data that system calls transfer: the kernel writes the buffer of `read` and reads that of
 * `write`. These references are the calling thread's, with a mark of their own.
 *
 * How many bytes there are is known when the call has returned, so they are recorded then, in the
 * turn in which the call was made. In logical order they are part of the call: like an event, they
 * do not advance the clock.
 */
#include "hn.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Records that the kernel has read or written `size` bytes for the caller, in the pieces of
 * hn_range. */
void hn_transfer(struct hn_thread *me, uint64_t start, size_t size, uint64_t kind, uintptr_t pc)
{
    const uint64_t low = 0xffffffffffff;
    const uint64_t mark = (uint64_t)HN_TRANSFERS << HN_GAP_SHIFT;
    const uint64_t end = start + size;
    uint64_t clock, part;

    if (size == 0 || me->in_runtime || !hn_may_record(me))
        return;
    if (hn_logical && me->fresh)
        hn_note_turn(me);
    clock = hn_begin_uncounted(me);
    for (uint64_t at = start; at < end && hn_c->order != 0; at += part) {
        part = 64 - (at & 63);
        if (part > end - at)
            part = end - at;
        hn_put(me, (at & low) | HN_WHAT(kind, part) | mark, (pc & low) | me->tag);
    }
    hn_end_uncounted(me, clock);
}

/* Records what a call has transferred; the kernel may return a larger number (MSG_TRUNC). */
void hn_transferred(const void *start, size_t size, ssize_t result, uint64_t kind, uintptr_t pc)
{
    if (result > 0)
        hn_transfer(hn_me, (uintptr_t)start, (size_t)result < size ? (size_t)result : size, kind,
                    pc);
}

/* Records the first `size` bytes of several buffers. */
void hn_transfer_pieces(struct hn_thread *me, const struct iovec *pieces, size_t count, size_t size,
                        uint64_t kind, uintptr_t pc)
{
    for (size_t i = 0; i < count && size > 0; i++) {
        const size_t part = pieces[i].iov_len < size ? pieces[i].iov_len : size;

        hn_transfer(me, (uintptr_t)pieces[i].iov_base, part, kind, pc);
        size -= part;
    }
}

/* Whether a call that receives with these flags discards: the kernel writes nothing. */
int hn_discards(int fd, int flags)
{
    int protocol = 0;
    socklen_t size = sizeof protocol;

    return (flags & MSG_TRUNC) != 0 &&
           getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
           protocol == IPPROTO_TCP;
}
