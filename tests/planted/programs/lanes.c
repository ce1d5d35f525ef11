/* Per-thread records padded to a line, in memory that does not begin at one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LANES 8
#define ITEMS 12000

struct lane {
    long taken;
    char name[32];
    long sum;
    long largest;
    long spare;
};

_Static_assert(sizeof(struct lane) == 64, "a lane is a line");

static struct lane *lanes;
static int item[ITEMS];

static void *drive(void *arg)
{
    struct lane *l = &lanes[(size_t)arg];
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
#ifdef FIXED
    lanes = aligned_alloc(64, LANES * sizeof *lanes);
#else
    lanes = malloc(LANES * sizeof *lanes); /* mark: lanes */
#endif
    if (!lanes)
        return 2;
    for (size_t i = 0; i < LANES; i++) {
        snprintf(lanes[i].name, sizeof lanes[i].name, "lane %zu", i);
        lanes[i].taken = lanes[i].sum = lanes[i].largest = 0;
    }
    for (size_t i = 0; i < LANES; i++)
        pthread_create(&t[i], NULL, drive, (void *)i);
    for (int i = 0; i < LANES; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < LANES; i++)
        sum += lanes[i].sum + lanes[i].largest;
    for (int i = 0; i < ITEMS; i += 2)
        expected += LANES * (i % 3);
    printf("%ld\n", sum);
    free(lanes);
    return sum != expected + 2 * LANES;
}
