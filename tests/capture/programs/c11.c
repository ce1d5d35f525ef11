/* C11 threads. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

enum { THREADS = 4 };

static mtx_t mutex;
static cnd_t turned;
static once_flag once = ONCE_FLAG_INIT;
static int turn, onces, total;
static tss_t key;
static int destroyed;

static void init(void)
{
    onces++;
}

static void destroy(void *value)
{
    /* Threads end at the same time, and no lock is held here. */
    __atomic_fetch_add(&destroyed, *(int *)value, __ATOMIC_RELAXED);
}

static int work(void *argument)
{
    const int me = *(int *)argument;
    static thread_local int one;

    one = 1;
    tss_set(key, &one);
    call_once(&once, init);
    for (int i = 0; i < 20; i++) {
        mtx_lock(&mutex);
        while (turn % THREADS != me)
            cnd_wait(&turned, &mutex);
        turn++;
        total += one;
        cnd_broadcast(&turned);
        mtx_unlock(&mutex);
        thrd_yield();
    }
    thrd_exit(me);
}

int main(void)
{
    struct timespec soon, little = {0, 1000000};
    thrd_t threads[THREADS];
    int numbers[THREADS], result, sum = 0;

    mtx_init(&mutex, mtx_timed);
    cnd_init(&turned);
    tss_create(&key, destroy);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        thrd_create(&threads[i], work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        thrd_join(threads[i], &result);
        sum += result;
    }
    thrd_sleep(&little, NULL);
    timespec_get(&soon, TIME_UTC);
    mtx_lock(&mutex);
    printf("%d %d %d %d %d %d\n", turn, total, onces, sum, destroyed,
           cnd_timedwait(&turned, &mutex, &soon) == thrd_timedout);
    return 0;
}
