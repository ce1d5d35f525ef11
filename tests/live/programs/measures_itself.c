/* A program that measures its own time: twice as many misses take about twice as long. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STRIDE = 64, BLOCKS = 4096 };

static char memory[2][3 * BLOCKS * STRIDE];

static long walk(char *from, int blocks)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < blocks; i++)
        from[i * STRIDE]++;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec;
}

int main(void)
{
    long once = walk(memory[0], BLOCKS), twice = walk(memory[1], 2 * BLOCKS);

    printf("%ld\n", once);
    return twice > 19 * once / 10 && twice < 21 * once / 10 ? 0 : 1;
}
