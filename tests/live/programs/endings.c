/* Ends in the way that its argument names. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int words[1000];

static void *touch(void *argument)
{
    for (int i = 0; i < 1000; i++)
        words[i]++;
    return argument;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "7";
    pthread_t thread;

    pthread_create(&thread, NULL, touch, NULL);
    touch(NULL);
    pthread_join(thread, NULL);
    printf("%s\n", how);
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "_exit") == 0)
        _exit(9);
    if (strcmp(how, "crash") == 0)
        *(volatile int *)(words[0] - words[0]) = 1;
    while (strcmp(how, "endless") == 0)
        touch(NULL);
    return atoi(how);
}
