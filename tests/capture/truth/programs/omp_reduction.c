// kind: OpenMP
// expect: values written=0 read=8000
// expect: total written=40 read=72
// compile: gcc; O2
// with: -fopenmp
// why: each of 4 threads adds its part (a load and an exchange); main writes 8 and reads 8 bytes.
#include "truth.h"

double values[1000], total;

int main(void)
{
    *(volatile double *)&total = 0;
#pragma omp parallel for num_threads(4) reduction(+ : total)
    for (int i = 0; i < 1000; i++)
        total += values[i];
    return *(volatile double *)&total != 0;
}
