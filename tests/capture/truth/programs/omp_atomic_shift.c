// kind: OpenMP
// expect: highest written=1600 read=3200
// compile: gcc; O0 O2
// with: -fopenmp
// why: a shift is a load and an exchange of 4 bytes; the threads have elements of their own.
#include "truth.h"
#include <omp.h>

int highest[4];

int main(void)
{
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; i++) {
        int *mine = &highest[omp_get_thread_num()];

#pragma omp atomic
        *mine = *mine << 1;
    }
    return 0;
}
