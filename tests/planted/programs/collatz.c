/* Longest Collatz sequences, each thread keeps its longest in an array on the heap. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NT 4
#define LIMIT 7000

#ifdef FIXED
#define STEP 16 /* a cache line of ints for each thread */
#else
#define STEP 1
#endif

static int *steps_up; /* steps upwards that each thread has made */

static void *search(void *arg)
{
    const int self = *(const int *)arg;
    int *ups = steps_up + self * STEP;

    for (int n = 1 + self; n <= LIMIT; n += NT) {
        long v = n;
        while (v != 1) {
            if (v % 2) {
                v = 3 * v + 1;
                ++*ups;
            } else {
                v /= 2;
            }
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NT];
    int id[NT], total = 0, check = 0;

    steps_up = calloc(NT * STEP + 16, sizeof *steps_up); /* mark: steps_up */
    if (steps_up == NULL)
        return 1;
    for (int i = 0; i < NT; i++) {
        id[i] = i;
        pthread_create(t + i, NULL, search, id + i);
    }
    for (int i = 0; i < NT; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NT; i++)
        total += steps_up[i * STEP];
    for (int n = 1; n <= LIMIT; n++)
        for (long v = n; v != 1; v = v % 2 ? 3 * v + 1 : v / 2)
            check += v % 2;
    printf("%d steps upwards for numbers up to %d\n", total, LIMIT);
    free(steps_up);
    return total != check;
}
