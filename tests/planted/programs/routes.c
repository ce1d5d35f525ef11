/* A routing table that all threads search, with a counter of uses in each entry. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define FORWARDERS 8
#define ROUTES 128
#define PACKETS 500

struct route {
    uint32_t prefix;
    uint16_t port;
    uint16_t metric;
#ifndef FIXED
    uint32_t used;
#endif
};

static struct route table[ROUTES] __attribute__((aligned(64))); /* mark: table */
#ifdef FIXED
static uint32_t used[ROUTES] __attribute__((aligned(64)));
#define USED(i) used[i]
#else
#define USED(i) table[i].used
#endif
static unsigned long sent[FORWARDERS];

static int lookup(uint32_t address)
{
    for (int i = 0; i < ROUTES; i++)
        if (table[i].prefix == address >> 8)
            return i;
    return -1;
}

static void *forward(void *arg)
{
    size_t self = (size_t)arg;
    unsigned long n = 0;
    for (uint32_t p = 0; p < PACKETS; p++) {
        /* hosts behind this card are reached by its own sixteen routes */
        uint32_t prefix = 10000 + (uint32_t)self * 16 + p * 5 % 16;
        int r = lookup(prefix << 8 | (p & 255));
        if (r >= 0) {
            USED(r)++;
            n += table[r].port;
        }
    }
    sent[self] = n;
    return NULL;
}

int main(void)
{
    pthread_t card[FORWARDERS];
    uint32_t uses = 0;
    unsigned long ports = 0;

    for (uint32_t i = 0; i < ROUTES; i++) {
        table[i].prefix = 10000 + i;
        table[i].port = (uint16_t)(i / 16);
        table[i].metric = 1;
    }
    for (size_t c = 0; c < FORWARDERS; c++)
        pthread_create(&card[c], NULL, forward, (void *)c);
    for (int c = 0; c < FORWARDERS; c++) {
        pthread_join(card[c], NULL);
        ports += sent[c];
    }
    for (int i = 0; i < ROUTES; i++)
        uses += USED(i);
    printf("%u packets, ports %lu\n", uses, ports);
    return uses != FORWARDERS * PACKETS || ports != 28ul * PACKETS;
}
