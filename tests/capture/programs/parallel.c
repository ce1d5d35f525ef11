/* Threads that only meet at a barrier, and a counter that they add to under a lock. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 4, LENGTH = 500 };

static long own[THREADS][LENGTH], sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *work(void *argument)
{
    const long me = (long)argument;

    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < LENGTH; i++)
            own[me][i] = i;
        pthread_mutex_lock(&mutex);
        sum += own[me][round];
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    return 0;
}
