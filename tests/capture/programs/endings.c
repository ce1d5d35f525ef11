/* Ends in the way that the first argument names, while two threads still run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long last[16];
static volatile long other[16];

static void *work(void *argument)
{
    for (;;)
        other[(long)argument]++;
    return NULL;
}

static void end(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(11);
    if (strcmp(how, "_exit") == 0)
        _exit(12);
    if (strcmp(how, "_Exit") == 0)
        _Exit(13);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(14);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        *(volatile int *)16 = 1;
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "exec") == 0)
        execlp("sh", "sh", "-c", "echo replaced; exit 15", (char *)NULL);
}

int main(int count, char **words)
{
    pthread_t threads[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    printf("started\n");
    fflush(stdout);
    for (int i = 0; i < 1000; i++)
        last[i % 16]++;
    last[15] = 99;
    if (count > 1)
        end(words[1]);
    return 10;
}
