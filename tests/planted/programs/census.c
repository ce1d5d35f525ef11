/* All threads count in one atomic counter; the twin counts by itself and adds up in the end. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 8
#define PEOPLE 64000

static uint8_t age[PEOPLE];
static _Alignas(64) atomic_ulong adults; /* mark: adults */
static char rest[56] __attribute__((unused));

static void *count(void *arg)
{
    size_t me = (size_t)arg;
#ifdef FIXED
    unsigned long mine = 0;
#endif
    for (size_t i = me * (PEOPLE / THREADS); i < (me + 1) * (PEOPLE / THREADS); i++) {
        if (age[i] < 18)
            continue;
#ifdef FIXED
        mine++;
#else
        atomic_fetch_add_explicit(&adults, 1, memory_order_relaxed);
#endif
    }
#ifdef FIXED
    atomic_fetch_add(&adults, mine);
#endif
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    unsigned long expected = 0;
    for (int i = 0; i < PEOPLE; i++) {
        age[i] = (uint8_t)(i * 31 % 90);
        expected += age[i] >= 18;
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, count, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    printf("%lu adults\n", atomic_load(&adults));
    return atomic_load(&adults) != expected;
}
