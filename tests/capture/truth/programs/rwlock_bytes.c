// kind: locks and barriers
// expect: lock written=2412 read=3608
// compile: gcc clang; O2
// with: -pthread
// why: glibc reads 36 bytes and writes 24 in each of 100 rounds, and 8 and 12 more in the first.
#include "truth.h"
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_rwlock_wrlock(&lock);
        pthread_rwlock_unlock(&lock);
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
