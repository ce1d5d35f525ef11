/* Worker threads sort packets of a made-up capture into classes and keep statistics. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 8
#define PACKETS 48000

struct packet {
    uint16_t length;
    uint8_t protocol;
    uint8_t bad;
};

struct stats {
    uint64_t packets;
    uint64_t octets;
    uint64_t dropped;
#ifdef FIXED
} __attribute__((aligned(64)));
#else
};
#endif

static struct packet capture[PACKETS];
static struct stats *per_worker;

static void *classify(void *arg)
{
    long id = (long)arg;
    struct stats *st = &per_worker[id];

    for (long i = id * (PACKETS / WORKERS); i < (id + 1) * (PACKETS / WORKERS); i++) {
        const struct packet *p = &capture[i];
        if (p->bad) {
            st->dropped++;
            continue;
        }
        st->packets++;
        st->octets += p->length;
    }
    return NULL;
}

int main(void)
{
    pthread_t tid[WORKERS];
    struct stats sum = {0};
    uint64_t octets = 0;

    for (int i = 0; i < PACKETS; i++) {
        capture[i].length = (uint16_t)(40 + i % 1400);
        capture[i].protocol = i % 3 ? 6 : 17;
        capture[i].bad = i % 11 == 0;
        if (!capture[i].bad)
            octets += capture[i].length;
    }
    per_worker = aligned_alloc(64, WORKERS * sizeof *per_worker); /* mark: per_worker */
    if (!per_worker)
        return 1;
    for (int i = 0; i < WORKERS; i++)
        per_worker[i] = (struct stats){0};
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&tid[i], NULL, classify, (void *)i);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(tid[i], NULL);
        sum.packets += per_worker[i].packets;
        sum.octets += per_worker[i].octets;
        sum.dropped += per_worker[i].dropped;
    }
    printf("%lu packets, %lu octets, %lu dropped\n", (unsigned long)sum.packets,
           (unsigned long)sum.octets, (unsigned long)sum.dropped);
    free(per_worker);
    return sum.packets + sum.dropped == PACKETS && sum.octets == octets ? 0 : 1;
}
