// kind: read, change, write
// expect: pair written=6400 read=6400
// compile: gcc clang; O0 O2
// with: -pthread
// why: two longs change places 100 times in each of 4 threads: both are read and written.
#include "truth.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long pair[2];

NOINLINE void swap(long *a, long *b)
{
    long first = *a;

    *a = *b;
    *b = first;
}

static void *work(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        swap(&pair[0], &pair[1]);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
