/* Logical order: whose operation is next.
 *
 * Threads run in parallel, each with a ring of its own, and count their references: the logical
 * clock. An operation by which threads can affect one another (a lock, an atomic operation, an
 * allocation, a write) is performed by the thread whose clock, in quanta, is least of all that run
 * or wait for their turn, ties by thread number, as in Kendo (Olszewski, Ansel and Amarasinghe,
 * ASPLOS 2009). A blocked thread holds nobody up; it goes on with a clock that comes after that of
 * the thread that ended its wait. So for a program without data races the order of the operations
 * is a function of the references alone, and so is what each thread does between them. With larger
 * quanta a thread that has many operations has several in one turn.
 *
 * A thread that is not the first sleeps. It asks those behind it to look up when they have passed
 * it, by lowering the limit with which their hooks compare anyway: nobody pays while nobody waits.
 *
 * A turn ends with the next reference that is no operation; the thread need not say so, because its
 * clock does, and whoever is first then takes the turn from it.
 */
#include "hn.h"

#include <errno.h>

enum { GLANCES = 4, REPEATS_FREE = 4, REPEATS_SHIFT_MAX = 9 };

int hn_logical;

/* Below all records, so that the next hook takes the slow path; not null, which means that the
 * thread is not recorded. */
static struct hn_record *const look_up = (struct hn_record *)sizeof(struct hn_record);

/* The clock, to its own thread. */
uint64_t hn_clock(const struct hn_thread *me)
{
    return me->clock + (uint64_t)(me->next - me->turn_start);
}

/* What the clock is made of is going to change: others see it as it was. */
void hn_hide(struct hn_thread *me)
{
    if (me->hidden++ != 0)
        return;
    __atomic_store_n(&me->published, hn_clock(me), __ATOMIC_RELEASE);
    __atomic_store_n(&me->version, me->version + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void hn_show(struct hn_thread *me)
{
    if (--me->hidden == 0)
        __atomic_store_n(&me->version, me->version + 1, __ATOMIC_RELEASE);
}

/* The clock of a thread that may be running: never more than it is. */
uint64_t hn_glance(const struct hn_thread *t)
{
    for (int i = 0; i < GLANCES; i++) {
        const uint32_t before = __atomic_load_n(&t->version, __ATOMIC_ACQUIRE);
        uint64_t clock;

        if ((before & 1) != 0)
            break;
        clock = __atomic_load_n(&t->clock, __ATOMIC_RELAXED) +
                (uint64_t)(__atomic_load_n(&t->next, __ATOMIC_ACQUIRE) -
                           __atomic_load_n(&t->turn_start, __ATOMIC_RELAXED));
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&t->version, __ATOMIC_RELAXED) == before)
            return clock;
    }
    return __atomic_load_n(&t->published, __ATOMIC_ACQUIRE);
}

/* The limit, from the room in the block and from when others wait for this thread. They lower
 * `stop` first and the limit afterwards, so one of the two sides sees the other. */
void hn_set_stop(struct hn_thread *me)
{
    uint64_t stop;

    do {
        const uint64_t clock = hn_clock(me);
        const uint64_t room = (uint64_t)(me->block_end - me->next);
        uint64_t left;

        stop = __atomic_load_n(&me->stop, __ATOMIC_SEQ_CST);
        left = stop > clock ? stop - clock : 0;
        __atomic_store_n(&me->limit, me->next + (left < room ? left : room), __ATOMIC_SEQ_CST);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&me->stop, __ATOMIC_SEQ_CST) != stop);
}

/* Has a thread look up when its clock is `at`. Locked. */
static void ask(struct hn_thread *t, uint64_t at)
{
    if (t->stop <= at)
        return;
    __atomic_store_n(&t->stop, at, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->limit, look_up, __ATOMIC_SEQ_CST);
}

/* Whether it waits for its turn, or for its clock's time. */
static int is_waiting(const struct hn_thread *t)
{
    return t->state == HN_READY || (t->state == HN_BLOCKED && t->deadline_clock != 0);
}

/* Clock at which `t` has passed a thread that waits: at the end of that one's quantum, or at its
 * beginning if `t` has the larger number. */
static uint64_t passes(const struct hn_thread *t, const struct hn_thread *waits)
{
    return (waits->turn + (t->number < waits->number)) * hn_c->quantum;
}

/* The first of those that wait, or null. Locked. */
static struct hn_thread *first_waiting(void)
{
    struct hn_thread *best = NULL;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        struct hn_thread *t = &hn_slots[i];

