/* Bits of one word say which threads are at work. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 8
#define SHIFTS 2500

#ifdef FIXED
static struct { _Alignas(64) atomic_uint bits; } at_work[THREADS];
#define WORD(t) at_work[t].bits
#else
static _Alignas(64) atomic_uint at_work; /* mark: at_work */
static char line_end[60] __attribute__((unused));
#define WORD(t) at_work
#endif
static _Alignas(64) unsigned result[THREADS][16];

static void *worker(void *arg)
{
    size_t t = (size_t)arg;
    unsigned bit = 1u << t;
    for (unsigned shift = 0; shift < SHIFTS; shift++) {
        atomic_fetch_or(&WORD(t), bit);
        for (unsigned i = 0; i < 4; i++)
            result[t][(shift + i) % 16] += shift ^ i;
        atomic_fetch_and(&WORD(t), ~bit);
    }
    return NULL;
}

int main(void)
{
    pthread_t id[THREADS];
    unsigned still = 0, sum = 0;

    for (size_t t = 0; t < THREADS; t++)
        pthread_create(&id[t], NULL, worker, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(id[t], NULL);
    for (int t = 0; t < THREADS; t++)
        still |= atomic_load(&WORD(t));
    for (int t = 1; t < THREADS; t++)
        for (int i = 0; i < 16; i++)
            sum += result[t][i] != result[0][i];
    printf("%u at work, %u differ\n", still, sum);
    return still != 0 || sum != 0;
}
