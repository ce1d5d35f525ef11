// kind: OpenMP
// expect: factors written=1600 read=3200
// compile: gcc; O0 O2
// with: -fopenmp
// why: 100 products in each of 4 threads, on elements of their own: a load and one exchange each.
#include "truth.h"
#include <omp.h>

float factors[4];

int main(void)
{
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
        factors[omp_get_thread_num()] *= 0.5f;
    }
    return 0;
}
