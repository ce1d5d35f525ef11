/* Per-thread records padded to a line, behind a header that is not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LANES 8
#define ITEMS 12000

struct lane {
    long taken;
    char name[40];
    long sum;
    long largest;
};

_Static_assert(sizeof(struct lane) == 64, "a lane is a line");

struct team {
    size_t count;
    const char *purpose;
#ifdef FIXED
    _Alignas(64)
#endif
    struct lane lanes[LANES];
};

static struct team *team;
static int item[ITEMS];

static void *drive(void *arg)
{
    struct lane *l = &team->lanes[(size_t)arg];
    for (int i = 0; i < ITEMS; i += 2) {
        if (item[i] == 0)
            continue;
        l->taken++;
        if (item[i] > l->largest)
            l->largest = item[i];
        l->sum += item[i];
    }
    return NULL;
}

int main(void)
{
    pthread_t t[LANES];
    long sum = 0, expected = 0;

    for (int i = 0; i < ITEMS; i++)
        item[i] = i % 3;
    team = aligned_alloc(64, (LANES + 1) * 64); /* mark: team */
    if (!team)
        return 2;
    team->count = LANES;
    team->purpose = "sums";
    for (size_t i = 0; i < LANES; i++) {
        struct lane *l = &team->lanes[i];
        snprintf(l->name, sizeof l->name, "lane %zu", i);
        l->taken = l->sum = l->largest = 0;
    }
    for (size_t i = 0; i < LANES; i++)
        pthread_create(&t[i], NULL, drive, (void *)i);
    for (int i = 0; i < LANES; i++)
        pthread_join(t[i], NULL);
    for (size_t i = 0; i < team->count; i++)
        sum += team->lanes[i].sum + team->lanes[i].largest;
    for (int i = 0; i < ITEMS; i += 2)
        expected += LANES * (i % 3);
    printf("%s: %ld\n", team->purpose, sum);
    free(team);
    return sum != expected + 2 * LANES;
}
