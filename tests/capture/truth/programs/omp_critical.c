// kind: OpenMP
// expect: count written=1600 read=1600
// compile: gcc; O0 O2
// with: -fopenmp
// why: 100 increments in each of 4 threads, in a critical section.
#include "truth.h"

volatile int count;

int main(void)
{
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; i++) {
#pragma omp critical
        count++;
    }
    return 0;
}
