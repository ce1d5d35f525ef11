/* Threads read and overwrite one word without any lock, and then print what they read. The
 * order of a recording is legal only if every read returns what the last write before it wrote. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 300 };

volatile long word;
_Atomic long counter;
_Alignas(64) long block[8];
static long read_word[THREADS][ROUNDS], read_counter[THREADS][ROUNDS], copied[THREADS][ROUNDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    const long me = (long)argument;

    for (long i = 0; i < ROUNDS; i++) {
        long local[8];

        read_word[me][i] = word;
        word = me * ROUNDS + i + 1;
        read_counter[me][i] = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        memcpy(local, block, sizeof local);
        copied[me][i] = local[0];
        for (int k = 0; k < 8; k++)
            local[k] = me * ROUNDS + i + 1;
        memcpy(block, local, sizeof local);
        if (i % 16 == 0) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < ROUNDS; i++)
            printf("%d %ld %ld %ld\n", t, read_word[t][i], read_counter[t][i], copied[t][i]);
    return 0;
}
