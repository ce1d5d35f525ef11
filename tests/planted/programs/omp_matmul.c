/* Product of two matrices with OpenMP, each thread a band of rows. */
#include <stdio.h>
#include <stdlib.h>

#define N 48

typedef double matrix[N][N];

static _Alignas(64) matrix a, b, c;

int main(void)
{
    double trace = 0, expected = 0;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + 1;
            b[i][j] = j % 3 - 1;
        }
#pragma omp parallel for schedule(static) num_threads(8)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    for (int i = 0; i < N; i++) {
        trace += c[i][i];
        expected += (double)N * (i + 1) * (i % 3 - 1);
    }
    printf("trace %.1f\n", trace);
    return trace == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
