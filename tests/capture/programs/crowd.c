/* More threads than QEMU has room for at first, each made while those before it run. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 40, WORDS = 64, LEAST = 500 };

static long cells[THREADS][WORDS];
static atomic_int over;

static void *work(void *argument)
{
    volatile long *own = cells[(long)argument];

    for (long i = 0; i < LEAST || !atomic_load(&over); i++)
        own[i % WORDS]++;
    return NULL;
}

int main(void)
{
    pthread_t handles[THREADS];
    int busy = 0;

    for (long i = 0; i < THREADS; i++)
        pthread_create(&handles[i], NULL, work, (void *)i);
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(handles[i], NULL);
        busy += cells[i][WORDS - 1] >= LEAST / WORDS;
    }
    printf("%d\n", busy);
    return 0;
}
