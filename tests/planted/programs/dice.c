/* Throws pairs of dice and counts how often each thread sees a seven. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { NTHREADS = 4, THROWS = 60000 };

typedef struct {
    unsigned sevens;
    unsigned mixed;
#ifdef FIXED
    char unused[64 - 2 * sizeof(unsigned)];
#endif
} Score;

#ifdef FIXED
_Alignas(64)
#endif
static Score score[NTHREADS]; /* mark: score */

static unsigned step(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 16) % 6 + 1;
}

static void *player(void *p)
{
    Score *mine = p;
    uint32_t state = 17u;
    for (int i = 0; i < THROWS; i++) {
        unsigned a = step(&state), b = step(&state);
        if (a != b)
            mine->mixed++;
        if (a + b == 7)
            mine->sevens++;
    }
    return 0;
}

int main(void)
{
    pthread_t thread[NTHREADS];
    unsigned sevens = 0, mixed = 0;

    for (int i = 0; i < NTHREADS; i++) {
        score[i].sevens = 0;
        score[i].mixed = 0;
    }
    for (int i = 0; i < NTHREADS; i++)
        if (pthread_create(&thread[i], 0, player, &score[i]))
            return 2;
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(thread[i], 0);
        sevens += score[i].sevens;
        mixed += score[i].mixed;
    }
    printf("%u throws were sevens, %u no doubles\n", sevens, mixed);
    return !(mixed > NTHREADS * THROWS / 5 * 4 && sevens > mixed / 8 && sevens < mixed / 4);
}
