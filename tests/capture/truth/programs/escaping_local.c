// kind: variables on the stack
// expect: slots written=800 read=800
// compile: gcc clang; O0 O2
// with: -pthread
// why: main writes and reads 100 ints at an index that varies, the thread does the same.
#include "truth.h"
#include <pthread.h>

NOINLINE int use(int *at, int i)
{
    at[i & 3] = i;
    barrier();
    return at[i & 3];
}

static void *work(void *slots)
{
    for (int i = 0; i < 100; i++)
        use(slots, i);
    return NULL;
}

int main(void)
{
    int slots[4];
    pthread_t thread;
    int sum = 0;

    announce("slots", slots, sizeof slots);
    count_from_here();
    pthread_create(&thread, NULL, work, slots);
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++) {
        slots[i & 3] = i;
        barrier();
        sum += slots[i & 3];
    }
    int wrong = sum != 4950;

    count_to_here();
    return wrong;
}
