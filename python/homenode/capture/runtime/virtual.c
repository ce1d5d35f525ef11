/* Time, in deterministic order. The program's clocks show the second it was started in plus virtual
 * time, so what it computes from differences repeats, and deadlines mean the same to it and to the
 * scheduler. Reading a clock takes a little time too: a program may poll it to wait. A whole
 * second, because programs round: with the nanoseconds of the start, a loop that ends when a
 * millisecond is over would run once more in some runs. What depends on the date itself, such as a
 * seed from time(), differs from second to second.
 *
 * In free order the system's answers are passed on. So are those of the clocks of processor time,
 * but for that of a thread where threads take turns, and for all of programs in an emulator: they
 * show the virtual time of the thread's turns.
 */
#include "hn.h"

#include <sys/syscall.h>

enum { NS_PER_LOOK = 1000, NS_PER_SIMULATED_LOOK = 50, RECORDS_PER_LOOK = 4, NS_PER_GLANCE = 100 };

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

/* For programs that are to see the same date in every recording. */
void hn_clock_fix(void)
{
    const uint64_t new_year_2026_s = 1767225600;

    for (clockid_t clock = 0; clock < HN_CLOCKS; clock++)
        start_ns[clock] = hn_is_virtual(clock) ? new_year_2026_s * HN_NS_PER_SECOND : 0;
}

/* What a clock shows before anything has run. */
uint64_t hn_clock_start_ns(clockid_t clock)
{
    return start_ns[clock];
}

/* Nanoseconds a clock shows to the thread that holds the baton. */
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
    /* Years from now: no need to count. */
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
    hn_jump(me, NS_PER_LOOK / HN_NS_PER_RECORD);
    hn_note_jump(me);
    *ns = shown_ns(me, clock);
    /* Who reads the clock to wait makes no references that would tell the others. */
    return me->next < me->limit || hn_slow(me) != NULL;
}

/* Reading the clock takes time, and uses up some of the turn. */
int hn_look_at_clock(clockid_t clock, uint64_t *ns)
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
            hn_block(me, me, HN_W_TIME, NS_PER_SIMULATED_LOOK);
        *ns = shown_ns(me, clock);
        return hn_c->order != 0;
    }
    hn_c->skipped_ns += NS_PER_LOOK;
    me->turn_left -= RECORDS_PER_LOOK;
    if (me->turn_left <= me->next - me->turn_start && hn_slow(me) == NULL)
        return 0;
    *ns = shown_ns(me, clock);
    return 1;
}

/* Reading the clock inside an operation, where the turn must not end. */
uint64_t hn_glance_at_clock(struct hn_thread *me, clockid_t clock)
{
    if (hn_logical)
        return shown_ns(me, clock);
    /* In directed order time stands still within a turn, in which the program may look until it is
     * late enough. */
    if (hn_directed)
        me->simulated_ns += NS_PER_GLANCE;
    else
        hn_c->skipped_ns += NS_PER_GLANCE;
    me->turn_left--;
    hn_set_limit(me);
    if (me->limit == me->next)
        me->limit = me->next + 1;
    return shown_ns(me, clock);
}

/* How long a thread has run, in virtual time. The caller has the baton. */
uint64_t hn_thread_ns(const struct hn_thread *t)
{
    if (t->state != HN_RUNNING)
        return t->ran_ns;
    return t->ran_ns + hn_virtual_ns(t->next, t->block_end) - t->turn_began_ns;
}

/* How long any thread has: only one runs at a time. */
uint64_t hn_process_ns(const struct hn_thread *me)
{
    return hn_virtual_ns(me->next, me->block_end) - hn_c->idle_ns;
}
