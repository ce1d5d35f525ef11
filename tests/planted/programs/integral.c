/* Numerical integration; each thread writes its part of the result once, beside the others'. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 8
#define POINTS 12000

static double part[THREADS];
static double node[64], weight[64];

static void *integrate(void *arg)
{
    long me = (long)arg;
    double sum = 0;
    for (long i = me * POINTS / THREADS; i < (me + 1) * POINTS / THREADS; i++)
        for (int k = 0; k < 8; k++) {
            double x = ((double)i + node[(i + k) % 64]) / POINTS;
            sum += weight[(i + k) % 64] * x * x;
        }
    part[me] = sum;
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    double sum = 0;
    for (int k = 0; k < 64; k++) {
        node[k] = 0.5;
        weight[k] = 1.0 / 8;
    }
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, integrate, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        sum += part[i];
    }
    sum /= POINTS;
    printf("%.6f\n", sum);
    return fabs(sum - 1.0 / 3) > 1e-6;
}
