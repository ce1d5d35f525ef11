/* Erosion of a landscape in bands; main reads the map, and so all its pages are near main. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define CELLS (THREADS * 4096) /* a thread's are eight pages of doubles */
#define STEPS 6

static double *height;

static void read_map(int from, int to)
{
    for (int i = from; i < to; i++)
        height[i] = 100.0 + i % 50;
}

static void *erode(void *arg)
{
    int me = (int)(long)arg, from = me * (CELLS / THREADS), to = from + CELLS / THREADS;
#ifdef FIXED
    read_map(from, to);
#endif
    for (int s = 0; s < STEPS; s++)
        for (int i = from; i < to; i++)
            if (height[i] > 10.0)
                height[i] -= 0.01 * height[i];
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    double sum = 0, expected = 0;

    height = aligned_alloc(4096, CELLS * sizeof *height); /* mark: height */
    if (!height)
        return 1;
#ifndef FIXED
    read_map(0, CELLS);
#endif
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, erode, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < CELLS; i += 64) {
        sum += height[i];
        expected += (100.0 + i % 50) * pow(0.99, STEPS);
    }
    printf("%.3f\n", sum);
    free(height);
    return fabs(sum - expected) > 1e-6 * expected;
}
