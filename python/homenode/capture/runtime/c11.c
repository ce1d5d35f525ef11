/* C11 threads, by their POSIX counterparts, as in the C library. */
#include "hn.h"

#include <errno.h>
#include <stdlib.h>
#include <threads.h>

#ifdef HN_STATIC
#define NAME(name) __wrap_##name
#else
#define NAME(name) name
#endif
/* Functions by whose section the POSIX ones know that the call of the program is one further up. */
#define C11(ret, name, params)                                            \
    HN_EXPORT ret NAME(name) params __attribute__((section("hn_c11"))); \
    INTERPOSE(ret, name, params)

static int thread_error(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ENOMEM:
    case EAGAIN:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

struct launch {
    thrd_start_t start;
    void *argument;
};

static void *launched(void *argument)
{
    struct launch *at = argument;
    const struct launch here = *at;

    hn_me->in_runtime++;
    free(at);
    hn_me->in_runtime--;
    return (void *)(intptr_t)here.start(here.argument);
}

INTERPOSE(int, thrd_create, (thrd_t *thread, thrd_start_t start, void *argument))
{
    struct hn_thread *me = hn_inside();
    struct launch *launch;
    int result;

    if (me == NULL)
        return REAL(thrd_create)(thread, start, argument);
    me->in_runtime++;
    launch = malloc(sizeof *launch);
    me->in_runtime--;
    if (launch == NULL)
        return thrd_nomem;
    launch->start = start;
    launch->argument = argument;
    result = pthread_create((pthread_t *)thread, NULL, launched, launch);
    if (result != 0)
        free(launch);
    return thread_error(result);
}

INTERPOSE(int, thrd_join, (thrd_t thread, int *result))
{
    void *value = NULL;
    int error = pthread_join((pthread_t)thread, &value);

    if (result != NULL)
        *result = (int)(intptr_t)value;
    return thread_error(error);
}

INTERPOSE(int, thrd_detach, (thrd_t thread))
{
    return thread_error(pthread_detach((pthread_t)thread));
}

INTERPOSE(int, thrd_sleep, (const struct timespec *wanted, struct timespec *left))
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);

    if (error == 0)
        return 0;
    return error == EINTR ? -1 : -2;
}

INTERPOSE(void, thrd_yield, (void))
{
    sched_yield();
}

C11(int, mtx_lock, (mtx_t *m))
{
    return thread_error(pthread_mutex_lock((pthread_mutex_t *)m));
}

C11(int, mtx_trylock, (mtx_t *m))
{
    return thread_error(pthread_mutex_trylock((pthread_mutex_t *)m));
}

C11(int, mtx_timedlock, (mtx_t *m, const struct timespec *deadline))
{
    return thread_error(pthread_mutex_timedlock((pthread_mutex_t *)m, deadline));
}

C11(int, mtx_unlock, (mtx_t *m))
{
    return thread_error(pthread_mutex_unlock((pthread_mutex_t *)m));
}

C11(int, cnd_wait, (cnd_t *c, mtx_t *m))
{
    return thread_error(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}

C11(int, cnd_timedwait, (cnd_t *c, mtx_t *m, const struct timespec *deadline))
{
    return thread_error(
        pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, deadline));
}

C11(int, cnd_signal, (cnd_t *c))
{
    return thread_error(pthread_cond_signal((pthread_cond_t *)c));
}

C11(int, cnd_broadcast, (cnd_t *c))
{
    return thread_error(pthread_cond_broadcast((pthread_cond_t *)c));
}

C11(void, call_once, (once_flag *flag, void (*routine)(void)))
{
    pthread_once((pthread_once_t *)flag, routine);
}
