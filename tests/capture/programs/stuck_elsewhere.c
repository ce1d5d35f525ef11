/* A thread is stuck where the runtime does not see it, in a bare read of a pipe, while others end
 * one after the other; the last one writes into the pipe.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, STEPS = 3000 };

static int ends[2];
static long shared[8];

static void turns(int count)
{
    for (int i = 0; i < count; i++)
        shared[i % 8]++;
}

static long bare(long number, long a, void *b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static void *reader(void *unused)
{
    char text[4];

    turns(STEPS);
    return (void *)bare(SYS_read, ends[0], text, sizeof text);
}

static void *worker(void *argument)
{
    turns(STEPS * (int)(long)argument);
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS], stuck;
    void *value;
    long sum = 0;

    if (pipe(ends) != 0)
        return 1;
    pthread_create(&stuck, NULL, reader, NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    turns(2 * STEPS);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &value);
        sum += (long)value;
    }
    if (bare(SYS_write, ends[1], "abc", 3) != 3)
        return 2;
    pthread_join(stuck, &value);
    printf("sum %ld, read %ld\n", sum, (long)value);
    return 0;
}
