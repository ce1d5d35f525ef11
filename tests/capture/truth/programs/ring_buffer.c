// kind: read, change, write
// expect: ring written=3200 read=3200
// compile: gcc clang; O0 O2
// with: -pthread
// why: 400 longs pass through the ring under a mutex: each is written once and read once.
#include "truth.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static volatile unsigned head, tail;
volatile long ring[16];

static void *produce(void *unused)
{
    for (long i = 0; i < 400; i++) {
        pthread_mutex_lock(&lock);
        while (head - tail == 16)
            pthread_cond_wait(&moved, &lock);
        ring[head++ % 16] = i;
        pthread_cond_signal(&moved);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    long sum = 0;

    pthread_create(&thread, NULL, produce, NULL);
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&lock);
        while (head == tail)
            pthread_cond_wait(&moved, &lock);
        sum += ring[tail++ % 16];
        pthread_cond_signal(&moved);
        pthread_mutex_unlock(&lock);
    }
    return sum != 79800;
}
