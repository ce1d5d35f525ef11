/* Four pairs of threads, each with a ring buffer for one producer and one consumer. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PAIRS 4
#define SLOTS 256u
#define MESSAGES 8000u

#ifdef FIXED
#define OWN_LINE _Alignas(64)
#else
#define OWN_LINE
#endif

struct ring {
    OWN_LINE atomic_uint head; /* next to write */
    unsigned tail_seen;        /* by the producer, so that it rarely looks at the tail */
    OWN_LINE atomic_uint tail; /* next to read */
    unsigned head_seen;
    _Alignas(64) unsigned slot[SLOTS];
};

static struct ring *rings[PAIRS];
static unsigned long received[PAIRS];

static void put(struct ring *r, unsigned message)
{
    unsigned h = atomic_load_explicit(&r->head, memory_order_relaxed);
    while (h - r->tail_seen == SLOTS) {
        r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (h - r->tail_seen == SLOTS)
            sched_yield();
    }
    r->slot[h % SLOTS] = message;
    atomic_store_explicit(&r->head, h + 1, memory_order_release);
}

static unsigned get(struct ring *r)
{
    unsigned t = atomic_load_explicit(&r->tail, memory_order_relaxed);
    while (t == r->head_seen) {
        r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
        if (t == r->head_seen)
            sched_yield();
    }
    unsigned message = r->slot[t % SLOTS];
    atomic_store_explicit(&r->tail, t + 1, memory_order_release);
    return message;
}

static void *producer(void *arg)
{
    for (unsigned i = 1; i <= MESSAGES; i++)
        put(arg, i);
    return NULL;
}

static void *consumer(void *arg)
{
    size_t pair = (size_t)arg;
    unsigned long sum = 0;
    for (unsigned i = 0; i < MESSAGES; i++)
        sum += get(rings[pair]);
    received[pair] = sum;
    return NULL;
}

int main(void)
{
    pthread_t from[PAIRS], to[PAIRS];
    int wrong = 0;

    for (size_t p = 0; p < PAIRS; p++) {
        rings[p] = aligned_alloc(64, sizeof(struct ring)); /* mark: rings */
        if (rings[p] == NULL)
            return 2;
        atomic_init(&rings[p]->head, 0);
        atomic_init(&rings[p]->tail, 0);
        rings[p]->tail_seen = rings[p]->head_seen = 0;
        pthread_create(&from[p], NULL, producer, rings[p]);
        pthread_create(&to[p], NULL, consumer, (void *)p);
    }
    for (int p = 0; p < PAIRS; p++) {
        pthread_join(from[p], NULL);
        pthread_join(to[p], NULL);
        wrong += received[p] != (unsigned long)MESSAGES * (MESSAGES + 1) / 2;
        free(rings[p]);
    }
    printf("%u messages in each of %d rings, %d wrong\n", MESSAGES, PAIRS, wrong);
    return wrong;
}
