// kind: locks and barriers
// expect: grid written=3200 read=3200
// compile: gcc clang; O0 O2
// with: -pthread
// why: in 100 rounds each of 4 threads writes its own long and then reads its neighbour's.
#include "truth.h"
#include <pthread.h>

static pthread_barrier_t meet;
long grid[4];

NOINLINE void store(long *at, long value)
{
    *at = value;
}

static void *work(void *given)
{
    long self = (long)given, sum = 0;

    for (int i = 0; i < 100; i++) {
        store(&grid[self], i);
        pthread_barrier_wait(&meet);
        sum += *(volatile long *)&grid[(self + 1) & 3];
        pthread_barrier_wait(&meet);
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t threads[4];

    pthread_barrier_init(&meet, NULL, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
