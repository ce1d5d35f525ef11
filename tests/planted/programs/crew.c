/* A pool of threads: a header, then a record for each worker, in one block of memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 6, TASKS = 30, STARTS = 80 };

struct crew;

struct worker {
    pthread_t thread;
    struct crew *crew;
    int id, busy;
    unsigned long tasks, steps;
}
#ifdef FIXED
__attribute__((aligned(64)))
#endif
;

struct crew {
    pthread_mutex_t lock;
    int next, tasks, size;
    struct worker workers[];
};

static void run(struct worker *worker, int start)
{
    volatile unsigned long *steps = &worker->steps;

    worker->busy = 1;
    for (unsigned n = 27 + start; n != 1; n = n & 1 ? 3 * n + 1 : n / 2)
        ++*steps;
    worker->tasks++;
    worker->busy = 0;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;

    for (;;) {
        pthread_mutex_lock(&crew->lock);
        int task = crew->next < crew->tasks ? crew->next++ : -1;
        pthread_mutex_unlock(&crew->lock);
        if (task < 0)
            return NULL;
        for (int i = 0; i < STARTS; i++)
            run(worker, task * STARTS + i);
    }
}

int main(void)
{
    size_t size = sizeof(struct crew) + WORKERS * sizeof(struct worker);
    struct crew *crew;
    unsigned long steps = 0, tasks = 0;

#ifdef FIXED
    crew = aligned_alloc(64, (size + 63) / 64 * 64);
    memset(crew, 0, size);
#else
    crew = calloc(1, size); /* mark: crew */
#endif
    pthread_mutex_init(&crew->lock, NULL);
    crew->tasks = TASKS;
    crew->size = WORKERS;
    for (int i = 0; i < WORKERS; i++) {
        crew->workers[i].id = i;
        crew->workers[i].crew = crew;
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&crew->workers[i].thread, NULL, work, &crew->workers[i]);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(crew->workers[i].thread, NULL);
        steps += crew->workers[i].steps;
        tasks += crew->workers[i].tasks;
    }
    printf("%lu %lu\n", tasks, steps);
    free(crew);
    return 0;
}
