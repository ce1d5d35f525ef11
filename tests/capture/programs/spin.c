/* Threads that wait by reading memory: a flag, a ticket lock, a barrier of the program's own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 100 };

static volatile int go;
static atomic_int next_ticket, serving, arrived, sense;
static long total;

static void barrier(int *mine)
{
    *mine = !*mine;
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&sense, *mine);
    } else {
        while (atomic_load(&sense) != *mine) {
        }
    }
}

static void *work(void *argument)
{
    int mine = 0;

    while (!go) {
    }
    for (int i = 0; i < ROUNDS; i++) {
        int ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);

        while (atomic_load_explicit(&serving, memory_order_acquire) != ticket) {
        }
        total++;
        atomic_store_explicit(&serving, ticket + 1, memory_order_release);
        barrier(&mine);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    go = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", total);
    return 0;
}
