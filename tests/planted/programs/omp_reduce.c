/* Mean and variance with a reduction: each thread adds up in variables of its own. */
#include <math.h>
#include <stdio.h>

#define N 65536

/* From the beginning of a page to the end of one: no threads share one, wherever it lies. */
static _Alignas(4096) double sample[N];

int main(void)
{
    double sum = 0, squares = 0;

#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            sample[i] = (i * 37 % 101) / 101.0;
#pragma omp for schedule(static) reduction(+ : sum, squares)
        for (int i = 0; i < N; i++) {
            sum += sample[i];
            squares += sample[i] * sample[i];
        }
    }
    double mean = sum / N, variance = squares / N - mean * mean;
    printf("mean %.3f, variance %.3f\n", mean, variance);
    return fabs(mean - 0.495) > 0.01 || fabs(variance - 1.0 / 12) > 0.01;
}
