/* A lock of the program's own, taken by testing and setting a flag until it was free. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, TIMES = 100 };

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int counter;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
            ;
        counter++;
        atomic_flag_clear_explicit(&lock, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", counter);
    return counter == THREADS * TIMES ? 0 : 1;
}
