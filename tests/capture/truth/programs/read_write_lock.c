// kind: locks and barriers
// expect: value written=800 read=3200
// compile: gcc clang; O0 O2
// with: -pthread
// why: one thread writes 8 bytes 100 times under the lock; three and main read them as often.
#include "truth.h"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
volatile long value;

static void *work(void *writes)
{
    long sum = 0;

    for (int i = 0; i < 100; i++) {
        if (writes) {
            pthread_rwlock_wrlock(&lock);
            value = i;
        } else {
            pthread_rwlock_rdlock(&lock);
            sum += value;
        }
        pthread_rwlock_unlock(&lock);
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, i ? NULL : &lock);
    work(NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
