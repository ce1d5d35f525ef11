/* Every thread counts the words of its pages; all nodes come from one pool. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NTHREAD 8
#define WORDS 64 /* different words a thread meets */
#define LETTERS 8
#define PASSES 72

typedef struct node {
    struct node *next;
    int id;
    int seen;
} Node;

#define NODES (NTHREAD * WORDS)
static Node pool[NODES] __attribute__((aligned(64))); /* mark: pool */
static atomic_int pool_used;
static char page[NTHREAD][WORDS][LETTERS];

static Node *new_node(int thread)
{
#ifdef FIXED
    static _Thread_local int mine; /* each thread has a stretch of the pool */
    atomic_fetch_add(&pool_used, 1);
    return &pool[thread * WORDS + mine++];
#else
    (void)thread;
    return &pool[atomic_fetch_add(&pool_used, 1)];
#endif
}

static int hash_word(const char *w)
{
    int h = 0;
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < LETTERS; i++)
            h = h * 31 + w[i];
    return h & 0x7fffffff;
}

static void *reader(void *arg)
{
    const int self = (int)(size_t)arg;
    Node *list = NULL;

    for (int w = 0; w < WORDS; w++) {
        Node *n = new_node(self);
        n->id = hash_word(page[self][w]);
        n->seen = 1;
        n->next = list;
        list = n;
    }
    for (int pass = 0; pass < PASSES; pass++)
        for (Node *n = list; n != NULL; n = n->next)
            if ((n->id + pass) % 4 != 0)
                n->seen++;
    return list;
}

int main(void)
{
    pthread_t id[NTHREAD];
    long seen = 0, nodes = 0;

    for (int t = 0; t < NTHREAD; t++)
        for (int w = 0; w < WORDS; w++)
            snprintf(page[t][w], LETTERS, "w%05d", t * WORDS + w);
    for (size_t t = 0; t < NTHREAD; t++)
        pthread_create(&id[t], NULL, reader, (void *)t);
    for (int t = 0; t < NTHREAD; t++) {
        void *list;
        pthread_join(id[t], &list);
        for (Node *n = list; n != NULL; n = n->next) {
            seen += n->seen;
            nodes++;
        }
    }
    printf("%ld words, seen %ld times\n", nodes, seen);
    return !(nodes == NODES && seen == (long)NODES * (1 + PASSES * 3 / 4));
}
