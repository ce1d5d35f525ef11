/* Each worker stores its progress after every row; a worker that is done reads the others'. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define N_WORKERS 8
#define ROWS 2400
#define COLUMNS 8

#ifdef FIXED
#define APART _Alignas(64)
#else
#define APART
#endif

static struct worker_state {
    APART atomic_int row; /* rows finished */
} state[N_WORKERS]; /* mark: state */

static int grid[N_WORKERS][ROWS][COLUMNS];

static void *sweep(void *p)
{
    const size_t w = (size_t)p;
    for (int r = 0; r < ROWS; r++) {
        int last = 0;
        for (int c = 0; c < COLUMNS; c++)
            last = grid[w][r][c] = last + (int)w + c;
        atomic_store_explicit(&state[w].row, r + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t pool[N_WORKERS];
    long sum = 0;
    for (size_t w = 0; w < N_WORKERS; w++)
        if (pthread_create(&pool[w], NULL, sweep, (void *)w) != 0)
            abort();
    for (int w = 0; w < N_WORKERS; w++)
        pthread_join(pool[w], NULL);
    for (int w = 0; w < N_WORKERS; w++) {
        if (atomic_load(&state[w].row) != ROWS)
            return 1;
        sum += grid[w][ROWS - 1][COLUMNS - 1];
    }
    printf("%ld\n", sum);
    return sum == 28 * COLUMNS + N_WORKERS * (COLUMNS * (COLUMNS - 1) / 2) ? 0 : 1;
}