        /* In the order of the numbers, so of equal turns the first stays. */
        if (is_waiting(t) && (best == NULL || t->turn < best->turn))
            best = t;
    }
    return best;
}

/* Whether the holder of the turn has made a reference since its operation. */
static int is_over(const struct hn_thread *holder)
{
    return holder->state != HN_RUNNING || hn_glance(holder) > holder->op_clock;
}

/* Whether no thread that runs stands in the way of `waits`, which is the first of those that wait;
 * those that do are asked to look up when they have passed it. Locked. */
static int may_go(struct hn_thread *waits)
{
    struct hn_thread *holder = hn_c->holder;
    int may = 1;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        struct hn_thread *t = &hn_slots[i];
        uint64_t at;

        if (t->state != HN_RUNNING || t == waits)
            continue;
        at = passes(t, waits);
        if (hn_glance(t) < at)
            ask(t, at);
        else if (t == holder && !is_over(t))
            ask(t, 0);
        else
            continue;
        may = 0;
    }
    return may;
}

/* When the others want a thread to look up again. Locked. */
static uint64_t next_stop(const struct hn_thread *me)
{
    const uint64_t clock = hn_clock(me);
    uint64_t stop = UINT64_MAX;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        const struct hn_thread *t = &hn_slots[i];

        if (t != me && is_waiting(t) && passes(me, t) > clock && passes(me, t) < stop)
            stop = passes(me, t);
    }
    return stop;
}

/* Who makes the wait of `waits` last, or null. Locked. */
static struct hn_thread *obstacle(const struct hn_thread *waits)
{
    struct hn_thread *holder = hn_c->holder;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        struct hn_thread *t = &hn_slots[i];

        if (t->state == HN_RUNNING && t != waits &&
            (hn_glance(t) < passes(t, waits) || (t == holder && !is_over(t))))
            return t;
    }
    return NULL;
}

struct hn_thread *hn_in_the_way(void)
{
    const struct hn_thread *waits = first_waiting();

    return waits == NULL ? NULL : obstacle(waits);
}

static int nobody_runs(void)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (hn_slots[i].state == HN_RUNNING || hn_slots[i].state == HN_READY)
            return 0;
    return 1;
}

static void hold_turn(struct hn_thread *t)
{
    if (hn_c->holder != t)
        hn_c->switches++;
    hn_c->holder = t;
    t->op_clock = hn_clock(t);
    t->turn_end = (t->op_clock / hn_c->quantum + 1) * hn_c->quantum;
    t->fresh = 1;
}

/* Gives the first of those that wait its turn, if it has come. Locked; `me` needs no call. */
void hn_logical_dispatch(struct hn_thread *me)
{
    struct hn_thread *t = first_waiting();

    if (t == NULL || !may_go(t))
        return;
    if (t->state == HN_BLOCKED && !t->minded && nobody_runs()) {
        if (hn_c->clock_minder != t) {
            hn_c->clock_minder = t;
            if (t == me)
                me->go = HN_GO_MIND_CLOCK;
            else
                hn_signal_go(t, HN_GO_MIND_CLOCK);
        }
        return;
    }
    if (t->state == HN_BLOCKED)
        hn_unblock(t, HN_BY_TIME);
    if (hn_c->clock_minder == t)
        hn_c->clock_minder = NULL;
    t->state = HN_RUNNING;
    hold_turn(t);
    __atomic_store_n(&t->stop, next_stop(t), __ATOMIC_SEQ_CST);
    if (t == me)
        me->go = HN_GO;
    else
        hn_signal_go(t, HN_GO);
    t = first_waiting();
    if (t != NULL)
        may_go(t);
}

static int is_first(struct hn_thread *me)
{
    me->turn = me->published / hn_c->quantum;
    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        const struct hn_thread *t = &hn_slots[i];

        if (t != me && is_waiting(t) && me->published >= passes(me, t))
            return 0;
    }
    return 1;
}

/* Waits until the thread is the first: for its turn. It keeps it until its next reference that is
 * no operation, and a signal handler in the middle of the operation keeps it for it. */
void hn_take_turn(struct hn_thread *me)
{
    const int saved_errno = errno;

    if (hn_c->order == 0 ||
        (hn_c->holder == me && (me->op_clock == UINT64_MAX ||
                                (me->op_clock == hn_clock(me) && me->op_clock < me->turn_end))))
        return;
    me->in_runtime++;
    hn_lock();
    if (me->state != HN_RUNNING) {      /* the watchdog */
        hn_unlock();
        me->in_runtime--;
        hn_enter(me);
        return;
    }
    __atomic_store_n(&me->published, hn_clock(me), __ATOMIC_RELEASE);
    if (is_first(me) && may_go(me)) {
        hold_turn(me);
        hn_unlock();
    } else {
        if (hn_c->holder == me)
            hn_c->holder = NULL;
        me->state = HN_READY;
        may_go(me);
        hn_logical_dispatch(me);
        hn_unlock();
        hn_wait_turn(me);
    }
    hn_let_it_die();
    me->in_runtime--;
    if (me->put_off != 0)
        me->limit = me->next;
    errno = saved_errno;
}

