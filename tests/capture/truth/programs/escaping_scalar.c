// kind: variables on the stack
// expect: count written=400 read=404
// compile: gcc clang; O0 O2
// with: -pthread
// why: the thread increments 4 bytes 100 times, and main reads them at the end.
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
    count_from_here();
    pthread_create(&thread, NULL, work, (void *)&count);
    pthread_join(thread, NULL);
    int wrong = count != 100;

    count_to_here();
    return wrong;
}
