/* Memory of the program that system calls are given: the program may have given an address that
 * cannot be read. */
#include "hn.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Copies memory of the program: 0, or EFAULT. Where the kernel does not let a program copy its own
 * memory this way, it is assumed to be readable. */
int hn_copy_in(void *to, const void *from, size_t size)
{
    const struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    const long a[6] = {getpid(), (long)&here, 1, (long)&there, 1, 0};
    const long done = hn_sys_of_six(SYS_process_vm_readv, a);

    if (done < 0 && done != -EFAULT) {
        memcpy(to, from, size);
        return 0;
    }
    return done == (long)size ? 0 : EFAULT;
}

/* Memory for the length of a call, or null. */
void *hn_borrow(size_t size)
{
    const long a[6] = {0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};
    const long memory = hn_sys_of_six(SYS_mmap, a);

    return memory > -4096 && memory < 0 ? NULL : (void *)memory;
}

void hn_give_back(void *memory, size_t size)
{
    hn_sys(SYS_munmap, (long)memory, (long)size, 0, 0);
}

/* Copies a list of buffers. Returns 0 if the kernel refuses it before it looks at the descriptor:
 * then there are none. */
int hn_take_pieces(struct hn_pieces *p, const struct iovec *list, size_t count)
{
    const size_t size = count * sizeof *list;

    p->all = p->few;
    p->count = p->bytes = 0;
    if (count > IOV_MAX)
        return 0;
    if (count > HN_FEW_PIECES)
        p->all = hn_borrow(size);
    if (p->all == NULL)
        return 0;
    p->count = count;
    if (count > 0 && hn_copy_in(p->all, list, size) != 0)
        goto refused;
    for (size_t i = 0; i < count; i++) {
        if (hn_beyond_memory((uintptr_t)p->all[i].iov_base, p->all[i].iov_len))
            goto refused;
        p->bytes += p->all[i].iov_len;
    }
    return 1;
refused:
    hn_drop_pieces(p);
    return 0;
}

/* The same for the buffers of a message. */
int hn_take_message(struct hn_pieces *p, const struct msghdr *message)
{
    struct msghdr copy;

    if (hn_copy_in(&copy, message, sizeof copy) != 0)
        memset(&copy, -1, sizeof copy);
    return hn_take_pieces(p, copy.msg_iov, copy.msg_iovlen);
}

void hn_drop_pieces(struct hn_pieces *p)
{
    if (p->all != NULL && p->all != p->few)
        hn_give_back(p->all, p->count * sizeof *p->all);
    p->all = p->few;
    p->count = p->bytes = 0;
}
