/* Stages that hand items on, with conditions between some and semaphores between others. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { ITEMS = 60, ROOM = 4, WORDS = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int queue[ROOM], count, first;
static sem_t items, places;
static int ring[ROOM];
static long work[3][WORDS];

static int churn(int stage, int item)
{
    for (int i = 0; i < WORDS * (1 + (item + stage) % 3); i++)
        work[stage][i % WORDS] += item;
    return item + 1;
}

static void *produce(void *unused)
{
    for (int i = 0; i < ITEMS; i++) {
        int item = churn(0, i);

        pthread_mutex_lock(&lock);
        while (count == ROOM)
            pthread_cond_wait(&emptied, &lock);
        queue[(first + count++) % ROOM] = item;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *pass_on(void *unused)
{
    for (int i = 0; i < ITEMS; i++) {
        int item;

        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&filled, &lock);
        item = queue[first];
        first = (first + 1) % ROOM;
        count--;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        item = churn(1, item);
        sem_wait(&places);
        ring[i % ROOM] = item;
        sem_post(&items);
    }
    return unused;
}

int main(void)
{
    pthread_t one, two;
    long sum = 0;

    sem_init(&items, 0, 0);
    sem_init(&places, 0, ROOM);
    pthread_create(&one, NULL, produce, NULL);
    pthread_create(&two, NULL, pass_on, NULL);
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&items);
        sum += churn(2, ring[i % ROOM]);
        sem_post(&places);
    }
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%ld\n", sum);
    return 0;
}
