/* Column sums of a table that is filled in parallel, each thread its columns. */
#include <pthread.h>
#include <stdio.h>

#define N_THREADS 8
#define YEARS 1000
#define STATIONS 16 /* two for each thread */

#ifdef FIXED
static float temperature[STATIONS][YEARS]; /* by station: a thread's are contiguous */
#define AT(year, station) temperature[station][year]
#else
static float temperature[YEARS][STATIONS]; /* mark: temperature */
#define AT(year, station) temperature[year][station]
#endif

static void *simulate(void *arg)
{
    int t = (int)(long)arg;
    for (int s = t * 2; s < t * 2 + 2; s++) {
        AT(0, s) = (float)s;
        for (int sweep = 0; sweep < 4; sweep++)
            for (int y = 1; y < YEARS; y++)
                AT(y, s) = 0.5f * AT(y, s) + 0.5f * AT(y - 1, s);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N_THREADS];
    double sum = 0;

    for (long t = 0; t < N_THREADS; t++)
        pthread_create(threads + t, NULL, simulate, (void *)t);
    for (int t = 0; t < N_THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int s = 0; s < STATIONS; s++)
        for (int y = 0; y < YEARS; y++)
            sum += AT(y, s);
    printf("%.3f\n", sum);
    return sum > 100.0 && sum < 2000.0 ? 0 : 1;
}
