/* Relaxation over a grid, in rows of each thread, with barriers. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, SIZE = 66, ROUNDS = 6 };

static double grid[2][SIZE][SIZE];
static pthread_barrier_t barrier;

static void *relax(void *argument)
{
    long id = (long)argument;
    int rows = (SIZE - 2) / THREADS;

    for (int round = 0; round < ROUNDS; round++) {
        double (*from)[SIZE] = grid[round % 2], (*to)[SIZE] = grid[1 - round % 2];

        for (int i = 1 + (int)id * rows; i <= (int)(id + 1) * rows; i++)
            for (int j = 1; j < SIZE - 1; j++)
                to[i][j] = (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) / 4;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < SIZE; i++)
        grid[0][0][i] = grid[1][0][i] = 1000;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, relax, (void *)i);
    relax(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%.6f\n", grid[ROUNDS % 2][3][SIZE / 2]);
    return 0;
}
