/* A child made by clone() that shares this process's memory and is no thread: it adds numbers up,
 * and main waits for it. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static volatile long count;
static char stack[1 << 16] __attribute__((aligned(64)));

static int run(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        count += i;
    return 0;
}

int main(void)
{
    int child = clone(run, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);

    if (child < 0)
        return 1;
    waitpid(child, NULL, 0);
    printf("%ld\n", count);
    return 0;
}
