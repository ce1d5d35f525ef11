// kind: OpenMP
// expect: level written=3200 read=6400
// compile: gcc; O0 O2
// with: -fopenmp
// why: a captured sum of doubles is a load and an exchange; the threads have their own elements.
#include "truth.h"
#include <omp.h>

double level[4];

int main(void)
{
    int wrong = 0;

#pragma omp parallel num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < 100; i++) {
        double before;

#pragma omp atomic capture seq_cst
        {
            before = level[omp_get_thread_num()];
            level[omp_get_thread_num()] += 1;
        }
        wrong += before != i;
    }
    return wrong;
}
