/* Logical order: begin, waits and end of threads; see logical.c.
 *
 * Time advances by 10 ns a reference of the calling thread. A timed wait ends when the first of the
 * others has a clock beyond its deadline, so it is handled as a wait for the turn.
 */
#include "hn.h"

static struct hn_ring_line *line_of(const struct hn_thread *t)
{
    return (struct hn_ring_line *)((char *)hn_shared + HN_RING_LINES_AT) + t->ring;
}

/* Sets the floor of a thread's ring, by which the recorder decides whether it must wait for more
 * records of the thread before it merges the others. */
static void set_floor(struct hn_thread *t, uint64_t floor)
{
    struct hn_ring_line *line = line_of(t);

    __atomic_store_n(&line->floor, floor, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&line->changes, 1, __ATOMIC_SEQ_CST);
}

void hn_close_ring(struct hn_thread *t, uint64_t floor)
{
    set_floor(t, floor == 0 ? UINT64_MAX : floor);
}

/* The largest clock of all threads. Locked. */
static uint64_t latest(void)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        const struct hn_thread *t = &hn_slots[i];
        const uint64_t clock = t->state == HN_RUNNING ? hn_clock_of_other(t) : t->published;

        if (clock > most)
            most = clock;
    }
    return most;
}

/* Sets the clock of a thread that does not run and will wait for its turn. */
static void resume(struct hn_thread *t, uint64_t clock, uint32_t waker)
{
    t->clock = clock > t->published ? clock : t->published;
    t->turn = t->clock / hn_c->quantum;
    t->turn_start = t->next;
    __atomic_store_n(&t->published, t->clock, __ATOMIC_RELEASE);
    t->jumped = 1;
    t->waker = waker;
    t->deadline_clock = 0;
    t->state = HN_READY;
    set_floor(t, 0);
}

/* Called when a slot is taken. */
void hn_logical_start(struct hn_thread *t)
{
    t->stop = UINT64_MAX;
    t->deadline_clock = 0;
    t->repeats = NULL;
    t->op_clock = 0;
    t->jumped = t->waker = 0;
    hn_close_ring(t, 0);
}

/* Called when the first thread runs. */
void hn_logical_first(struct hn_thread *me)
{
    set_floor(me, 0);
}

/* A new thread, made by the caller, waits for its first turn. Locked. */
void hn_logical_ready(struct hn_thread *t)
{
    resume(t, hn_after(t, hn_me, hn_clock(hn_me)), hn_me->number + 1);
}

/* Called before the thread is blocked. Locked. */
void hn_logical_block(struct hn_thread *me, int64_t timeout_ns)
{
    me->deadline_clock =
        timeout_ns < 0 ? 0 : hn_clock(me) + (uint64_t)timeout_ns / HN_NS_PER_RECORD + 1;
    me->turn = me->deadline_clock / hn_c->quantum;
}

/* Ends a wait. Locked. */
void hn_logical_wake(struct hn_thread *t, enum hn_woken why)
{
    const struct hn_thread *me = hn_me;

    if (why == HN_BY_TIME) {
        resume(t, t->deadline_clock, 0);
    } else if (me != t && me->state == HN_RUNNING && hn_c->holder == me) {
        resume(t, hn_after(t, me, hn_clock(me)), me->number + 1);
    } else {
        hn_shared->signals++;
        resume(t, hn_after(t, t, latest()), 0);
    }
}

/* The thread no longer runs. Locked. */
void hn_logical_leave(struct hn_thread *me)
{
    __atomic_store_n(&me->published, hn_clock(me), __ATOMIC_RELEASE);
    if (hn_c->holder == me)
        hn_c->holder = NULL;
    me->limit = NULL;
    hn_close_ring(me, me->deadline_clock);
}

/* The thread returns from outside, at a time that the order does not determine. Locked. */
void hn_logical_enter(struct hn_thread *me)
{
    resume(me, hn_after(me, me, latest()), 0);
}

/* Time from the largest clock to the deadline of a thread. Locked. */
uint64_t hn_logical_until_deadline_ns(const struct hn_thread *me)
{
    const uint64_t now = latest();

    return me->deadline_clock > now ? (me->deadline_clock - now) * HN_NS_PER_RECORD : 0;
}

/* Orders all earlier operations on an object before all later ones. */
void hn_sync_mark(struct hn_thread *me, const void *object)
{
    if (hn_logical)
        hn_event(me, HN_EV_SYNC, (uintptr_t)object, 0);
}
