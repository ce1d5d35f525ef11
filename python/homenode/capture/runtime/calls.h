/* System calls of the program: waits for descriptors, and the data that they transfer. Included by
 * hn.h. */
#ifndef HN_CALLS_H
#define HN_CALLS_H

#include <sys/uio.h>

struct msghdr;

/* transfers.c */
void hn_transfer(struct hn_thread *me, uint64_t start, size_t size, uint64_t kind, uintptr_t pc);
void hn_transfer_pieces(struct hn_thread *me, const struct iovec *pieces, size_t count, size_t size,
                        uint64_t kind, uintptr_t pc);
void hn_transferred(const void *start, size_t size, ssize_t result, uint64_t kind, uintptr_t pc);
int hn_discards(int fd, int flags);

/* fd_wait.c */
int hn_wait_until(struct hn_thread *me, int (*ready)(void *), void *argument, int64_t timeout_ns);
int hn_wait_restarting(struct hn_thread *me, int (*ready)(void *), void *argument,
                       int64_t timeout_ns);
/* What a call does with its descriptor: reads or writes any file, sends or receives, accepts. */
enum hn_fd_use { HN_FD_FILE, HN_FD_SOCKET, HN_FD_ACCEPTS };
int hn_fd_blocks(int fd, short events, enum hn_fd_use use);
int hn_wait_fd(struct hn_thread *me, int fd, short events, enum hn_fd_use use);
int hn_beyond_memory(uint64_t start, uint64_t size);
int hn_fd_waits(int fd);
int64_t hn_socket_timeout_ns(int fd, short events);
int hn_limit_ns(const struct timespec *timeout, int64_t *ns);

/* user_memory.c */
/* The buffers of a call, as they are before it: the kernel may write over the list. */
enum { HN_FEW_PIECES = 4 };
struct hn_pieces {
    struct iovec *all;
    size_t count, bytes;
    struct iovec few[HN_FEW_PIECES];
};
int hn_copy_in(void *to, const void *from, size_t size);
void *hn_borrow(size_t size);
void hn_give_back(void *memory, size_t size);
int hn_take_pieces(struct hn_pieces *p, const struct iovec *list, size_t count);
int hn_take_message(struct hn_pieces *p, const struct msghdr *message);
void hn_drop_pieces(struct hn_pieces *p);

/* blocking.c */
struct hn_thread *hn_enter_call(long number);
void hn_leave_call(long number);

#endif
