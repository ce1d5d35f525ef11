/* Time, in deterministic order. The program's clocks show the second it was started in plus virtual
 * time, so what it computes from differences repeats, and deadlines mean the same to it and to the
 * scheduler. Every look at a clock takes a little time too: a program may wait by looking. A whole
 * second, because programs round: with the nanoseconds of the start, a loop that ends when a
 * millisecond is over would run once more in some runs. What depends on the date itself, such as a
 * seed from time(), differs from second to second.
 *
 * In free order, and for clocks of processor time, the system's answers are passed on.
 */
#include "hn.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { NS_PER_SECOND = 1000000000, NS_PER_LOOK = 1000, RECORDS_PER_LOOK = 4, CLOCKS = 8 };

static uint64_t start_ns[CLOCKS];

static int is_virtual(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

void hn_clock_init(void)
{
    struct timespec now;

    for (clockid_t clock = 0; clock < CLOCKS; clock++) {
        if (!is_virtual(clock))
            continue;
        hn_sys(SYS_clock_gettime, clock, (long)&now, 0, 0);
        start_ns[clock] = (uint64_t)now.tv_sec * NS_PER_SECOND;
    }
}

/* Nanoseconds a clock shows to the thread that holds the baton. */
static uint64_t shown_ns(struct hn_thread *me, clockid_t clock)
{
    return start_ns[clock] + hn_virtual_ns(me->next, me->block_end);
}

/* Nanoseconds from now until a point in time; 0 when it is past. */
int64_t hn_until(const struct timespec *deadline, clockid_t clock)
{
    struct hn_thread *me = hn_me;
    int64_t at = deadline->tv_sec * INT64_C(1000000000) + deadline->tv_nsec;
    int64_t now;

    if (clock < 0 || clock >= CLOCKS || !is_virtual(clock) || me->state != HN_RUNNING)
        return 0;
    /* Years from now: no need to count. */
    if (deadline->tv_sec > INT64_MAX / 1000000000 - 1)
        return INT64_MAX / 2;
    now = (int64_t)shown_ns(me, clock);
    return at > now ? at - now : 0;
}

/* A look at the clock: takes time, and uses up some of the turn. */
static int look(clockid_t clock, uint64_t *ns)
{
    struct hn_thread *me;

    if (!hn_recording || clock < 0 || clock >= CLOCKS || !is_virtual(clock))
        return 0;
    me = hn_inside();
    if (me == NULL || !hn_deterministic())
        return 0;
    hn_c->skipped_ns += NS_PER_LOOK;
    me->turn_left -= RECORDS_PER_LOOK;
    if (me->turn_left <= me->next - me->turn_start && hn_slow(me) == NULL)
        return 0;
    *ns = shown_ns(me, clock);
    return 1;
}

INTERPOSE(int, clock_gettime, (clockid_t clock, struct timespec *now))
{
    uint64_t ns;

    if (!look(clock, &ns))
        return REAL(clock_gettime)(clock, now);
    now->tv_sec = (time_t)(ns / NS_PER_SECOND);
    now->tv_nsec = (long)(ns % NS_PER_SECOND);
    return 0;
}

INTERPOSE(int, gettimeofday, (struct timeval *now, void *zone))
{
    uint64_t ns;

    if (zone != NULL || !look(CLOCK_REALTIME, &ns))
        return REAL(gettimeofday)(now, zone);
    now->tv_sec = (time_t)(ns / NS_PER_SECOND);
    now->tv_usec = (suseconds_t)(ns % NS_PER_SECOND / 1000);
    return 0;
}

INTERPOSE(time_t, time, (time_t *place))
{
    uint64_t ns;
    time_t now;

    if (!look(CLOCK_REALTIME, &ns))
        return REAL(time)(place);
    now = (time_t)(ns / NS_PER_SECOND);
    if (place != NULL)
        *place = now;
    return now;
}

/* Sleeps in virtual time; nanoseconds left when a signal handler ran, else 0. */
static int64_t sleep_ns(struct hn_thread *me, int64_t ns)
{
    uint64_t until = hn_virtual_ns(me->next, me->block_end) + (uint64_t)ns;
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
    now = hn_virtual_ns(me->next, me->block_end);
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

    if (me == NULL || clock < 0 || clock >= CLOCKS || !is_virtual(clock))
        return REAL(clock_nanosleep)(clock, flags, wanted, left);
    if (wanted->tv_nsec < 0 || wanted->tv_nsec >= NS_PER_SECOND || wanted->tv_sec < 0)
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
        left->tv_sec = ns / NS_PER_SECOND;
        left->tv_nsec = ns % NS_PER_SECOND;
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
