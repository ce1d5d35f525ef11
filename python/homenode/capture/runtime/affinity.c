/* Processor affinity. The program is pinned to one core without seeing it: it sees the processors
 * it was started with, and the affinity that it sets is remembered but not applied.
 */
#include "hn.h"

#include <errno.h>
#include <sched.h>

static int pinned(void)
{
    return hn_recording && hn_c->order == HN_ORDER_DETERMINISTIC;
}

static void program_affinity(size_t size, cpu_set_t *set)
{
    unsigned char *to = (unsigned char *)set;
    const unsigned char *from = (const unsigned char *)&hn_affinity;

    for (size_t i = 0; i < size; i++)
        to[i] = i < sizeof hn_affinity ? from[i] : 0;
}

INTERPOSE(int, sched_getaffinity, (pid_t who, size_t size, cpu_set_t *set))
{
    if (!pinned() || (who != 0 && who != hn_c->pid && who != hn_me->tid))
        return REAL(sched_getaffinity)(who, size, set);
    program_affinity(size, set);
    return 0;
}

INTERPOSE(int, sched_setaffinity, (pid_t who, size_t size, const cpu_set_t *set))
{
    return pinned() ? 0 : REAL(sched_setaffinity)(who, size, set);
}

INTERPOSE(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *set))
{
    if (!pinned())
        return REAL(pthread_getaffinity_np)(thread, size, set);
    program_affinity(size, set);
    return 0;
}

INTERPOSE(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set))
{
    return pinned() ? 0 : REAL(pthread_setaffinity_np)(thread, size, set);
}

/* Passes the turn to the next thread. In free order the call is passed on. */
INTERPOSE(int, sched_yield, (void))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL || !hn_deterministic() || hn_in_handler(me))
        return REAL(sched_yield)();
    hn_let_others_run(me);
    return 0;
}
