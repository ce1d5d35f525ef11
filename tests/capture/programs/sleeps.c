/* A program that branches on the time: repeats only because its clocks are virtual. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile long work_done[64];
static long looks;

static long now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void *worker(void *argument)
{
    long end = now_us() + 3000;

    while (now_us() < end) {
        work_done[looks % 64]++;
        looks++;
    }
    return argument;
}

static void *sleeper(void *argument)
{
    for (int i = 0; i < 5; i++) {
        usleep(500);
        work_done[1]++;
    }
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    long begin = now_us(), taken;

    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, sleeper, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    usleep(1000);
    taken = now_us() - begin;
    printf("%d %d\n", looks > 0, taken >= 4000);
    return 0;
}
