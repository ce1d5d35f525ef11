/* Ordered sections: only libgomp knows which thread is next. */
#include <stdio.h>

enum { N = 64 };

static int next, wrong, order[N];

int main(void)
{
#pragma omp parallel for ordered schedule(dynamic, 3)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        {
            wrong += next != i;
            order[next++] = i;
        }
    }
    printf("%d %d\n", next, wrong);
    return 0;
}
