/* Generators of random numbers whose state is the caller's: a call reads it and writes it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 100 };

_Alignas(64) unsigned seeds[2];
_Alignas(64) unsigned short states[2][4];
_Alignas(64) struct drand48_data contexts[2];

static void *work(void *number)
{
    const size_t thread = (size_t)number;

    for (int i = 0; i < TIMES; i++) {
        double real;
        rand_r(&seeds[thread]);
        nrand48(states[thread]);
        drand48_r(&contexts[thread], &real);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%u %u\n", seeds[0], states[0][0]);
    return 0;
}
