// kind: OpenMP
// expect: sums written=3200 read=6432
// compile: gcc; O0 O2
// with: -fopenmp
// why: 100 updates in each of 4 threads, on elements of their own: a load and one exchange each.
#include "truth.h"
#include <omp.h>

double sums[4];

int main(void)
{
    double total = 0;

#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
        sums[omp_get_thread_num()] += 0.5;
    }
    for (int t = 0; t < 4; t++)
        total += *(volatile double *)&sums[t];
    return total != 200;
}
