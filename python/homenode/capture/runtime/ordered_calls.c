/* Logical order: calls of the C library whose order is visible, in data written and read, in
 * descriptor numbers, in random numbers. They are made in turn, so that the program's output is
 * repeatable, and no thread waits for a lock of the C library while it has the turn. In the other
 * orders they are passed on.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "hn.h"

/* Declared here and not by headers: some are variadic, and are passed only numbers. */
struct file;

/* A call that cannot be a jump: stacks.c skips frames of this section. */
#define VARIADIC(name, real, params, last, ...)                                 \
    HN_EXPORT __attribute__((weak, section("hn_visible"))) int HN_NAME(name) params; \
    HN_EXPORT __attribute__((weak, section("hn_visible"))) int HN_NAME(name) params  \
    {                                                                           \
        va_list rest;                                                           \
        int result;                                                             \
                                                                                \
        if (HN_UNLIKELY(hn_logical))                                            \
            hn_inside();                                                        \
        va_start(rest, last);                                                   \
        result = REAL(real)(__VA_ARGS__, rest);                                 \
        va_end(rest);                                                           \
        return result;                                                          \
    }

#ifdef HN_STATIC
#define HN_NAME(name) __wrap_##name
#else
#define HN_NAME(name) name
#endif

/* There is a mode only if the flags require one; the kernel ignores a superfluous one. */
#define OPEN(name, params, ...)                 \
    INTERPOSE(int, name, params)                \
    {                                           \
        va_list rest;                           \
        unsigned mode;                          \
                                                \
        if (HN_UNLIKELY(hn_logical))            \
            hn_inside();                        \
        va_start(rest, flags);                  \
        mode = va_arg(rest, unsigned);          \
        va_end(rest);                           \
        return REAL(name)(__VA_ARGS__, flags, mode); \
    }

IN_TURN(int, puts, (const char *text), text)
IN_TURN(int, putchar, (int c), c)
IN_TURN(int, putc, (int c, struct file *f), c, f)
IN_TURN(int, fputc, (int c, struct file *f), c, f)
IN_TURN(int, fputs, (const char *text, struct file *f), text, f)
IN_TURN(int, fflush, (struct file *f), f)
IN_TURN(void, perror, (const char *text), text)
IN_TURN(int, vprintf, (const char *format, va_list rest), format, rest)
IN_TURN(int, vfprintf, (struct file *f, const char *format, va_list rest), f, format, rest)
IN_TURN(int, __vprintf_chk, (int flag, const char *format, va_list rest), flag, format, rest)
IN_TURN(int, __vfprintf_chk, (struct file *f, int flag, const char *format, va_list rest), f, flag,
        format, rest)
VARIADIC(printf, vprintf, (const char *format, ...), format, format)
VARIADIC(fprintf, vfprintf, (struct file *f, const char *format, ...), format, f, format)
VARIADIC(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), format, flag, format)
VARIADIC(__fprintf_chk, __vfprintf_chk, (struct file *f, int flag, const char *format, ...), format,
         f, flag, format)

IN_TURN(char *, fgets, (char *to, int size, struct file *f), to, size, f)
IN_TURN(char *, __fgets_chk, (char *to, size_t room, int size, struct file *f), to, room, size, f)
IN_TURN(int, fgetc, (struct file *f), f)
IN_TURN(int, getc, (struct file *f), f)
IN_TURN(int, getchar, (void), )
IN_TURN(int, ungetc, (int c, struct file *f), c, f)
IN_TURN(ssize_t, getline, (char **line, size_t *size, struct file *f), line, size, f)
IN_TURN(int, fseek, (struct file *f, long to, int from), f, to, from)
IN_TURN(long, ftell, (struct file *f), f)

/* They have the kernel access the caller's memory, or copy what it has read or will write: both
 * count as the transfer of a system call. They are called for bytes, as the last element read may
 * be a part. */
#define BY_BYTES(name, kind, memory, params, ...)                                         \
    INTERPOSE(size_t, name, params)                                                       \
    {                                                                                     \
        size_t bytes;                                                                     \
                                                                                          \
        if (HN_UNLIKELY(hn_logical))                                                      \
            hn_inside();                                                                  \
        if (size == 0 || __builtin_mul_overflow(size, count, &bytes))                     \
            return 0;                                                                     \
        bytes = REAL(name)(__VA_ARGS__);                                                  \
        hn_transfer(hn_me, (uintptr_t)(memory), bytes, kind, HN_CALLER);                  \
        return bytes / size;                                                              \
    }

BY_BYTES(fread, HN_WRITE, to, (void *to, size_t size, size_t count, struct file *f), to, 1, bytes,
         f)
BY_BYTES(__fread_chk, HN_WRITE, to,
         (void *to, size_t room, size_t size, size_t count, struct file *f), to, room, 1, bytes, f)
BY_BYTES(fwrite, HN_READ, from, (const void *from, size_t size, size_t count, struct file *f), from,
         1, bytes, f)

IN_TURN(struct file *, fopen, (const char *name, const char *mode), name, mode)
IN_TURN(struct file *, fopen64, (const char *name, const char *mode), name, mode)
IN_TURN(int, fclose, (struct file *f), f)
OPEN(open, (const char *name, int flags, ...), name)
OPEN(open64, (const char *name, int flags, ...), name)
OPEN(openat, (int at, const char *name, int flags, ...), at, name)
IN_TURN(int, close, (int fd), fd)
IN_TURN(int, pipe, (int fds[2]), fds)
IN_TURN(int, pipe2, (int fds[2], int flags), fds, flags)
IN_TURN(int, dup, (int fd), fd)
IN_TURN(int, dup2, (int fd, int to), fd, to)
IN_TURN(int, socket, (int family, int type, int protocol), family, type, protocol)
IN_TURN(int, eventfd, (unsigned value, int flags), value, flags)
IN_TURN(long, lseek, (int fd, long to, int from), fd, to, from)
IN_TURN(int, unlink, (const char *name), name)
IN_TURN(int, rename, (const char *from, const char *to), from, to)

IN_TURN(int, rand, (void), )
IN_TURN(void, srand, (unsigned seed), seed)
IN_TURN(long, random, (void), )
IN_TURN(void, srandom, (unsigned seed), seed)
IN_TURN(double, drand48, (void), )
IN_TURN(long, lrand48, (void), )
IN_TURN(long, mrand48, (void), )
IN_TURN(void, srand48, (long seed), seed)

#ifndef HN_STATIC
/* C++: a thread that finds a static variable initialised is ordered after the initialising one. */
INTERPOSE(int, __cxa_guard_acquire, (void *guard))
{
    struct hn_thread *me = hn_inside();
    int result = REAL(__cxa_guard_acquire)(guard);

    if (me != NULL && hn_logical)
        hn_sync_mark(me, guard);
    return result;
}

INTERPOSE(void, __cxa_guard_release, (void *guard))
{
    struct hn_thread *me = hn_inside();

    if (me != NULL && hn_logical)
        hn_sync_mark(me, guard);
    REAL(__cxa_guard_release)(guard);
}
#endif
