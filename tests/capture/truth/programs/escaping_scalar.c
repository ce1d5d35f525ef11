// expect: count written=404 read=404
// compile: gcc clang; O0 O2
// with: -pthread
// why: main writes 4 bytes and reads them at the end; the thread increments them 100 times.
#include "truth.h"
#include <pthread.h>

static void *work(void *given)
{
    volatile int *count = given;

    for (int i = 0; i < 100; i++)
        ++*count;
    return NULL;
}

int main(void)
{
    volatile int count = 0;
    pthread_t thread;

    announce("count", &count, sizeof count);
    pthread_create(&thread, NULL, work, (void *)&count);
    pthread_join(thread, NULL);
    return count != 100;
}
