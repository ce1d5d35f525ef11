// kind: copies and clears of constant size
// expect: page written=4096 read=4104
// compile: gcc clang; O0 O2
// with: -pthread
// why: one thread clears the page with memset, another reads all of it, then main one long.
#include "truth.h"
#include <pthread.h>
#include <string.h>

_Alignas(4096) long page[512];

static void *clear(void *unused)
{
    memset(page, 0, sizeof page);
    return NULL;
}

static void *look(void *unused)
{
    long sum = 0;

    for (int i = 0; i < 512; i++)
        sum += *(volatile long *)&page[i];
    return (void *)sum;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, clear, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, look, NULL);
    pthread_join(second, NULL);
    return *(volatile long *)&page[7] != 0;
}