/* Whether what the thread copies now may be part of its operation: in a static program the C
 * library's own calls of memcpy and its family are recorded. */
int hn_in_library(const struct hn_thread *me)
{
#ifdef HN_STATIC
    return hn_logical && me->no_yield && hn_c->holder == me && me->op_clock == hn_clock(me);
#else
    (void)me;
    return 0;
#endif
}

/* In a hook, at a reference that is no operation: the turn is over, others may have waited. */
void hn_look(struct hn_thread *me)
{
    hn_lock();
    if (me->state == HN_RUNNING) {
        __atomic_store_n(&me->published, hn_clock(me), __ATOMIC_RELEASE);
        if (hn_c->holder == me && me->op_clock != UINT64_MAX && !hn_in_library(me))
            hn_c->holder = NULL;
        hn_logical_dispatch(me);
        __atomic_store_n(&me->stop, next_stop(me), __ATOMIC_SEQ_CST);
    }
    hn_unlock();
}

/* The least clock with which `t` comes after what `other` does at its clock. */
uint64_t hn_after(const struct hn_thread *t, const struct hn_thread *other, uint64_t clock)
{
    return t->number > other->number ? clock : (clock / hn_c->quantum + 1) * hn_c->quantum;
}

/* The clock moves on without references. */
void hn_jump(struct hn_thread *me, uint64_t references)
{
    hn_hide(me);
    me->clock += references;
    hn_show(me);
    me->jumped = 1;
    me->waker = 0;
}

/* Says in the ring what the clock is now. */
void hn_note_jump(struct hn_thread *me)
{
    const uint64_t words[4] = {me->waker, 0, hn_clock(me), 0};

    if (!me->jumped)
        return;
    me->jumped = me->waker = 0;
    hn_event_words(me, HN_EV_CLOCK, words, 1);
}

/* An event begins an operation. If the clock is at the beginning of a quantum, the ring says that
 * the event is in that one; else it is in that of the reference before it. */
void hn_note_turn(struct hn_thread *me)
{
    me->fresh = 0;
    if (hn_clock(me) % hn_c->quantum == 0)
        me->jumped = 1;
    hn_note_jump(me);
}

/* Who does the same operation over and over waits for somebody: its clock moves faster and faster,
 * or the two would take turns at every look. */
static void spread(struct hn_thread *me, const volatile void *address)
{
    if (address != me->repeats || me->op_clock != hn_clock(me)) {
        me->repeats = address;
        me->repeated = 0;
        return;
    }
    if (++me->repeated <= REPEATS_FREE)
        return;
    if (me->repeated > REPEATS_FREE + REPEATS_SHIFT_MAX)
        me->repeated = REPEATS_FREE + REPEATS_SHIFT_MAX;
    hn_jump(me, UINT64_C(1) << (me->repeated - REPEATS_FREE));
    hn_note_jump(me);
}

/* A reference that is an operation, or the one that an operation of the runtime makes. */
void hn_ref_in_turn(const volatile void *address, uint64_t what, uintptr_t pc)
{
    struct hn_thread *me = hn_me;
    const uint64_t low = 0xffffffffffff;

    if (me->state == HN_UNUSED || me->in_runtime || hn_c->order == 0) {
        hn_ref(address, what, pc);
        return;
    }
    if (me->state != HN_RUNNING)
        hn_enter(me);
    if (me->put_off != 0)
        hn_run_pending(me);
    if (me->cancelled_anywhere)
        pthread_testcancel();
    if (me->op_clock != UINT64_MAX)
        spread(me, address);
    hn_take_turn(me);
    if (hn_c->order == 0 || me->state != HN_RUNNING)
        return;
    if ((what >> HN_SYNC_BIT & 1) == 0)
        what |= UINT64_C(1) << HN_ORDERED_BIT;
    me->in_runtime++;
    hn_put(me, ((uintptr_t)address & low) | what, (pc & low) | me->tag);
    if (me->op_clock != UINT64_MAX)
        me->op_clock = hn_clock(me);
    me->fresh = 0;
    me->in_runtime--;
}
