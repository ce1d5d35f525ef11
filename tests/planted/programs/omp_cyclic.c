/* A triangular solver's rows are dealt out one by one to balance the load. */
#include <stdio.h>

#define N 1024
#define SWEEPS 40
#define TEAM 8

#ifdef FIXED
#define SCHEDULE schedule(static, N / TEAM)
#else
#define SCHEDULE schedule(static, 1)
#endif

static float level[N] __attribute__((aligned(64))); /* mark: level */
static float inflow[64] __attribute__((aligned(64)));

int main(void)
{
    double sum = 0;

    for (int i = 0; i < 64; i++)
        inflow[i] = (float)(i % 7);
#pragma omp parallel num_threads(TEAM)
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
#pragma omp for SCHEDULE nowait
        for (int i = 0; i < N; i++) {
            level[i] += 0.25f * (inflow[i % 64] - level[i]);
            if (level[i] > 5.0f)
                level[i] = 5.0f;
        }
    }
    for (int i = 0; i < N; i++)
        sum += level[i];
    printf("mean level %.4f\n", sum / N);
    return !(sum / N > 2.5 && sum / N < 3.0);
}
