/* memcpy and its family, and other functions of the C library that access the program's memory.
 * Compilers do not instrument them (libtsan replaces some). The linker renames the calls that the
 * program's own files make (--wrap), so copies within libraries are not recorded. All references
 * are recorded first, then the real function runs.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <wchar.h>

#include "hn.h"

#define WRAP(ret, name, params)                \
    extern ret __real_##name params;           \
    HN_EXPORT ret __wrap_##name params;        \
    HN_EXPORT ret __wrap_##name params

/* The runtime's own calls, which compilers also make to clear or copy a structure: without these
 * lines the linker would rename them as it does the program's, and they would be recorded.
 */
#define OWN(name) __asm__(".set " #name ", __real_" #name)
OWN(memcpy);
OWN(memmove);
OWN(memset);
OWN(memcmp);
OWN(bcmp);
OWN(strlen);
OWN(strcmp);

/* Every function begins with this: if the turn is over, other threads run now, and not again before
 * the real function has returned. So the memory that is measured (the length of a string), recorded
 * and accessed is the same.
 *
 * In a static program the C library's own calls are renamed too: they come before there is
 * thread-local storage, and later with locks held that ignore the baton, so no thread yields there.
 */
static inline void begin(void)
{
#ifndef HN_STATIC
    if (hn_recording && hn_me->next >= hn_me->limit)
        hn_slow(hn_me);
#endif
}

static void touch(const void *start, size_t size, uint64_t kind, uintptr_t pc)
{
    if (!hn_recording)
        return;
    hn_me->no_yield++;
    hn_range(start, size, kind, pc);
    hn_me->no_yield--;
}

#define READS(start, size) touch((start), (size), HN_READ, HN_CALLER)
#define WRITES(start, size) touch((start), (size), HN_WRITE, HN_CALLER)
#define STRING(text) READS((text), __real_strlen(text) + 1)

WRAP(size_t, strlen, (const char *text))
{
    begin();
    size_t length = __real_strlen(text);

    READS(text, length + 1);
    return length;
}

WRAP(size_t, strnlen, (const char *text, size_t most))
{
    begin();
    size_t length = __real_strnlen(text, most);

    READS(text, length < most ? length + 1 : most);
    return length;
}

/* Block operations. -D_FORTIFY_SOURCE makes calls of the checked forms (_chk). */
#define COPY(name, params, ...)        \
    WRAP(void *, name, params)         \
    {                                  \
        begin();                              \
        READS(from, size);             \
        WRITES(to, size);              \
        return __real_##name(__VA_ARGS__); \
    }
#define COPY_PARAMS (void *to, const void *from, size_t size)
#define COPY_CHECKED (void *to, const void *from, size_t size, size_t room)

COPY(memcpy, COPY_PARAMS, to, from, size)
COPY(memmove, COPY_PARAMS, to, from, size)
COPY(mempcpy, COPY_PARAMS, to, from, size)
COPY(__mempcpy, COPY_PARAMS, to, from, size)
COPY(__memcpy_chk, COPY_CHECKED, to, from, size, room)
COPY(__memmove_chk, COPY_CHECKED, to, from, size, room)
COPY(__mempcpy_chk, COPY_CHECKED, to, from, size, room)

WRAP(void, bcopy, (const void *from, void *to, size_t size))
{
    begin();
    READS(from, size);
    WRITES(to, size);
    __real_memmove(to, from, size);
}

WRAP(void *, memset, (void *to, int value, size_t size))
{
    begin();
    WRITES(to, size);
    return __real_memset(to, value, size);
}

WRAP(void *, __memset_chk, (void *to, int value, size_t size, size_t room))
{
    begin();
    WRITES(to, size);
    return __real___memset_chk(to, value, size, room);
}

WRAP(void, bzero, (void *to, size_t size))
{
    begin();
    WRITES(to, size);
    __real_memset(to, 0, size);
}

