/* Bodies in a field of force; thread t moves bodies t, t + THREADS, ... */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 8
#define BODIES 800
#define STEPS 100

struct body {
    double x, v;
};

static struct body bodies[BODIES] __attribute__((aligned(64))); /* mark: bodies */

static void *move_bodies(void *arg)
{
    int me = (int)(long)arg;
    for (int s = 0; s < STEPS; s++) {
#ifdef FIXED
        for (int i = me * (BODIES / THREADS); i < (me + 1) * (BODIES / THREADS); i++) {
#else
        for (int i = me; i < BODIES; i += THREADS) {
#endif
            bodies[i].v -= 0.01 * bodies[i].x;
            bodies[i].x += 0.01 * bodies[i].v;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t th[THREADS];
    double energy = 0, expected = 0;

    for (int i = 0; i < BODIES; i++) {
        bodies[i].x = 1.0;
        bodies[i].v = 0.0;
    }
    for (long t = 0; t < THREADS; t++)
        pthread_create(&th[t], NULL, move_bodies, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(th[t], NULL);
    for (int i = 0; i < BODIES; i++)
        energy += 0.5 * bodies[i].v * bodies[i].v + 0.005 * bodies[i].x * bodies[i].x;
    for (double x = 1, v = 0, s = 0; s < STEPS; s++) {
        v -= 0.01 * x;
        x += 0.01 * v;
        expected = BODIES * (0.5 * v * v + 0.005 * x * x);
    }
    printf("energy %.6f\n", energy);
    return fabs(energy - expected) < 1e-6 * expected ? 0 : 1;
}
