/* References that can be counted: every variable is touched a known number of times by each of two
 * threads, one after the other. With an argument, it makes no threads and counts nothing. */
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 1000 };

volatile long written[2 * TIMES];
volatile long looked_at = 3;
long counted;
volatile int swapped;
static __thread volatile long own;

static void *work(void *unused)
{
    long sum = 0;

    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        written[i] = i;
        sum += looked_at;
        __atomic_fetch_add(&counted, 1, __ATOMIC_SEQ_CST);
        __atomic_exchange_n(&swapped, i, __ATOMIC_SEQ_CST);
        own = i;
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t thread;
    void *sum;

    work(NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, &sum);
    printf("%ld %ld\n", counted, (long)sum);
    return 7;
}
