/* Mappings that the program makes: address, size, whether shared, and file. */
#include "hn.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

static void mapped(struct hn_thread *me, void *start, size_t size, const int flags_and_fd[2],
                   uint64_t stack)
{
    const int flags = flags_and_fd[0];
    const int fd = flags_and_fd[1];
    const int type = flags & MAP_TYPE;
    char name[HN_NAME_BYTES];
    const size_t length = hn_file_name((flags & MAP_ANONYMOUS) != 0 ? -1 : fd, name);
    const int shared = type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
    const uint64_t words[3] = {(uintptr_t)start, (uint64_t)shared | stack << 1, size};

    hn_map_event(me, words, name, length);
}

static struct hn_thread *mapper(void)
{
    struct hn_thread *me = hn_me;

    if (me->state != HN_RUNNING || me->in_runtime || hn_c->order == 0)
        return NULL;
    if (hn_logical)
        hn_take_turn(me);
    return me;
}

#define MAP(name, offset_type)                                                               \
    INTERPOSE(void *, name, (void *at, size_t size, int protection, int flags, int fd,       \
                             offset_type offset))                                            \
    {                                                                                        \
        struct hn_thread *me = mapper();                                                     \
        void *start = REAL(name)(at, size, protection, flags, fd, offset);                   \
        const int how[2] = {flags, fd};                                                      \
                                                                                             \
        if (me != NULL && start != MAP_FAILED)                                               \
            mapped(me, start, size, how, hn_stack(me, HN_FRAME, HN_CALLER));                 \
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
    /* The event comes first: afterwards another thread may get the memory. */
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
    me = mapper();
    start = REAL(mremap)(old, old_size, size, flags, wanted);
    if (me != NULL && start != MAP_FAILED) {
        const int how[2] = {MAP_PRIVATE | MAP_ANONYMOUS, -1};

        unmapped(old, old_size);
        mapped(me, start, size, how, hn_stack(me, HN_FRAME, HN_CALLER));
    }
    return start;
}