/* Comparisons and searches read up to and including the byte that decides. */
static size_t deciding(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    size_t i = 0;

    while (i < size && x[i] == y[i])
        i++;
    return i < size ? i + 1 : size;
}

WRAP(int, memcmp, (const void *a, const void *b, size_t size))
{
    begin();
    size_t read = deciding(a, b, size);

    READS(a, read);
    READS(b, read);
    return __real_memcmp(a, b, size);
}

WRAP(int, bcmp, (const void *a, const void *b, size_t size))
{
    begin();
    size_t read = deciding(a, b, size);

    READS(a, read);
    READS(b, read);
    return __real_memcmp(a, b, size);
}

static size_t up_to(const void *found, const void *start, size_t otherwise)
{
    return found == NULL ? otherwise : (size_t)((const char *)found - (const char *)start) + 1;
}

WRAP(void *, memchr, (const void *start, int byte, size_t size))
{
    begin();
    void *found = __real_memchr(start, byte, size);

    READS(start, up_to(found, start, size));
    return found;
}

/* Strings. */
WRAP(char *, strcpy, (char *to, const char *from))
{
    begin();
    size_t size = __real_strlen(from) + 1;

    READS(from, size);
    WRITES(to, size);
    return __real_strcpy(to, from);
}

WRAP(char *, __strcpy_chk, (char *to, const char *from, size_t room))
{
    begin();
    size_t size = __real_strlen(from) + 1;

    READS(from, size);
    WRITES(to, size);
    return __real___strcpy_chk(to, from, room);
}

WRAP(char *, stpcpy, (char *to, const char *from))
{
    begin();
    size_t size = __real_strlen(from) + 1;

    READS(from, size);
    WRITES(to, size);
    return __real_stpcpy(to, from);
}

WRAP(char *, strncpy, (char *to, const char *from, size_t size))
{
    begin();
    size_t length = __real_strnlen(from, size);

    READS(from, length < size ? length + 1 : size);
    WRITES(to, size);
    return __real_strncpy(to, from, size);
}

WRAP(char *, __strncpy_chk, (char *to, const char *from, size_t size, size_t room))
{
    begin();
    size_t length = __real_strnlen(from, size);

    READS(from, length < size ? length + 1 : size);
    WRITES(to, size);
    return __real___strncpy_chk(to, from, size, room);
}

WRAP(char *, strcat, (char *to, const char *from))
{
    begin();
    size_t before = __real_strlen(to), size = __real_strlen(from) + 1;

    READS(to, before + 1);
    READS(from, size);
    WRITES(to + before, size);
    return __real_strcat(to, from);
}

WRAP(char *, __strcat_chk, (char *to, const char *from, size_t room))
{
    begin();
    size_t before = __real_strlen(to), size = __real_strlen(from) + 1;

    READS(to, before + 1);
    READS(from, size);
    WRITES(to + before, size);
    return __real___strcat_chk(to, from, room);
}

WRAP(char *, strncat, (char *to, const char *from, size_t most))
{
    begin();
    size_t before = __real_strlen(to), length = __real_strnlen(from, most);

    READS(to, before + 1);
    READS(from, length < most ? length + 1 : most);
    WRITES(to + before, length + 1);
    return __real_strncat(to, from, most);
}

static size_t deciding_text(const char *a, const char *b, size_t most)
{
    size_t i = 0;

    while (i < most && a[i] == b[i] && a[i] != '\0')
        i++;
    return i < most ? i + 1 : most;
}

WRAP(int, strcmp, (const char *a, const char *b))
{
    begin();
    size_t read = deciding_text(a, b, SIZE_MAX);

    READS(a, read);
    READS(b, read);
    return __real_strcmp(a, b);
}

WRAP(int, strncmp, (const char *a, const char *b, size_t most))
{
    begin();
    size_t read = deciding_text(a, b, most);

    READS(a, read);
    READS(b, read);
    return __real_strncmp(a, b, most);
}

