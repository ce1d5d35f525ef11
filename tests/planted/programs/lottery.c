/* Random walks: each thread has a seed for rand_r in an array. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, WALKS = 200, STEPS = 40 };

#ifdef FIXED
static struct {
    _Alignas(64) unsigned seed;
} seeds[THREADS];
#define SEED(thread) seeds[thread].seed
#else
static unsigned seeds[THREADS]; /* mark: seeds */
#define SEED(thread) seeds[thread]
#endif

static double ends[THREADS * 16];

static void *work(void *number)
{
    const size_t thread = (size_t)number;
    double total = 0;

    for (int i = 0; i < WALKS; i++) {
        double at = 100.0;
        for (int step = 0; step < STEPS; step++)
            at *= rand_r(&SEED(thread)) & 1 ? 1.01 : 0.991;
        total += at;
    }
    ends[thread * 16] = total / WALKS;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    double sum = 0;

    for (int i = 0; i < THREADS; i++)
        SEED(i) = 12345 + (unsigned)i;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        sum += ends[i * 16];
    printf("%.3f\n", sum / THREADS);
    return 0;
}
