/* A dispatcher reads jobs and puts each into the list of the next worker. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 4
#define JOBS 512 /* of each worker */
#define ROUNDS 24

struct job {
    struct job *next;
    unsigned left;
    unsigned value;
};

static struct job *queue[WORKERS];

static void dispatch(int worker, int number)
{
#ifdef FIXED
    static struct job *arena[WORKERS]; /* each worker's jobs lie in a stretch of their own */
    if (arena[worker] == NULL)
        arena[worker] = aligned_alloc(64, JOBS * sizeof **arena);
    struct job *j = arena[worker] == NULL ? NULL : arena[worker] + number;
#else
    struct job *j = malloc(sizeof *j); /* mark: queue */
#endif
    if (j == NULL)
        abort();
    j->left = 5 + (unsigned)number % 20;
    j->value = (unsigned)(number * WORKERS + worker);
    j->next = queue[worker];
    queue[worker] = j;
}

static void *work(void *arg)
{
    struct job *mine = *(struct job **)arg;
    for (int round = 0; round < ROUNDS; round++) {
        for (struct job *j = mine; j; j = j->next) {
            if (j->left == 0)
                continue;
            j->left--;
            j->value = j->value * 69069u + 1u;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS];
    unsigned digest = 0, left = 0;

    for (int n = 0; n < JOBS; n++)
        for (int w = 0; w < WORKERS; w++)
            dispatch(w, n);
    for (int w = 0; w < WORKERS; w++)
        pthread_create(&t[w], NULL, work, &queue[w]);
    for (int w = 0; w < WORKERS; w++)
        pthread_join(t[w], NULL);
    for (int w = 0; w < WORKERS; w++) {
        for (struct job *j = queue[w], *next; j; j = next) {
            next = j->next;
            digest = digest + j->value;
            left += j->left;
#ifndef FIXED
            free(j);
#endif
        }
    }
    printf("digest %08x, %u left\n", digest, left);
    return left != 0;
}
