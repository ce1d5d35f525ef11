/* Memory of the program that system calls are given: the program may have given an address that
 * cannot be read. */
#include "hn.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Copies memory of the program: 0, or EFAULT. Where the kernel does not let a program copy its own
 * memory this way, it is assumed to be readable. */
int hn_copy_in(void *to, const void *from, size_t size)
{
    const struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    const int saved = errno;
    /* Not `process_vm_readv`: the program's calls of it are recorded. */
    const ssize_t done = syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0);
    const int refused = done < 0 && errno != EFAULT;

    errno = saved;
    if (refused)
        memcpy(to, from, size);
    return refused || (size_t)done == size ? 0 : EFAULT;
}
