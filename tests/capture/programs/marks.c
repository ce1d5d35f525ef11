/* Marks by homenode.h, and memory that is private. */
#include <homenode.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static __thread long mine[8];
long shared_array[64], declared[64];
static long *lent;

static void *work(void *argument)
{
    long local[16];

    for (int i = 0; i < 16; i++)
        local[i] = i;
    mine[3] += local[5];
    shared_array[(long)argument] = mine[3];
    lent[0] = 1;
    return argument;
}

int main(void)
{
    volatile long on_stack[32];
    long *volatile heap = malloc(1000 * sizeof *heap);
    pthread_t thread;

    lent = (long *)&on_stack[8];
    homenode_private(declared, sizeof declared);
    for (int i = 0; i < 32; i++)
        on_stack[i] = i;
    homenode_init_done();
    pthread_create(&thread, NULL, work, (void *)1);
    pthread_join(thread, NULL);
    homenode_phase(7);
    heap[0] = on_stack[8];
    declared[1] = 2;
    homenode_marker("a phase of its own, with a name that is longer than one record");
    printf("%ld %ld\n", heap[0], on_stack[9]);
    free(heap);
    return 0;
}
