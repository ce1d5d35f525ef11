/* Runs as many threads at once as the first argument says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 256 };

static long sums[MOST][8];
static pthread_barrier_t barrier;

static void *work(void *argument)
{
    const long me = (long)argument;

    for (int i = 0; i < 200; i++)
        sums[me][i % 8] += i;
    pthread_barrier_wait(&barrier);
    sums[me][0] += sums[(me + 1) % MOST][1] > 0;
    return NULL;
}

int main(int count, char **words)
{
    const int threads = count > 1 ? atoi(words[1]) : 64;
    pthread_t handles[MOST];

    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        pthread_create(&handles[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    printf("%ld\n", sums[threads - 1][7]);
    return 0;
}
