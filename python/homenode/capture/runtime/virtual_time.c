/* Time, in deterministic order. The program's clocks show the second in which it was started plus
 * virtual time, so differences are repeatable, and deadlines mean the same to the program and to
 * the scheduler. Reading a clock takes virtual time too: a program may poll it to wait. The start
 * is rounded to a second because programs round: with its nanoseconds, a loop that ends after a
 * millisecond would run once more in some runs. Results that depend on the date itself, such as a
 * seed from time(), differ from second to second.
 *
 * In free order the system's clocks are passed on. So are clocks of processor time, except that of
 * a thread in deterministic order, and all of them in an emulator: these show the virtual time of
 * the thread's turns.
 */
#include "hn.h"

#include <sys/syscall.h>

enum {
    NS_PER_READ = 1000, NS_PER_SIMULATED_READ = 50, RECORDS_PER_READ = 4, NS_PER_READ_IN_TURN = 100
};

static uint64_t start_ns[HN_CLOCKS];

int hn_is_virtual(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

void hn_clock_init(void)
{
    struct timespec now;

    for (clockid_t clock = 0; clock < HN_CLOCKS; clock++) {
        if (!hn_is_virtual(clock))
            continue;
        hn_sys(SYS_clock_gettime, clock, (long)&now, 0, 0);
        start_ns[clock] = (uint64_t)now.tv_sec * HN_NS_PER_SECOND;
    }
}

/* Sets the start to a fixed date, the same in every recording. */
void hn_clock_fix(void)
{
    const uint64_t new_year_2026_s = 1767225600;

    for (clockid_t clock = 0; clock < HN_CLOCKS; clock++)
        start_ns[clock] = hn_is_virtual(clock) ? new_year_2026_s * HN_NS_PER_SECOND : 0;
}

/* The time of a clock before the program runs. */
uint64_t hn_clock_start_ns(clockid_t clock)
{
    return start_ns[clock];
}

/* Nanoseconds that a clock shows to the holder of the baton. */
static uint64_t shown_ns(struct hn_thread *me, clockid_t clock)
{
    return start_ns[clock] + hn_now_ns(me);
}

/* Nanoseconds from now until a point in time; 0 when it is past. */
int64_t hn_until(const struct timespec *deadline, clockid_t clock)
{
    struct hn_thread *me = hn_me;
    int64_t at = deadline->tv_sec * INT64_C(1000000000) + deadline->tv_nsec;
    int64_t now;

    if (!hn_is_virtual(clock) || me->state != HN_RUNNING)
        return 0;
    /* Years from now: avoids an overflow. */
    if (deadline->tv_sec > INT64_MAX / 1000000000 - 1)
        return INT64_MAX / 2;
    hn_exact_turn(me);
    now = (int64_t)shown_ns(me, clock);
    return at > now ? at - now : 0;
}

/* In logical order every thread has a clock of its own, which shows how far it has come. */
static int look_at_own_clock(clockid_t clock, uint64_t *ns)
{
    struct hn_thread *me = hn_me;

    if (me->state == HN_UNUSED || me->in_runtime || hn_c->order == 0)
        return 0;
    if (me->state != HN_RUNNING)
        hn_enter(me);
    hn_jump(me, NS_PER_READ / HN_NS_PER_RECORD);
    hn_note_jump(me);
    *ns = shown_ns(me, clock);
    /* A thread that polls the clock makes no references that would advance its logical clock. */
    return me->next < me->limit || hn_slow(me) != NULL;
}

/* Reads a clock, which takes virtual time and a part of the turn. */
int hn_read_clock(clockid_t clock, uint64_t *ns)
{
    struct hn_thread *me;

    if (!hn_recording || !hn_is_virtual(clock))
        return 0;
    if (hn_logical)
        return look_at_own_clock(clock, ns);
    me = hn_inside();
    if (me == NULL || !hn_deterministic())
        return 0;
    if (hn_directed) {
        if (hn_may_ask(me))
            hn_block(me, me, HN_W_TIME, NS_PER_SIMULATED_READ);
        *ns = shown_ns(me, clock);
        return hn_c->order != 0;
    }
    hn_c->skipped_ns += NS_PER_READ;
    me->turn_left -= RECORDS_PER_READ;
    if (me->turn_left <= me->next - me->turn_start && hn_slow(me) == NULL)
        return 0;
    *ns = shown_ns(me, clock);
    return 1;
}

/* Reads a clock inside an operation, where the turn must not end. */
uint64_t hn_read_clock_in_turn(struct hn_thread *me, clockid_t clock)
{
    if (hn_logical)
        return shown_ns(me, clock);
    /* In directed order time does not advance within a turn, in which the program may poll. */
    if (hn_directed)
        me->simulated_ns += NS_PER_READ_IN_TURN;
    else
        hn_c->skipped_ns += NS_PER_READ_IN_TURN;
    me->turn_left--;
    hn_set_limit(me);
    if (me->limit == me->next)
        me->limit = me->next + 1;
    return shown_ns(me, clock);
}

/* Virtual time of a thread's turns. The caller has the baton. */
uint64_t hn_thread_ns(const struct hn_thread *t)
{
    if (t->state != HN_RUNNING)
        return t->ran_ns;
    return t->ran_ns + hn_virtual_ns(t->next, t->block_end) - t->turn_began_ns;
}

/* Virtual time of all turns, as only one thread runs at a time. */
uint64_t hn_process_ns(const struct hn_thread *me)
{
    return hn_virtual_ns(me->next, me->block_end) - hn_c->idle_ns;
}
