/* A central queue of work: who is ready first takes the next item, which a slower machine gives to
 * others than a faster one does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ITEMS = 200, WORDS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_item, taken[THREADS];
static long results[ITEMS][WORDS];

static void *work(void *argument)
{
    long id = (long)argument;

    for (;;) {
        int item;

        pthread_mutex_lock(&lock);
        item = next_item++;
        pthread_mutex_unlock(&lock);
        if (item >= ITEMS)
            return NULL;
        taken[id]++;
        for (int i = 0; i < WORDS * (1 + item % 5); i++)
            results[item][i % WORDS] += item + i;
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    int all = 0;
    long sum = 0;

    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        all += taken[i];
    for (int i = 0; i < ITEMS * WORDS; i++)
        sum += results[i / WORDS][i % WORDS];
    printf("items %d sum %ld\n", all, sum);
    return 0;
}
