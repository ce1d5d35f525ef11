// kind: locks and barriers
// expect: lock written=2400 read=3600
// compile: gcc clang; O2
// with: -pthread
// why: glibc's lock reads 20 and writes 12 of the mutex's bytes, unlock 16 and 12; 100 rounds.
#include "truth.h"
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
