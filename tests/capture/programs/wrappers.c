/* Heap objects of C: wrappers of malloc, and the fields of structures. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 4, ROUNDS = 200 };

struct point {
    double x, y;
};

struct cell {
    struct point position;
    long count;
    struct {
        int first;
        int second;
    } pair[2];
    union {
        int whole;
        float part;
    };
};

struct counters {
    long hits;
    long misses;
};

static struct counters counters[THREADS];
static struct cell *cells;
static long *sums;
static char *label;
static void *raw;
static long *mapped;

static void *checked_alloc(size_t size)
{
    void *block = malloc(size);

    if (block == NULL)
        abort();
    return block;
}

static void *xcalloc(size_t count, size_t size)
{
    void *block = checked_alloc(count * size);

    return memset(block, 0, count * size);
}

static void *worker(void *argument)
{
    const long me = (long)argument;
    volatile struct cell *own = malloc(sizeof *own); /* line: own */

    own->count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        counters[me].hits++;
        cells[me].pair[1].second++;
        cells[me].position.y += 1;
        sums[me]++;
        own->count++;
    }
    label[me]++;
    mapped[me]++;
    ((char *)raw)[me]++;
    free((void *)own);
    return NULL;
}

int main(void)
{
    const int access = PROT_READ | PROT_WRITE, how = MAP_PRIVATE | MAP_ANONYMOUS;
    pthread_t threads[THREADS];

    cells = xcalloc(THREADS, sizeof *cells); /* line: cells */
    sums = xcalloc(THREADS, sizeof(long));   /* line: sums */
    label = strdup("counted");               /* line: label */
    raw = checked_alloc(100);                /* line: raw */
    mapped = mmap(NULL, 4096, access, how, -1, 0); /* line: mapped */
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, worker, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    printf("%ld %s\n", sums[1], label);
    return 0;
}
