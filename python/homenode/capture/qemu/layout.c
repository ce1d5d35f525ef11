/* Addresses of the program's mappings.
 *
 * QEMU 8.2 and later leave the address of a mapping to the kernel, which puts it next to QEMU's own
 * mappings: addresses would depend on the memory that QEMU's threads allocate. So mappings without
 * an address get one here, each behind the one before, and the heap gets room behind the program;
 * earlier versions of QEMU do the same themselves.
 */
#include "guest.h"

#include <dlfcn.h>
#include <sys/mman.h>

/* Far below QEMU and its libraries. */
#define FIRST_PLACE UINT64_C(0x4000000000)
#define HEAP_BYTES (UINT64_C(32) << 20)
#define PAGE_BYTES_OF_HOST UINT64_C(4096)

typedef void *map_function(void *, size_t, int, int, int, off_t);

static uint64_t unused_from = FIRST_PLACE;
static enum { BEFORE, SOON, LOADING, LOADED } stage;

/* Called before QEMU loads the program, when it has allocated memory for translated code. */
void layout_begin(void)
{
    stage = SOON;
}

/* Called when the program is loaded. */
void layout_loaded(void)
{
    stage = LOADED;
}

static void *behind_the_last(size_t size)
{
    const uint64_t whole = (size + PAGE_BYTES_OF_HOST - 1) & ~(PAGE_BYTES_OF_HOST - 1);

    return (void *)(uintptr_t)__atomic_fetch_add(&unused_from, whole, __ATOMIC_RELAXED);
}

static int is_fixed(int flags)
{
    return (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
}

static map_function *real_map(void)
{
    static map_function *real;

    if (real == NULL)
        real = (map_function *)dlsym(RTLD_NEXT, "mmap64");
    return real;
}

/* The program itself has a preferred address, where QEMU may already be. */
static void *map_program(void *wish, size_t size, int protection, int flags)
{
    void *place;

    stage = LOADING;
    place = real_map()(wish, size, protection, flags, -1, 0);
    if (is_fixed(flags) || place == MAP_FAILED || place == wish)
        return place;
    munmap(place, size);
    return real_map()(behind_the_last(size + HEAP_BYTES), size, protection, flags, -1, 0);
}

/* The kernel uses the given address if it is free, and else chooses another. */
HN_EXPORT void *mmap64(void *place, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (stage == SOON && fd < 0 && (flags & MAP_NORESERVE) != 0)
        return map_program(place, size, protection, flags);
    if (place == NULL && !is_fixed(flags) &&
        (stage == LOADING || (recording(hn_me) && guest_of(hn_me)->call == CALL_MMAP)))
        place = behind_the_last(size);
    return real_map()(place, size, protection, flags, fd, offset);
}
