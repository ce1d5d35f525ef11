/* Access to the program's memory. It is at the program's own addresses (QEMU is started with a base
 * of zero), so an access needs no translation; it is made by a system call, as an address may be
 * invalid.
 */
#include "guest.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int transfer(long number, uint64_t address, void *ours, size_t size)
{
    const struct iovec here = {ours, size};
    const struct iovec there = {(void *)(uintptr_t)address, size};
    const long done = syscall(number, (long)hn_c->pid, &here, 1L, &there, 1L, 0L);

    return done == (long)size;
}

/* Reads the program's memory; returns whether it could. */
int peek(uint64_t address, void *to, size_t size)
{
    return transfer(SYS_process_vm_readv, address, to, size);
}

/* Writes the program's memory; returns whether it could. */
int poke(uint64_t address, const void *from, size_t size)
{
    return transfer(SYS_process_vm_writev, address, (void *)(uintptr_t)from, size);
}

/* Changes memory for the duration of the present system call. */
int patch(struct guest *g, uint64_t address, const void *bytes, size_t size)
{
    struct patch *p = &g->patches[g->patched];

    if (g->patched == PATCHES_MAX || size > sizeof p->saved || !peek(address, p->saved, size) ||
        !poke(address, bytes, size))
        return 0;
    p->address = address;
    p->size = size;
    g->patched++;
    return 1;
}

/* Restores the changed memory. */
void unpatch(struct guest *g)
{
    while (g->patched > 0) {
        const struct patch *p = &g->patches[--g->patched];

        poke(p->address, p->saved, p->size);
    }
}
