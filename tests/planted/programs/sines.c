/* A table of sines that main makes and all threads read, in an order without locality. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define NODES 2 /* thread number i of the process runs on node i mod 2 */
#define ENTRIES 4096
#define LOOKUPS 24000

static float *table[NODES];
static pthread_barrier_t ready;
static double total[THREADS];

static void *wave(void *arg)
{
    unsigned number = (unsigned)(size_t)arg, node = number % NODES, phase = number * 77u;
    double sum = 0;

#ifdef FIXED
    if (number == 1) { /* a copy for the other node, made where it is used */
        float *copy = aligned_alloc(4096, ENTRIES * sizeof *copy);
        if (copy == NULL)
            abort();
        memcpy(copy, table[0], ENTRIES * sizeof *copy);
        table[1] = copy;
    }
#endif
    pthread_barrier_wait(&ready);
    const float *mine = table[node];
    for (int i = 0; i < LOOKUPS; i++) {
        phase = phase * 1664525u + 1013904223u;
        sum += mine[(phase >> 12) % ENTRIES];
    }
    total[number - 1] = sum;
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    double sum = 0;

    table[0] = aligned_alloc(4096, ENTRIES * sizeof(float)); /* mark: table */
    if (table[0] == NULL)
        return 1;
    for (int i = 0; i < ENTRIES; i++)
        table[0][i] = sinf(6.2831853f * (float)i / ENTRIES);
    table[1] = table[0];
    pthread_barrier_init(&ready, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, wave, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        sum += total[i];
    }
    printf("%.3f\n", sum);
    return fabs(sum) > 0.01 * THREADS * LOOKUPS;
}
