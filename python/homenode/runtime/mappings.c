/* Mappings the program makes: what, how large, shared or not, and of which file. */
#include "hn.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

enum { NAME_MAX_BYTES = 255, A_WORD = 7 };

static size_t file_name(int fd, char *name)
{
    char path[32] = "/proc/self/fd/";
    char digits[12];
    char *digit = digits + sizeof digits - 1;
    char *end = path + 14;
    long length;

    if (fd < 0)
        return 0;
    *digit = '\0';
    do
        *--digit = (char)('0' + fd % 10);
    while ((fd /= 10) != 0);
    while ((*end++ = *digit++) != '\0') {
    }
    length = hn_sys(SYS_readlink, (long)path, (long)name, NAME_MAX_BYTES, 0);
    return length > 0 ? (size_t)length : 0;
}

static void mapped(struct hn_thread *me, void *start, size_t size, int flags, int fd)
{
    uint64_t words[4 + NAME_MAX_BYTES / A_WORD + 3] = {(uintptr_t)start, 0, size, 0};
    char name[NAME_MAX_BYTES];
    size_t length;

    words[1] = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
    length = file_name((flags & MAP_ANONYMOUS) != 0 ? -1 : fd, name);
    words[3] = length;
    for (size_t i = 0; i < length; i++)
        words[4 + i / A_WORD] |= (uint64_t)(unsigned char)name[i] << (8 * (i % A_WORD));
    hn_event_words(me, HN_EV_MAP, words, 1 + (unsigned)((length + 2 * A_WORD - 1) / (2 * A_WORD)));
}

static struct hn_thread *mapper(void)
{
    struct hn_thread *me = hn_me;

    return me->state == HN_RUNNING && !me->in_runtime && hn_c->order != 0 ? me : NULL;
}

#define MAP(name, offset_type)                                                               \
    INTERPOSE(void *, name, (void *at, size_t size, int protection, int flags, int fd,       \
                             offset_type offset))                                            \
    {                                                                                        \
        void *start = REAL(name)(at, size, protection, flags, fd, offset);                   \
        struct hn_thread *me = mapper();                                                  \
                                                                                             \
        if (me != NULL && start != MAP_FAILED)                                               \
            mapped(me, start, size, flags, fd);                                              \
        return start;                                                                        \
    }

MAP(mmap, off_t)
MAP(mmap64, off64_t)

static void unmapped(void *start, size_t size)
{
    const uint64_t words[4] = {(uintptr_t)start, 0, size, 0};
    struct hn_thread *me = mapper();

    if (me != NULL)
        hn_event_with(me, HN_EV_UNMAP, words);
}

INTERPOSE(int, munmap, (void *start, size_t size))
{
    /* First the event: afterwards another thread may get the memory. */
    unmapped(start, size);
    return REAL(munmap)(start, size);
}

INTERPOSE(void *, mremap, (void *old, size_t old_size, size_t size, int flags, ...))
{
    va_list rest;
    void *wanted;
    void *start;
    struct hn_thread *me;

    va_start(rest, flags);
    wanted = va_arg(rest, void *);
    va_end(rest);
    start = REAL(mremap)(old, old_size, size, flags, wanted);
    me = mapper();
    if (me != NULL && start != MAP_FAILED) {
        unmapped(old, old_size);
        mapped(me, start, size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    }
    return start;
}
