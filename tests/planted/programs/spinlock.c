/* A spin lock that tests and sets, in a line of its own; the twin tests before it sets. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define TURNS 600

static struct { atomic_int held; char rest[60]; } lock __attribute__((aligned(64)));
static struct { long bin[8]; } shared __attribute__((aligned(64)));

static void acquire(void)
{
    for (;;) {
        if (atomic_exchange_explicit(&lock.held, 1, memory_order_acquire) == 0)
            return;
#ifdef FIXED
        for (int i = 0; i < 16; i++)
            if (atomic_load_explicit(&lock.held, memory_order_relaxed) == 0)
                break;
#else
        for (int i = 0; i < 16; i++)
            if (atomic_exchange_explicit(&lock.held, 1, memory_order_acquire) == 0)
                return;
#endif
        sched_yield();
    }
}

static void release(void)
{
    atomic_store_explicit(&lock.held, 0, memory_order_release);
}

static void *add(void *arg)
{
    (void)arg;
    for (int i = 0; i < TURNS; i++) {
        acquire();
        for (int k = 1; k <= 40; k++)
            shared.bin[(i ^ k) % 8] += k;
        release();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, add, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    long sum = 0;
    for (int i = 0; i < 8; i++)
        sum += shared.bin[i];
    printf("%ld\n", sum);
    return sum != (long)THREADS * TURNS * 820;
}
