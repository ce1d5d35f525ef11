/* A thread that the C library makes for a timer writes a table that main waits for. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 1000 };

static int table[WORDS];
static int done;

static void fill(union sigval unused)
{
    (void)unused;
    for (int i = 0; i < WORDS; i++)
        table[i] = i;
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fill};
    const struct itimerspec soon = {.it_value = {0, 1000000}};
    timer_t timer;
    long sum = 0;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &soon, NULL) != 0)
        return 1;
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0)
        usleep(1000);
    for (int i = 0; i < WORDS; i++)
        sum += table[i];
    printf("%ld\n", sum);
    return 0;
}
