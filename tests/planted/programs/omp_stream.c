/* A triad over arrays that the initial thread fills, or that the team fills as it uses them. */
#include <stdio.h>

#define N (8 * 1024)
#define TEAM 8
#define ROUNDS 8

static _Alignas(4096) double a[N], b[N], c[N]; /* mark: arrays */

int main(void)
{
    double sum = 0;
#ifdef FIXED
#pragma omp parallel for schedule(static) num_threads(TEAM)
#endif
    for (int i = 0; i < N; i++) {
        a[i] = 0;
        b[i] = i % 10;
        c[i] = 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(static) num_threads(TEAM)
        for (int i = 0; i < N; i++)
            a[i] += b[i] + 0.5 * c[i];
    }
    for (int i = 0; i < N; i += 32)
        sum += a[i];
    printf("%.1f\n", sum);
    return sum < 1.0;
}
