/* One operation on a lock between two marks each; only the threads that wait are others. */
#define _GNU_SOURCE
#include <errno.h>
#include <homenode.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

enum { OBJECTS = 16, BYTES = 64 };
static _Alignas(64) char memory[OBJECTS][BYTES];
static int used;

#define OPERATION(name, ...)       \
    do {                           \
        homenode_marker(name);     \
        __VA_ARGS__;               \
        homenode_marker("end");    \
    } while (0)

static void *next_object(void)
{
    return memory[used++];
}

static void *nothing(void *unused)
{
    return unused;
}

static void initialise(void) {}

static struct timespec soon(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += 100;
    return now;
}

static void mutexes(void)
{
    static const char *names[] = {"normal", "recursive", "errorcheck", "adaptive", "robust",
                                  "inherits"};
    const struct timespec limit = soon();

    for (int i = 0; i < 6; i++) {
        pthread_mutex_t *m = next_object();
        pthread_mutexattr_t attributes;
        const char *name = names[i];

        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, i < 4 ? i : 0);
        if (i == 4)
            pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        if (i == 5)
            pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(m, &attributes);
        OPERATION(name, pthread_mutex_lock(m));
        if (i == 1)
            OPERATION(name, pthread_mutex_lock(m));
        if (i == 1)
            OPERATION(name, pthread_mutex_unlock(m));
        if (i == 2)
            OPERATION(name, pthread_mutex_lock(m));
        if (i < 4)
            OPERATION(name, pthread_mutex_trylock(m));
        if (i == 1)
            OPERATION(name, pthread_mutex_unlock(m));
        OPERATION(name, pthread_mutex_unlock(m));
        OPERATION(name, pthread_mutex_trylock(m));
        OPERATION(name, pthread_mutex_unlock(m));
        OPERATION(name, pthread_mutex_timedlock(m, &limit));
        OPERATION(name, pthread_mutex_unlock(m));
    }
    mtx_t *m = next_object();

    mtx_init(m, mtx_plain);
    OPERATION("mtx", mtx_lock(m));
    OPERATION("mtx", mtx_unlock(m));
}

static void rwlocks(void)
{
    static const char *names[] = {"rwlock", "writers first"};

    for (int i = 0; i < 2; i++) {
        pthread_rwlock_t *l = next_object();
        pthread_rwlockattr_t attributes;
        const char *name = names[i];

        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes,
                                      i * PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(l, &attributes);
        for (int round = 0; round < 2; round++) {
            OPERATION(name, pthread_rwlock_rdlock(l));
            OPERATION(name, pthread_rwlock_tryrdlock(l));
            OPERATION(name, pthread_rwlock_trywrlock(l));
            OPERATION(name, pthread_rwlock_unlock(l));
            OPERATION(name, pthread_rwlock_unlock(l));
            OPERATION(name, pthread_rwlock_wrlock(l));
            OPERATION(name, pthread_rwlock_tryrdlock(l));
            OPERATION(name, pthread_rwlock_unlock(l));
            OPERATION(name, pthread_rwlock_wrlock(l));
            OPERATION(name, pthread_rwlock_unlock(l));
            OPERATION(name, pthread_rwlock_tryrdlock(l));
            OPERATION(name, pthread_rwlock_unlock(l));
            OPERATION(name, pthread_rwlock_trywrlock(l));
            OPERATION(name, pthread_rwlock_unlock(l));
        }
    }
}

static void others(void)
{
    const struct timespec limit = soon();
    sem_t *s = next_object();
    pthread_spinlock_t *spin = next_object();
    pthread_once_t *once = next_object();
    pthread_cond_t *c = next_object();
    omp_lock_t *lock = next_object();
    omp_nest_lock_t *nest = next_object();

    sem_init(s, 0, 2);
    OPERATION("semaphore", sem_wait(s));
    OPERATION("semaphore", sem_trywait(s));
    OPERATION("semaphore", sem_trywait(s));
    OPERATION("semaphore", sem_post(s));
    OPERATION("semaphore", sem_timedwait(s, &limit));
    pthread_spin_init(spin, 0);
    OPERATION("spin", pthread_spin_lock(spin));
    OPERATION("spin", pthread_spin_trylock(spin));
    OPERATION("spin", pthread_spin_unlock(spin));
    OPERATION("once", pthread_once(once, initialise));
    OPERATION("once", pthread_once(once, initialise));
    pthread_cond_init(c, NULL);
    OPERATION("condition", pthread_cond_signal(c));
    OPERATION("condition", pthread_cond_broadcast(c));
    omp_init_lock(lock);
    OPERATION("omp", omp_set_lock(lock));
    OPERATION("omp", omp_test_lock(lock));
    OPERATION("omp", omp_unset_lock(lock));
    omp_init_nest_lock(nest);
    OPERATION("nest", omp_set_nest_lock(nest));
    OPERATION("nest", omp_set_nest_lock(nest));
    OPERATION("nest", omp_test_nest_lock(nest));
    OPERATION("nest", omp_unset_nest_lock(nest));
    OPERATION("nest", omp_unset_nest_lock(nest));
    OPERATION("nest", omp_unset_nest_lock(nest));
    OPERATION("nest", omp_test_nest_lock(nest));
}

static void *meet(void *barrier)
{
    OPERATION("barrier, first", pthread_barrier_wait(barrier));
    return NULL;
}

int main(void)
{
    pthread_barrier_t *barrier = next_object();
    pthread_t thread;

    printf("%p %d\n", (void *)memory, (int)sizeof memory);
    fflush(stdout);
    pthread_create(&thread, NULL, nothing, NULL);   /* the library is quicker without threads */
    pthread_join(thread, NULL);
    mutexes();
    rwlocks();
    others();
    pthread_barrier_init(barrier, NULL, 2);
    pthread_create(&thread, NULL, meet, barrier);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    OPERATION("barrier, last", pthread_barrier_wait(barrier));
    pthread_join(thread, NULL);
    return 0;
}
