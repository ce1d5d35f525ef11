/* Every kind of pthread object, in all the ways of waiting for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, checking;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t items, room;
static long by_mutex, by_recursive, by_rwlock, by_spin, seen_by_readers;
static long onces, turn, serial, passed;

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void init_once(void)
{
    onces++;
}

static void take_mutex(int i)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 5000);

    if (i % 3 == 0)
        pthread_mutex_lock(&mutex);
    else if (i % 3 == 1)
        while (pthread_mutex_trylock(&mutex) != 0)
            sched_yield();
    else
        pthread_mutex_timedlock(&mutex, &soon);
}

static void *work(void *argument)
{
    const long me = (long)argument;

    pthread_once(&once, init_once);
    for (int i = 0; i < ROUNDS; i++) {
        take_mutex(i);
        by_mutex++;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        by_recursive++;
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
        pthread_rwlock_wrlock(&rwlock);
        by_rwlock++;
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_rdlock(&rwlock);
        /* Readers share the lock, so only an atomic addition loses none of them. */
        __atomic_fetch_add(&seen_by_readers, by_rwlock > 0, __ATOMIC_RELAXED);
        pthread_rwlock_unlock(&rwlock);
        pthread_spin_lock(&spin);
        by_spin++;
        pthread_spin_unlock(&spin);
        pthread_mutex_lock(&mutex);
        while (turn % THREADS != me)
            pthread_cond_wait(&turned, &mutex);
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&mutex);
        if (me % 2 == 0) {
            sem_wait(&room);
            sem_post(&items);
        } else {
            sem_wait(&items);
            passed++;
            sem_post(&room);
        }
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            serial++;
    }
    return argument;
}

static void *wait_long(void *argument)
{
    sem_wait(argument);
    return NULL;
}

static void report_errors(void)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 2);
    pthread_t sleeper;
    sem_t never;

    pthread_mutex_lock(&checking);
    printf("relock %d\n", pthread_mutex_lock(&checking) == EDEADLK);
    pthread_mutex_unlock(&checking);
    printf("unlock %d\n", pthread_mutex_unlock(&checking) == EPERM);
    printf("self join %d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
    pthread_mutex_lock(&mutex);
    printf("trylock %d\n", pthread_mutex_trylock(&mutex) == EBUSY);
    printf("timedlock %d\n", pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    soon = in_ms(CLOCK_REALTIME, 2);
    printf("timedwait %d\n", pthread_cond_timedwait(&turned, &mutex, &soon) == ETIMEDOUT);
    soon = in_ms(CLOCK_MONOTONIC, 2);
    printf("clockwait %d\n",
           pthread_cond_clockwait(&turned, &mutex, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    sem_init(&never, 0, 0);
    soon = in_ms(CLOCK_REALTIME, 2);
    printf("sem_timedwait %d\n", sem_timedwait(&never, &soon) == -1 && errno == ETIMEDOUT);
    printf("sem_trywait %d\n", sem_trywait(&never) == -1 && errno == EAGAIN);
    pthread_create(&sleeper, NULL, wait_long, &never);
    printf("tryjoin %d\n", pthread_tryjoin_np(sleeper, NULL) == EBUSY);
    soon = in_ms(CLOCK_REALTIME, 2);
    printf("timedjoin %d\n", pthread_timedjoin_np(sleeper, NULL, &soon) == ETIMEDOUT);
    sem_post(&never);
    soon = in_ms(CLOCK_REALTIME, 5000);
    printf("joined %d\n", pthread_timedjoin_np(sleeper, NULL, &soon));
    pthread_rwlock_rdlock(&rwlock);
    soon = in_ms(CLOCK_REALTIME, 2);
    printf("timedwrlock %d\n", pthread_rwlock_timedwrlock(&rwlock, &soon) == ETIMEDOUT);
    printf("trywrlock %d\n", pthread_rwlock_trywrlock(&rwlock) == EBUSY);
    printf("tryrdlock %d\n", pthread_rwlock_tryrdlock(&rwlock));
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_mutexattr_t attributes;
    void *result;
    long sum = 0;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attributes);
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&items, 0, 0);
    sem_init(&room, 0, 1);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", by_mutex, by_recursive, by_rwlock, by_spin,
           seen_by_readers, onces, turn, serial, passed, sum);
    report_errors();
    pthread_barrier_destroy(&barrier);
    return 0;
}
