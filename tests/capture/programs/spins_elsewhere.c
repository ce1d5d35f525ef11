/* A thread computes endlessly without memory references, while others call the kernel and end. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4, STEPS = 3000 };

static long shared[8];
static volatile int spinning;

static void turns(int count)
{
    for (int i = 0; i < count; i++)
        shared[i % 8]++;
}

static void *spin(void *unused)
{
    turns(STEPS);
    spinning = 1;
    for (;;)
        __asm__ volatile("");
    return unused;
}

static void *worker(void *argument)
{
    const long number = (long)argument;

    while (!spinning)
        turns(10);
    for (int i = 0; i < 10; i++) {
        turns(STEPS);
        if (getppid() == 0)
            return NULL;
    }
    return (void *)(number + 1);
}

int main(void)
{
    pthread_t threads[THREADS], spinner;
    void *value;
    long sum = 0;

    pthread_create(&spinner, NULL, spin, NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    turns(2 * STEPS);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &value);
        sum += (long)value;
    }
    printf("sum %ld\n", sum);
    return 0;
}
