/* A hash table with a lock for each bucket, all locks in one array. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CLIENTS 8
#define BUCKETS 8
#define INSERTS 4000

typedef union {
    pthread_mutex_t m;
#ifdef FIXED
    char line[64];
#endif
} bucket_lock;

static bucket_lock locks[BUCKETS] /* mark: locks */
#ifdef FIXED
    __attribute__((aligned(64)))
#endif
    ;
static struct bucket {
    unsigned count;
    unsigned checksum;
    char rest[56];
} bucket[BUCKETS] __attribute__((aligned(64)));

static unsigned hash(unsigned key)
{
    return key / INSERTS % BUCKETS;
}

static void insert(unsigned key)
{
    unsigned h = hash(key);
    pthread_mutex_lock(&locks[h].m);
    bucket[h].count++;
    bucket[h].checksum += key;
    pthread_mutex_unlock(&locks[h].m);
}

static void *client(void *arg)
{
    unsigned first = (unsigned)(size_t)arg * INSERTS;
    for (unsigned k = first; k < first + INSERTS; k++)
        insert(k);
    return NULL;
}

int main(void)
{
    pthread_t th[CLIENTS];
    unsigned n = 0, sum = 0, all = 0;

    for (int b = 0; b < BUCKETS; b++)
        pthread_mutex_init(&locks[b].m, NULL);
    for (size_t c = 0; c < CLIENTS; c++)
        pthread_create(&th[c], NULL, client, (void *)c);
    for (size_t c = 0; c < CLIENTS; c++)
        pthread_join(th[c], NULL);
    for (int b = 0; b < BUCKETS; b++) {
        n += bucket[b].count;
        sum += bucket[b].checksum;
    }
    for (unsigned k = 0; k < CLIENTS * INSERTS; k++)
        all += k;
    printf("%u entries, checksum %u\n", n, sum);
    return n == CLIENTS * INSERTS && sum == all ? 0 : 1;
}
