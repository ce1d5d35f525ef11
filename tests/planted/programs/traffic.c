/* Two threads receive, two send; all look at both counts now and then. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define PACKETS 6000

#ifdef FIXED
#define LINE _Alignas(64)
#else
#define LINE
#endif

struct traffic {
    LINE atomic_long in;
    LINE atomic_long out;
};

static struct traffic traffic __attribute__((aligned(64))); /* mark: traffic */

static struct {
    _Alignas(64) long bytes[8];
} seen[THREADS];

static void *run(void *arg)
{
    size_t self = (size_t)arg;
    atomic_long *count = self < 2 ? &traffic.in : &traffic.out;
    for (int packet = 0; packet < PACKETS; packet++) {
        for (int i = 0; i < 3; i++)
            seen[self].bytes[(packet + i) % 8] += packet;
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
        if (packet % 1000 == 10) {
            atomic_fetch_add_explicit(&traffic.in, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&traffic.out, 1, memory_order_relaxed);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    printf("%ld in, %ld out\n", traffic.in, traffic.out);
    return traffic.in != traffic.out;
}
