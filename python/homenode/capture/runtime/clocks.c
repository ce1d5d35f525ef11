/* Clocks and sleeps of the program in virtual time (virtual_time.c). */
#include "hn.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Processor time of the thread. With user-level threads the system cannot tell: a kernel thread
 * runs several threads. */
static int look_at_own_time(uint64_t *ns)
{
    if (!hn_recording || !hn_one_ring() || !hn_read_clock(CLOCK_MONOTONIC, ns))
        return 0;
    *ns = hn_thread_ns(hn_me);
    return 1;
}

INTERPOSE(int, clock_gettime, (clockid_t clock, struct timespec *now))
{
    uint64_t ns;

    if (clock == CLOCK_THREAD_CPUTIME_ID ? !look_at_own_time(&ns) : !hn_read_clock(clock, &ns))
        return REAL(clock_gettime)(clock, now);
    now->tv_sec = (time_t)(ns / HN_NS_PER_SECOND);
    now->tv_nsec = (long)(ns % HN_NS_PER_SECOND);
    return 0;
}

INTERPOSE(int, gettimeofday, (struct timeval *now, void *zone))
{
    uint64_t ns;

    if (zone != NULL || !hn_read_clock(CLOCK_REALTIME, &ns))
        return REAL(gettimeofday)(now, zone);
    now->tv_sec = (time_t)(ns / HN_NS_PER_SECOND);
    now->tv_usec = (suseconds_t)(ns % HN_NS_PER_SECOND / 1000);
    return 0;
}

INTERPOSE(time_t, time, (time_t *place))
{
    uint64_t ns;
    time_t now;

    if (!hn_read_clock(CLOCK_REALTIME, &ns))
        return REAL(time)(place);
    now = (time_t)(ns / HN_NS_PER_SECOND);
    if (place != NULL)
        *place = now;
    return now;
}

/* Sleeps in virtual time; returns the nanoseconds left if a signal handler ran, else 0. */
static int64_t sleep_ns(struct hn_thread *me, int64_t ns)
{
    uint64_t until = hn_now_ns(me) + (uint64_t)ns;
    uint64_t now;

    hn_event(me, HN_EV_SYSCALL_ENTER, SYS_clock_nanosleep, 0);
    pthread_testcancel();
    me->wait_cancellable = 1;
    hn_block(me, me, HN_W_TIME, ns);
    me->wait_cancellable = 0;
    pthread_testcancel();
    if (hn_c->order == 0)
        return 0;
    hn_event(me, HN_EV_SYSCALL_EXIT, SYS_clock_nanosleep, 0);
    now = hn_now_ns(me);
    return me->woken == HN_BY_SIGNAL && now < until ? (int64_t)(until - now) : 0;
}

static struct hn_thread *sleeper(void)
{
    struct hn_thread *me = hn_inside();

    return me != NULL && hn_deterministic() && !hn_in_handler(me) ? me : NULL;
}

INTERPOSE(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left))
{
    struct hn_thread *me = sleeper();
    int64_t ns;

    if (me == NULL || !hn_is_virtual(clock))
        return REAL(clock_nanosleep)(clock, flags, wanted, left);
    if (wanted->tv_nsec < 0 || wanted->tv_nsec >= HN_NS_PER_SECOND || wanted->tv_sec < 0)
        return EINVAL;
    if ((flags & TIMER_ABSTIME) != 0)
        ns = hn_until(wanted, clock);
    else if (__builtin_mul_overflow(wanted->tv_sec, INT64_C(1000000000), &ns))
        ns = INT64_MAX / 2;
    else
        ns += wanted->tv_nsec;
    ns = sleep_ns(me, ns);
    if (ns == 0)
        return 0;
    if (left != NULL && (flags & TIMER_ABSTIME) == 0) {
        left->tv_sec = ns / HN_NS_PER_SECOND;
        left->tv_nsec = ns % HN_NS_PER_SECOND;
    }
    return EINTR;
}

INTERPOSE(int, nanosleep, (const struct timespec *wanted, struct timespec *left))
{
    int error;

    if (sleeper() == NULL)
        return REAL(nanosleep)(wanted, left);
    error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

INTERPOSE(int, usleep, (useconds_t microseconds))
{
    const struct timespec wanted = {microseconds / 1000000, microseconds % 1000000 * 1000L};

    return sleeper() == NULL ? REAL(usleep)(microseconds) : nanosleep(&wanted, NULL);
}

INTERPOSE(unsigned, sleep, (unsigned seconds))
{
    const struct timespec wanted = {seconds, 0};
    struct timespec left = {0, 0};

    if (sleeper() == NULL)
        return REAL(sleep)(seconds);
    return nanosleep(&wanted, &left) == 0 ? 0 : (unsigned)left.tv_sec + (left.tv_nsec > 0);
}
