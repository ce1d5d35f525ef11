/* One thread beats time; two others add up in a structure each, the first beside the time. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define BEATS 12000
#define NOTES 10000

struct part {
    long sum, notes, highest, last;
};

#ifdef FIXED
#define LINE __attribute__((aligned(64)))
#else
#define LINE
#endif

/* gcc gives later variables lower addresses: the song begins a line, and these follow it. */
static struct part right LINE = {.notes = 1};
static struct part left LINE = {.notes = 1}; /* mark: left */
static atomic_long beats = 1;
static struct {
    char title[24];
} song __attribute__((aligned(64))) = {"scales"};

static void *beat(void *arg)
{
    for (int i = 0; i < BEATS; i++)
        atomic_fetch_add_explicit(&beats, 1, memory_order_relaxed);
    return arg;
}

static void *play(void *arg)
{
    volatile struct part *part = arg;
    for (int i = 0; i < NOTES; i++) {
        part->sum += i;
        part->notes++;
        part->last = i;
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, beat, NULL);
    pthread_create(&t[1], NULL, play, &left);
    pthread_create(&t[2], NULL, play, &right);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%s: %ld, %ld, %ld\n", song.title, beats, left.sum, right.notes);
    return left.sum != right.sum;
}
