/* Programs that the program executes in its place: they are not recorded, which the recorder says.
 * They get the processors that the program had.
 */
#include "hn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Called before exec; returns whether the caller is recorded. */
static int leaves(void)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || hn_shared == NULL)
        return 0;
    hn_be_home();
    __atomic_fetch_add(&hn_shared->executions, 1, __ATOMIC_RELAXED);
    if (hn_one_ring())
        hn_sys(SYS_sched_setaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0);
    return 1;
}

/* Called if exec has failed; returns its result. */
static int stays(int left, int result)
{
    const int why = errno;

    if (left) {
        __atomic_fetch_sub(&hn_shared->executions, 1, __ATOMIC_RELAXED);
        if (hn_one_ring())
            hn_pin();
    }
    errno = why;
    return result;
}

INTERPOSE(int, execve, (const char *path, char *const words[], char *const environment[]))
{
    const int left = leaves();

    return stays(left, REAL(execve)(path, words, environment));
}

INTERPOSE(int, fexecve, (int fd, char *const words[], char *const environment[]))
{
    const int left = leaves();

    return stays(left, REAL(fexecve)(fd, words, environment));
}

INTERPOSE(int, execv, (const char *path, char *const words[]))
{
    const int left = leaves();

    return stays(left, REAL(execv)(path, words));
}

INTERPOSE(int, execvp, (const char *file, char *const words[]))
{
    const int left = leaves();

    return stays(left, REAL(execvp)(file, words));
}

INTERPOSE(int, execvpe, (const char *file, char *const words[], char *const environment[]))
{
    const int left = leaves();

    return stays(left, REAL(execvpe)(file, words, environment));
}

/* The words of a call that has them as arguments: `first` and those behind it. A null pointer ends
 * them, and is counted. */
static size_t count_words(const char *first, va_list rest)
{
    size_t count = 1;

    for (const char *word = first; word != NULL; count++)
        word = va_arg(rest, const char *);
    return count;
}

static void take_words(char **to, size_t count, const char *first, va_list rest)
{
    to[0] = (char *)first;
    for (size_t i = 1; i < count; i++)
        to[i] = va_arg(rest, char *);
}

/* Declares `words`, and `rest` behind them, which the user ends. */
#define WORDS_FROM(first)                                                                         \
    va_list rest;                                                                                 \
    size_t count;                                                                                 \
                                                                                                  \
    va_start(rest, first);                                                                        \
    count = count_words(first, rest);                                                             \
    va_end(rest);                                                                                 \
    char *words[count];                                                                           \
    va_start(rest, first);                                                                        \
    take_words(words, count, first, rest)

INTERPOSE(int, execl, (const char *path, const char *first, ...))
{
    WORDS_FROM(first);
    va_end(rest);
    return execv(path, words);
}

INTERPOSE(int, execlp, (const char *file, const char *first, ...))
{
    WORDS_FROM(first);
    va_end(rest);
    return execvp(file, words);
}

INTERPOSE(int, execle, (const char *path, const char *first, ...))
{
    WORDS_FROM(first);
    char *const *environment = va_arg(rest, char *const *);

    va_end(rest);
    return execve(path, words, environment);
}
