/* A timer ends waits so often that some signals arrive while a wait is about to resume. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAITS = 1000 };

static void on_alarm(int number)
{
    (void)number;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {{0, 700}, {0, 700}};
    int ends[2], ended = 0;
    char c;

    if (pipe(ends) != 0)
        return 1;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < WAITS; i++)
        ended += read(ends[0], &c, 1) < 0 && errno == EINTR;
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    printf("%d waits ended\n", ended);
    return 0;
}
