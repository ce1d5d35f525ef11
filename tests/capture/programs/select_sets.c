/* Sets and times of select, pselect and ppoll that are wrong, or that the program may not read or
 * write. Prints what each returns. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static void say(const char *call, int result)
{
    printf("%s %d %s\n", call, result, result < 0 ? strerror(errno) : "");
}

/* Sets of `count` descriptors, at the end of memory with the given protection. */
static fd_set *at_end(int count, int protection)
{
    enum { PAGE = 4096 };
    char *const pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                             -1, 0);

    mprotect(pages + PAGE, PAGE, PROT_NONE);
    mprotect(pages, PAGE, protection);
    return (fd_set *)(pages + PAGE - (count + 63) / 64 * 8);
}

int main(void)
{
    const struct timespec wrong = {0, 1000000000}, past = {-1, 0};
    struct timeval negative = {-1, 0}, short_time = {0, 2000}, none = {0, 0};
    fd_set *const unreadable = at_end(1, PROT_NONE), *const constant = at_end(64, PROT_READ);
    fd_set *const small = at_end(64, PROT_READ | PROT_WRITE);
    fd_set large[2], all[2];
    struct pollfd one;
    int ends[2];

    if (pipe(ends) != 0)
        return 1;
    one = (struct pollfd){ends[0], POLLIN, 0};
    say("unreadable", select(64, unreadable, NULL, NULL, NULL));
    say("unreadable, with a time", select(64, NULL, NULL, unreadable, &none));
    say("unreadable for pselect", pselect(64, NULL, unreadable, NULL, NULL, NULL));
    say("no count", select(-1, NULL, NULL, NULL, NULL));
    say("negative time", select(0, NULL, NULL, NULL, &negative));
    say("negative time of pselect", pselect(0, NULL, NULL, NULL, &past, NULL));
    say("wrong time of ppoll", ppoll(&one, 1, &wrong, NULL));
    say("negative time of ppoll", ppoll(&one, 1, &past, NULL));
    say("unreadable for ppoll", ppoll((struct pollfd *)unreadable, 1, NULL, NULL));

    say("constant", select(64, constant, NULL, NULL, &short_time));
    FD_SET(ends[0], small);
    short_time = (struct timeval){0, 2000};
    say("small, empty", select(ends[0] + 1, small, NULL, NULL, &short_time));
    printf("%d %d\n", FD_ISSET(ends[0], small) != 0, short_time.tv_usec == 0);
    if (write(ends[1], "", 1) != 1)
        return 1;
    FD_SET(ends[0], small);
    short_time = (struct timeval){60, 0};
    say("small, ready", select(ends[0] + 1, small, NULL, NULL, &short_time));
    printf("%d %d\n", FD_ISSET(ends[0], small) != 0, short_time.tv_sec >= 59);

    /* More descriptors than an fd_set has. */
    memset(large, 0, sizeof large);
    memset(all, 0xff, sizeof all);
    FD_SET(ends[0], large);
    say("large", select(2 * FD_SETSIZE, large, NULL, NULL, NULL));
    return 0;
}
