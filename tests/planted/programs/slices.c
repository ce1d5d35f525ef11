/* Slices of a table, of different sizes, each with a count of its users before the slots. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define SLICES 4
#define LOOKUPS 4000

#ifdef FIXED
#define LINE _Alignas(64)
#else
#define LINE
#endif

struct slice {
    long mask;
    long seed;
    LINE atomic_long lookups;
    LINE long slot[];
};

static struct slice *slices[SLICES];

static struct slice *make(long slots)
{
    size_t size = sizeof(struct slice) + slots * sizeof(long);
    struct slice *slice = aligned_alloc(64, (size + 63) / 64 * 64); /* mark: slices */

    slice->mask = slots - 1;
    slice->seed = 5;
    atomic_init(&slice->lookups, 0);
    for (int i = 0; i < slots; i++)
        slice->slot[i] = i;
    return slice;
}

static void *look(void *arg)
{
    size_t self = (size_t)arg;
    long sum = 0;
    for (size_t i = 0; i < LOOKUPS; i++) {
        struct slice *slice = slices[(self + i) % SLICES];
        for (size_t k = 0; k < 2; k++)
            sum += slice->slot[(i / 4 * slice->seed + k) & slice->mask];
        atomic_fetch_add_explicit(&slice->lookups, 1, memory_order_relaxed);
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t t[THREADS];
    long lookups = 0;

    for (int i = 0; i < SLICES; i++)
        slices[i] = make(8 << i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, look, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < SLICES; i++)
        lookups += slices[i]->lookups;
    printf("%ld lookups\n", lookups);
    return lookups != THREADS * LOOKUPS;
}
