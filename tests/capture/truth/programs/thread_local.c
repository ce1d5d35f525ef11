// kind: read, change, write
// expect: own written=800 read=800
// compile: gcc clang; O0 O2
// with: -pthread
// why: the second thread counts its own copy up a hundred times.
#include "truth.h"
#include <pthread.h>

static __thread volatile long own;

static void *work(void *unused)
{
    announce("own", &own, sizeof own);
    count_from_here();
    for (int i = 0; i < 100; i++)
        own++;
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    count_to_here();
    return 0;
}
