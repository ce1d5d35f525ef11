/* Prints what the system gives a program: time, random numbers, processors, input. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
    struct timespec now, later;
    struct timeval day;
    unsigned long number = 0;
    cpu_set_t processors;
    char line[100];

    sched_getaffinity(0, sizeof processors, &processors);
    if (count > 1 && fgets(line, sizeof line, stdin) != NULL)
        printf("%s %d %s", words[1], CPU_COUNT(&processors), line);
    if (count > 1)
        return 0;
    getrandom(&number, sizeof number, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    gettimeofday(&day, NULL);
    nanosleep(&(struct timespec){2, 500000000}, NULL);
    clock_gettime(CLOCK_REALTIME, &later);
    printf("%ld.%09ld %ld.%06ld %ld %lx %p\n", (long)now.tv_sec, now.tv_nsec, (long)day.tv_sec,
           (long)day.tv_usec, (long)time(NULL), number, malloc(100));
    printf("slept %d\n", later.tv_sec - now.tv_sec >= 2);
    return 0;
}
