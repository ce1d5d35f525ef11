// kind: structures
// expect: from written=48 read=48
// expect: to written=48 read=48
// expect qemu clang O0: from written=48 read=64
// expect qemu clang O0: to written=64 read=48
// compile: gcc clang; O0 O2
// with: -pthread
// why: one thread fills and copies 48 bytes, and another, joined, reads the copy back.
// At -O0 clang calls the library, whose two vectors overlap.
#include "truth.h"
#include <pthread.h>

struct big { long v[6]; } from, to;

NOINLINE void copy(struct big *a, const struct big *b)
{
    *a = *b;
}

static void *copier(void *unused)
{
    for (int i = 0; i < 6; i++)
        ((volatile long *)from.v)[i] = i;
    copy(&to, &from);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    long sum = 0;

    pthread_create(&thread, NULL, copier, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 6; i++)
        sum += ((volatile long *)to.v)[i];
    return sum != 15;
}
