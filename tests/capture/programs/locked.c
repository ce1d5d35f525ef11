/* Four threads add to one counter under a mutex and note the order, which even a free
 * recording must get right, because the program has no race. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 2000 };

long counter;
static int order[THREADS * ROUNDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        order[counter] = (int)(long)argument;
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS * ROUNDS; i++)
        printf("%d", order[i]);
    printf("\n");
    return 0;
}
