/* The norm of a vector with OpenMP: partial sums in an array on main's stack. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#define N 40000
#define TEAM 4

static float x[N];

int main(void)
{
#ifdef FIXED
    struct { _Alignas(64) double sum; int used; } partial[TEAM];
#else
    struct { double sum; int used; } partial[TEAM]; /* mark: partial */
#endif
    double norm = 0, expected = 0;
    int used = 0;

    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 10) - 4.5f;
        expected += (double)x[i] * x[i];
    }
    for (int t = 0; t < TEAM; t++) {
        partial[t].sum = 0;
        partial[t].used = 0;
    }
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            if (x[i] > 0.0f) {
                partial[me].sum += 2.0 * x[i] * x[i];
                partial[me].used++;
            }
    }
    for (int t = 0; t < TEAM; t++) {
        norm += partial[t].sum;
        used += partial[t].used;
    }
    printf("%d of %d, norm %.3f\n", used, N, sqrt(norm));
    return fabs(norm - expected) > 1e-6 * expected;
}