WRAP(char *, strchr, (const char *text, int byte))
{
    begin();
    char *found = __real_strchr(text, byte);

    READS(text, up_to(found, text, __real_strlen(text) + 1));
    return found;
}

#define WHOLE(ret, name, second, type)        \
    WRAP(ret, name, (const char *text, type second)) \
    {                                         \
        begin();                              \
        STRING(text);                         \
        return __real_##name(text, second);   \
    }

WHOLE(char *, strrchr, byte, int)
WHOLE(char *, strpbrk, set, const char *)
WHOLE(size_t, strspn, set, const char *)
WHOLE(size_t, strcspn, set, const char *)

WRAP(char *, strstr, (const char *text, const char *part))
{
    begin();
    char *found = __real_strstr(text, part);
    size_t size = __real_strlen(part);

    READS(part, size + 1);
    READS(text, found == NULL ? __real_strlen(text) + 1 : (size_t)(found - text) + size);
    return found;
}

static char *copied(char *copy, size_t size, uintptr_t pc, const void *frame)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || copy == NULL)
        return copy;
    const uint64_t words[4] = {(uintptr_t)copy, pc, size, hn_stack(me, frame, pc)};

    hn_event_with(me, HN_EV_ALLOC, words);
    touch(copy, size, HN_WRITE, pc);
    return copy;
}

WRAP(char *, strdup, (const char *text))
{
    begin();
    size_t size = __real_strlen(text) + 1;
    char *copy;

    READS(text, size);
    hn_me->in_runtime++;    /* the allocation inside is reported as the caller's */
    copy = __real_strdup(text);
    hn_me->in_runtime--;
    return copied(copy, size, HN_CALLER, HN_FRAME);
}

WRAP(char *, strndup, (const char *text, size_t most))
{
    begin();
    size_t length = __real_strnlen(text, most);
    char *copy;

    READS(text, length < most ? length + 1 : most);
    hn_me->in_runtime++;
    copy = __real_strndup(text, most);
    hn_me->in_runtime--;
    return copied(copy, length + 1, HN_CALLER, HN_FRAME);
}

/* Random number generators with the caller's state: a table of such states, one a thread, is a
 * common case of false sharing. */
#define GENERATOR(ret, name, params, state, size, ...) \
    WRAP(ret, name, params)                            \
    {                                                  \
        begin();                                       \
        READS(state, size);                            \
        WRITES(state, size);                           \
        return __real_##name(__VA_ARGS__);             \
    }
#define RAND48_STATE (3 * sizeof(unsigned short))

GENERATOR(int, rand_r, (unsigned *seed), seed, sizeof *seed, seed)
GENERATOR(double, erand48, (unsigned short state[3]), state, RAND48_STATE, state)
GENERATOR(long, nrand48, (unsigned short state[3]), state, RAND48_STATE, state)
GENERATOR(long, jrand48, (unsigned short state[3]), state, RAND48_STATE, state)
GENERATOR(int, drand48_r, (struct drand48_data *data, double *to), data, sizeof *data, data, to)
GENERATOR(int, lrand48_r, (struct drand48_data *data, long *to), data, sizeof *data, data, to)
GENERATOR(int, mrand48_r, (struct drand48_data *data, long *to), data, sizeof *data, data, to)

/* Newer versions of clang call these by name. */
HN_HOOK void *__tsan_memcpy(void *to, const void *from, size_t size);
HN_HOOK void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    begin();
    READS(from, size);
    WRITES(to, size);
    return __real_memcpy(to, from, size);
}

HN_HOOK void *__tsan_memmove(void *to, const void *from, size_t size);
HN_HOOK void *__tsan_memmove(void *to, const void *from, size_t size)
{
    begin();
    READS(from, size);
    WRITES(to, size);
    return __real_memmove(to, from, size);
}

HN_HOOK void *__tsan_memset(void *to, int value, size_t size);
HN_HOOK void *__tsan_memset(void *to, int value, size_t size)
{
    begin();
    WRITES(to, size);
    return __real_memset(to, value, size);
}
