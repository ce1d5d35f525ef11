// expect: lock written=2000 read=2400
// compile: gcc clang; O2
// with: -pthread
// why: glibc's write lock and unlock touch the bytes 0 to 15 and 24 to 27; 100 rounds.
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
