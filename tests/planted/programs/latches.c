/* Bins of a histogram, each with a spin lock of one byte; a thread fills eight of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 6
#define BINS 48
#define SAMPLES 4000

#ifdef FIXED
#define SPACING 64
#else
#define SPACING 1
#endif

static _Alignas(64) _Atomic unsigned char latch[BINS * SPACING]; /* mark: latch */
static struct { _Alignas(64) long count, sum; } bin[BINS];

static void *fill(void *arg)
{
    size_t me = (size_t)arg;
    for (size_t n = 0; n < SAMPLES; n++) {
        size_t at = me * (BINS / THREADS) + n * 7 % (BINS / THREADS);
        while (atomic_exchange_explicit(&latch[at * SPACING], 1, memory_order_acquire)) {
        }
        bin[at].count++;
        bin[at].sum += (long)n;
        atomic_store_explicit(&latch[at * SPACING], 0, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    long count = 0, sum = 0;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, fill, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < BINS; i++) {
        count += bin[i].count;
        sum += bin[i].sum;
    }
    printf("%ld samples, sum %ld\n", count, sum);
    return count != THREADS * SAMPLES || sum != THREADS * (SAMPLES * (SAMPLES - 1L) / 2);
}
