// kind: OpenMP
// expect: to written=4000 read=0
// expect: from written=0 read=4000
// compile: gcc; O0 O2 O3-v3
// with: -fopenmp
// why: a thousand ints are read and a thousand written, a quarter in each thread.
#include "truth.h"

int to[1000], from[1000];

int main(void)
{
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 1000; i++)
        to[i] = from[i] + 1;
    return 0;
}
