/* Threads weigh samples with a small table; one of them also counts samples in a global. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 8
#define SAMPLES 4000

#define LINE __attribute__((aligned(64)))

struct weights {
    int w[12];
};

#ifdef FIXED
struct weights weights LINE = {{1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1}};
#else
struct weights weights = {{1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1}};
#endif
atomic_long samples_taken LINE = 0x10000; /* mark: samples_taken */
char version[64] LINE = "sampler 1.2";

static long weighed[THREADS];

static void *take(void *arg)
{
    int self = (int)(size_t)arg;
    long sum = 0;
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < 12; i++)
            sum += weights.w[i] * ((s >> i) & 1);
        if (self == 0)
            atomic_fetch_add_explicit(&samples_taken, THREADS, memory_order_relaxed);
    }
    weighed[self] = sum;
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    long taken;

    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, take, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 1; i < THREADS; i++)
        if (weighed[i] != weighed[0])
            return 1;
    taken = atomic_load(&samples_taken) - 0x10000;
    printf("%s: %ld samples, %ld\n", version, taken, weighed[0]);
    return taken != THREADS * SAMPLES;
}
