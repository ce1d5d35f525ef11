/* The only process of a small system: two children, each on a processor of its own, between the
 * marks. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 4096, ROUNDS = 5 };

static volatile uint64_t words[WORDS];

static void mark(const char *what)
{
    if (fork() == 0) {
        execl("/homenode/mark", "mark", what, (char *)0);
        _exit(1);
    }
    wait(NULL);
}

static __attribute__((noinline)) void work(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        _exit(1);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WORDS; i++)
            words[i] = (uint64_t)cpu + 1;
    printf("process %d processor %d\n", (int)getpid(), cpu);
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    mark("start");
    for (int cpu = 0; cpu < 2; cpu++)
        if (fork() == 0)
            work(cpu);
    while (wait(NULL) > 0)
        ;
    mark("stop");
    for (int i = 0; i < WORDS; i++)
        words[i] = 99;
    reboot(RB_POWER_OFF);
    return 0;
}
