// kind: OpenMP
// expect: counts written=1600 read=1600
// compile: gcc; O0 O2
// with: -fopenmp
// why: 100 increments in each of 4 threads, each one locked instruction.
#include "truth.h"

int counts[16];

int main(void)
{
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
        counts[i & 15]++;
    }
    return 0;
}
