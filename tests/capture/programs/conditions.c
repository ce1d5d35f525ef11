/* A bounded buffer with a lock and two conditions, and a token passed round by semaphores. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { PRODUCERS = 2, CONSUMERS = 2, RING = 3, ROOM = 4, EACH = 300, ROUNDS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[ROOM], used;
static long sum;
static sem_t turn[RING];
static int token;

static void *produce(void *nothing)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (used == ROOM)
            pthread_cond_wait(&not_full, &lock);
        buffer[used++] = i;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static void *consume(void *nothing)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (used == 0)
            pthread_cond_wait(&not_empty, &lock);
        sum += buffer[--used];
        pthread_cond_broadcast(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static void *pass(void *number)
{
    const long me = (long)number;

    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&turn[me]);
        token++;
        sem_post(&turn[(me + 1) % RING]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[PRODUCERS + CONSUMERS + RING];
    int count = 0;

    for (int i = 0; i < RING; i++)
        sem_init(&turn[i], 0, i == 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[count++], NULL, produce, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[count++], NULL, consume, NULL);
    for (long i = 0; i < RING; i++)
        pthread_create(&threads[count++], NULL, pass, (void *)i);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    printf("sum %ld token %d\n", sum, token);
    return 0;
}
