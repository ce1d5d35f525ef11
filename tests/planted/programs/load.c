/* Clients make requests up to a limit, and count them beside the settings that they read. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CLIENTS 4
#define REQUESTS 12000

#ifdef FIXED
#define LINE _Alignas(64)
#else
#define LINE
#endif

struct load {
    char host[128];
    int limit, depth, width, keep;
    LINE atomic_int issued;
    LINE atomic_int finished;
};

static struct load load = {.host = "here", .depth = 3, .width = 2, .keep = 1}; /* mark: load */

static int costs(int request)
{
    int sum = 0;
    for (int i = 0; i < load.depth; i++)
        sum += (request + i) * load.width;
    return sum + load.keep;
}

static void *client(void *arg)
{
    long *sum = arg;
    while (atomic_load_explicit(&load.issued, memory_order_relaxed) < load.limit) {
        int request = atomic_fetch_add_explicit(&load.issued, 1, memory_order_relaxed);
        for (int i = 0; i < 4; i++)
            *sum += costs(request) > 0;
        atomic_fetch_add_explicit(&load.finished, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[CLIENTS];
    static struct {
        _Alignas(64) long sum;
    } done[CLIENTS];
    int lost;

    load.limit = REQUESTS;
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&t[i], NULL, client, &done[i].sum);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(t[i], NULL);
    lost = load.issued - load.finished;
    printf("%s: %d lost\n", load.host, lost);
    return lost != 0;
}
