// kind: read, change, write
// expect: ready written=4 read=1604
// expect: settings written=32 read=3200
// compile: gcc clang; O0 O2
// why: 400 looks at the flag and one more under the lock; each also reads one of four longs.
// with: -pthread
#include "truth.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int ready;
long settings[4];

NOINLINE long look(volatile long *of, int i)
{
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        if (!__atomic_load_n(&ready, __ATOMIC_RELAXED)) {
            for (int k = 0; k < 4; k++)
                of[k] = k;
            __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&lock);
    }
    return of[i & 3];
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 400; i++)
        sum += look(settings, i);
    return sum != 600;
}
