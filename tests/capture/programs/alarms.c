/* Signals end waits: every wait is interrupted by a timer that goes on until it has been. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int hits, child;

static void on_alarm(int number)
{
    (void)number;
    hits++;
    if (child != 0 && hits >= 3)
        kill(child, SIGKILL);
}

static void every(int ms, int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    struct itimerval timer = {{0, ms * 1000}, {0, ms * 1000}};

    hits = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void report(const char *what, int result)
{
    const int error = errno;

    every(0, 0);
    printf("%s %d %s\n", what, result, strerror(error));
}

int main(void)
{
    struct timespec left = {0, 0};
    int ends[2], status = 0;
    struct pollfd p;
    sem_t semaphore;
    char c;

    pipe(ends);
    p = (struct pollfd){ends[0], POLLIN, 0};
    sem_init(&semaphore, 0, 0);
    every(50, 0);
    report("sleep", nanosleep(&(struct timespec){3600, 0}, &left));
    printf("left %d\n", left.tv_sec > 3000);
    every(50, 0);
    report("read", (int)read(ends[0], &c, 1));
    every(50, SA_RESTART);
    report("poll", poll(&p, 1, -1));
    every(50, 0);
    report("semaphore", sem_wait(&semaphore));
    every(50, 0);
    report("pause", pause());
    signal(SIGUSR1, SIG_IGN);
    printf("ignored %d\n", kill(getpid(), SIGUSR1));
    signal(SIGUSR1, SIG_DFL);
    fflush(stdout);
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    every(50, SA_RESTART);
    errno = 0;
    printf("wait %d ", wait4(child, &status, 0, NULL) == child);
    report("status", WTERMSIG(status));
    return 0;
}
