/* Creates and joins eight threads again and again, and a detached one each time. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 20 };

static long done[THREADS];
static sem_t ended;

static void *work(void *argument)
{
    long *mine = malloc(64);

    *mine = (long)argument;
    done[*mine]++;
    free(mine);
    return NULL;
}

static void *detached(void *argument)
{
    pthread_detach(pthread_self());
    sem_post(&ended);
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS], alone;
    long sum = 0;

    sem_init(&ended, 0, 0);
    for (int r = 0; r < ROUNDS; r++) {
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        pthread_create(&alone, NULL, detached, NULL);
        sem_wait(&ended);
    }
    for (int i = 0; i < THREADS; i++)
        sum += done[i];
    printf("%ld\n", sum);
    return 0;
}
