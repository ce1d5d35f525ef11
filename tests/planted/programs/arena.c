/* A server's counters come from an arena of the program's own, carved out of one large mapping. */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#define WORKERS 6
#define REQUESTS 10000
#define BYTES (256u << 20)
#define PROTECTION (PROT_READ | PROT_WRITE)

#ifdef FIXED
#define UNIT 64
#else
#define UNIT 8
#endif

static char *arena;
static size_t taken;

static void *take(size_t bytes)
{
    void *place = arena + taken;
    taken += (bytes + UNIT - 1) / UNIT * UNIT;
    return place;
}

static void *serve(void *arg)
{
    volatile long *served = arg;
    long key = 1;
    for (int n = 0; n < REQUESTS; n++) {
        key = (key * 31 + n) % 1000003;
        *served += 1 + (key & 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS];
    long *served[WORKERS];
    arena = mmap(NULL, BYTES, PROTECTION, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* mark: arena */
    if (arena == MAP_FAILED)
        return 1;
    take(4096 * 5);
    for (int i = 0; i < WORKERS; i++)
        served[i] = take(sizeof(long));
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, serve, served[i]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", *served[0]);
    for (int i = 1; i < WORKERS; i++)
        if (*served[i] != *served[0])
            return 1;
    return 0;
}
