/* Logical order: the order of operations.
 *
 * Threads run in parallel, each with a ring of its own, and count their references: the logical
 * clock. An operation by which threads can affect one another (a lock, an atomic operation, an
 * allocation, a write) is performed by the thread whose clock, in quanta, is least of all that run
 * or wait for their turn, ties by thread number, as in Kendo (Olszewski, Ansel and Amarasinghe,
 * ASPLOS 2009). A blocked thread holds no other up; it resumes with a clock after that of the
 * thread that ended its wait. So for a program without data races the order of the operations is a
 * function of the references alone, and so are each thread's actions between them. With larger
 * quanta a thread can perform several operations in one turn.
 *
 * A thread that is not the first sleeps. It asks the threads behind it to check for it when they
 * have passed it, by lowering the limit with which their hooks compare anyway: there is no cost
 * while no thread waits.
 *
 * A turn ends with the next plain reference; the thread does not signal it, because its clock shows
 * it, and the thread that is first then takes the turn.
 */
#include "hn.h"

#include <errno.h>

enum { READS_MAX = 4, REPEATS_FREE = 4, REPEATS_SHIFT_MAX = 9 };

int hn_logical;

/* A limit below all records, so that the next hook takes the slow path; not null, which would mean
 * that the thread is not recorded. */
static struct hn_record *const look_up = (struct hn_record *)sizeof(struct hn_record);

/* The clock of the calling thread. */
uint64_t hn_clock(const struct hn_thread *me)
{
    return me->clock + (uint64_t)(me->next - me->turn_start);
}

/* The parts of the clock are going to change: until the end of it others see the old clock. */
void hn_clock_write_begin(struct hn_thread *me)
{
    if (me->hidden++ != 0)
        return;
    __atomic_store_n(&me->published, hn_clock(me), __ATOMIC_RELEASE);
    __atomic_store_n(&me->version, me->version + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void hn_clock_write_end(struct hn_thread *me)
{
    if (--me->hidden == 0)
        __atomic_store_n(&me->version, me->version + 1, __ATOMIC_RELEASE);
}

/* A lower bound of the clock of a thread that may be running. */
uint64_t hn_clock_of_other(const struct hn_thread *t)
{
    for (int i = 0; i < READS_MAX; i++) {
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

/* Sets the limit, from the room in the block and from the clock at which others wait for this
 * thread. They lower `stop` first and the limit afterwards, so one of the two sides sees the
 * other. */
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

/* Makes a thread take the slow path when its clock is `at`. Locked. */
static void ask(struct hn_thread *t, uint64_t at)
{
    if (t->stop <= at)
        return;
    __atomic_store_n(&t->stop, at, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->limit, look_up, __ATOMIC_SEQ_CST);
}

/* Whether it waits for its turn, or for its deadline. */
static int is_waiting(const struct hn_thread *t)
{
    return t->state == HN_READY || (t->state == HN_BLOCKED && t->deadline_clock != 0);
}

/* Clock at which `t` has passed a waiting thread: the end of that thread's quantum, or its
 * beginning if `t` has the larger number. */
static uint64_t passes(const struct hn_thread *t, const struct hn_thread *waits)
{
    return (waits->turn + (t->number < waits->number)) * hn_c->quantum;
}

/* The first of the waiting threads, or null. Locked. */
static struct hn_thread *first_waiting(void)
{
    struct hn_thread *best = NULL;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        struct hn_thread *t = &hn_slots[i];

        /* In the order of the numbers, so the first of equal turns remains. */
        if (is_waiting(t) && (best == NULL || t->turn < best->turn))
            best = t;
    }
    return best;
}

/* Whether the holder of the turn has made a reference since its operation. */
static int is_over(const struct hn_thread *holder)
{
    return holder->state != HN_RUNNING || hn_clock_of_other(holder) > holder->op_clock;
}

/* Whether `waits`, the first of the waiting threads, waits for no running thread; running threads
 * that it waits for are asked to check when they have passed it. Locked. */
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
        if (hn_clock_of_other(t) < at)
            ask(t, at);
        else if (t == holder && !is_over(t))
            ask(t, 0);
        else
            continue;
        may = 0;
    }
    return may;
}

/* The clock at which the others wait for the thread again. Locked. */
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

/* The thread that `waits` waits for, or null. Locked. */
static struct hn_thread *obstacle(const struct hn_thread *waits)
{
    struct hn_thread *holder = hn_c->holder;

    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        struct hn_thread *t = &hn_slots[i];

        if (t->state == HN_RUNNING && t != waits &&
            (hn_clock_of_other(t) < passes(t, waits) || (t == holder && !is_over(t))))
            return t;
    }
    return NULL;
}

