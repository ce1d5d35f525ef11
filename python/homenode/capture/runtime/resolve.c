/* Looks up the C library's functions that the runtime interposes, with memory of its own.
 *
 * For each name that it does not find, the loader allocates a message whose length depends on the
 * program's path. On the program's heap, later addresses would depend on that length.
 */
#include "hn.h"

#ifndef HN_STATIC
#include <dlfcn.h>
#include <sys/mman.h>

enum { MESSAGES_BYTES = 1 << 21, ALIGNED_BYTES = 16 };

extern const struct hn_real __start_hn_reals[], __stop_hn_reals[];

int hn_resolving;
static uintptr_t messages;      /* null: the heap is used */
static size_t used;

void *hn_message(size_t bytes)
{
    size_t at;

    if (messages == 0 || bytes > MESSAGES_BYTES)
        return NULL;
    bytes = (bytes + ALIGNED_BYTES - 1) / ALIGNED_BYTES * ALIGNED_BYTES;
    at = __atomic_fetch_add(&used, bytes, __ATOMIC_RELAXED);
    return at + bytes <= MESSAGES_BYTES ? (void *)(messages + at) : NULL;
}

int hn_is_message(const void *start)
{
    return (uintptr_t)start - messages < MESSAGES_BYTES && messages != 0;
}

void *hn_resolve(void **slot, const char *name)
{
    *slot = dlsym(RTLD_NEXT, name);
    return *slot;
}

void hn_resolve_all(void)
{
    void *memory = mmap(NULL, MESSAGES_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory != MAP_FAILED)
        messages = (uintptr_t)memory;
    hn_resolving = 1;
    for (const struct hn_real *r = __start_hn_reals; r < __stop_hn_reals; r++)
        if (*r->slot == NULL)
            hn_resolve(r->slot, r->name);
    hn_resolving = 0;
}
#else
void hn_resolve_all(void) {}
#endif
