// kind: OpenMP
// expect: values written=0 read=4000
// compile: gcc; O0 O2
// with: -fopenmp
// why: a reduction of two variables reads every value once, whatever happens to the sums.
#include "truth.h"

int values[1000];

int main(void)
{
    int low = 0, high = 0;

#pragma omp parallel for num_threads(4) reduction(+ : low) reduction(max : high)
    for (int i = 0; i < 1000; i++) {
        int value = *(volatile int *)&values[i];

        low += value;
        high = value > high ? value : high;
    }
    return low + high;
}