struct hn_thread *hn_first_obstacle(void)
{
    const struct hn_thread *waits = first_waiting();

    return waits == NULL ? NULL : obstacle(waits);
}

static int no_thread_runs(void)
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

/* Gives the first of the waiting threads its turn, if it has come. Locked; `me` is not woken. */
void hn_logical_dispatch(struct hn_thread *me)
{
    struct hn_thread *t = first_waiting();

    if (t == NULL || !may_go(t))
        return;
    if (t->state == HN_BLOCKED && !t->deadline_passed && no_thread_runs()) {
        if (hn_c->clock_watcher != t) {
            hn_c->clock_watcher = t;
            if (t == me)
                me->go = HN_GO_WATCH_CLOCK;
            else
                hn_signal_go(t, HN_GO_WATCH_CLOCK);
        }
        return;
    }
    if (t->state == HN_BLOCKED)
        hn_unblock(t, HN_BY_TIME);
    if (hn_c->clock_watcher == t)
        hn_c->clock_watcher = NULL;
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

/* Waits for the turn. The thread keeps it until its next plain reference; a signal handler in the
 * middle of the operation does not end it. */
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
    hn_await_previous_holder();
    me->in_runtime--;
    if (me->put_off != 0)
        me->limit = me->next;
    errno = saved_errno;
}

/* Whether a copy may be part of the thread's operation: in a static program the C library's own
 * calls of memcpy and its family are recorded. */
int hn_in_library(const struct hn_thread *me)
{
#ifdef HN_STATIC
    return hn_logical && me->no_yield && hn_c->holder == me && me->op_clock == hn_clock(me);
#else
    (void)me;
    return 0;
#endif
}

/* In a hook, at a plain reference: the turn is over, and others may have waited for that. */
void hn_leave_turn(struct hn_thread *me)
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

/* The least clock of `t` that is ordered after `clock` of `other`. */
uint64_t hn_after(const struct hn_thread *t, const struct hn_thread *other, uint64_t clock)
{
    return t->number > other->number ? clock : (clock / hn_c->quantum + 1) * hn_c->quantum;
}

/* Advances the clock without references. */
void hn_jump(struct hn_thread *me, uint64_t references)
{
    hn_clock_write_begin(me);
    me->clock += references;
    hn_clock_write_end(me);
    me->jumped = 1;
    me->waker = 0;
}

/* Writes the present clock into the ring. */
void hn_note_jump(struct hn_thread *me)
{
    const uint64_t words[4] = {me->waker, 0, hn_clock(me), 0};

    if (!me->jumped)
        return;
    me->jumped = me->waker = 0;
    hn_event_words(me, HN_EV_CLOCK, words, 1);
}

/* An event begins an operation. If the clock is at the beginning of a quantum, writes to the ring
 * that the event is in it; else it is in the quantum of the reference before it. */
void hn_note_turn(struct hn_thread *me)
{
    me->fresh = 0;
    if (hn_clock(me) % hn_c->quantum == 0)
        me->jumped = 1;
    hn_note_jump(me);
}

/* A thread that repeats one operation polls for another thread: its clock advances faster and
 * faster, or the two would take turns at every poll. */
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

/* A reference that is an operation, or that an operation of the runtime makes. */
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
