/* Darts on a board of cells. Generators of all threads are kept in one table. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define NPROC 8
#define DARTS 6000
#define CELLS 16

#ifdef FIXED
typedef struct { uint64_t s __attribute__((aligned(64))); } rng_t;
#else
typedef struct { uint64_t s; } rng_t;
#endif

static rng_t generator[NPROC]; /* mark: generator */
static uint64_t cell[NPROC][CELLS * CELLS];

__attribute__((noinline)) static double uniform(rng_t *g)
{
    g->s ^= g->s << 13;
    g->s ^= g->s >> 7;
    g->s ^= g->s << 17;
    return (double)(g->s >> 11) / 9007199254740992.0;
}

static void *throw_darts(void *which)
{
    size_t k = (size_t)which;
    for (int d = 0; d < DARTS; d++) {
        double x = uniform(&generator[k]);
        double y = uniform(&generator[k]);
        cell[k][(int)(x * CELLS) * CELLS + (int)(y * CELLS)]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t thr[NPROC];
    uint64_t sum = 0, least = DARTS, most = 0;
    for (size_t k = 0; k < NPROC; k++)
        generator[k].s = 88172645463325252u + 7919 * k;
    for (size_t k = 0; k < NPROC; k++)
        pthread_create(&thr[k], NULL, throw_darts, (void *)k);
    for (size_t k = 0; k < NPROC; k++) {
        pthread_join(thr[k], NULL);
        for (int c = 0; c < CELLS * CELLS; c++) {
            sum += cell[k][c];
            least = cell[k][c] < least ? cell[k][c] : least;
            most = cell[k][c] > most ? cell[k][c] : most;
        }
    }
    printf("%lu darts, %lu to %lu in a cell\n", (unsigned long)sum, (unsigned long)least,
           (unsigned long)most);
    return sum == NPROC * DARTS && most < 100 ? 0 : 1;
}
