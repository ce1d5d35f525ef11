/* Deterministic order: the baton.
 *
 * One thread runs; the others wait, each on its own futex. The holder passes the baton on when its
 * quantum is over or when it would block; the next thread in a first-in first-out queue gets it.
 * So the schedule is a function of the references alone, and is repeatable.
 *
 * Timed waits end by virtual time, which grows with the number of records (and jumps if no thread
 * can run), never by wall-clock time. Virtual time is slower than any machine records, so no wait
 * ends earlier than the program asked for.
 */
#include "hn.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    NS_PER_MS = 1000000,
    CHECK_NS = 20 * NS_PER_MS,      /* interval at which waiting threads check the holder */
    DYING_TRIES = 20000
};

uint64_t hn_virtual_ns(const struct hn_record *next, const struct hn_record *block_end)
{
    uint64_t records = (hn_c->blocks_done + 1) * hn_shared->block_records -
                       (uint64_t)(block_end - next);

    return records * HN_NS_PER_RECORD + hn_c->skipped_ns;
}

/* Makes a blocked thread ready: last in the queue for the baton. Locked. */
void hn_unblock(struct hn_thread *t, enum hn_woken why)
{
    hn_list_remove(&hn_c->blocked, t);
    t->woken = why;
    if (hn_logical) {
        hn_logical_wake(t, why);
        return;
    }
    t->deadline_ns = 0;
    t->state = HN_READY;
    hn_list_push(&hn_c->ready, t);
}

static struct hn_thread *earliest(void)
{
    struct hn_thread *best = NULL;

    for (struct hn_thread *t = hn_c->blocked.first; t != NULL; t = t->queue_next)
        if (t->deadline_ns != 0 && (best == NULL || t->deadline_ns < best->deadline_ns))
            best = t;
    return best;
}

/* Ends the timed waits that have expired, in order of their deadlines. Locked. */
static void expire(uint64_t now_ns)
{
    struct hn_thread *t;

    if (hn_c->timed == 0)
        return;
    while ((t = earliest()) != NULL && t->deadline_ns <= now_ns) {
        hn_c->timed--;
        hn_unblock(t, HN_BY_TIME);
    }
}

/* Locked. */
void hn_signal_go(struct hn_thread *t, uint32_t value)
{
    __atomic_store_n(&t->go, value, __ATOMIC_RELEASE);
    if (!hn_unpark(t))
        hn_futex(&t->go, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* Releases the baton. Locked. */
void hn_release_baton(struct hn_thread *me)
{
    if (hn_logical) {
        hn_logical_leave(me);
        return;
    }
    me->ran_ns += hn_virtual_ns(me->next, me->block_end) - me->turn_began_ns;
    hn_c->next = me->next;
    hn_c->block_end = me->block_end;
    hn_c->holder = NULL;
    me->next = me->limit = me->block_end = me->turn_start = NULL;
}

/* References of the next turn: a quantum, or with a seed 1 to less than two quanta, one on average.
 * The holder of the baton draws, so the draws are as repeatable as the turns. */
int64_t hn_turn(void)
{
    uint64_t x = hn_c->random;

    if (x == 0)
        return hn_c->quantum;
    /* xorshift64*: Vigna 2016. */
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    hn_c->random = x;
    return 1 + (int64_t)((x * UINT64_C(2685821657736338717) >> 16) %
                         (2 * (uint64_t)hn_c->quantum - 1));
}

/* Gives the baton, which is free, to `t`. Locked. */
void hn_take_baton(struct hn_thread *t)
{
    hn_c->holder = t;
    hn_c->switches++;
    if (hn_c->clock_watcher == t)
        hn_c->clock_watcher = NULL;
    t->state = HN_RUNNING;
    t->next = t->turn_start = hn_c->next;
    t->block_end = hn_c->block_end;
    t->turn_began_ns = hn_virtual_ns(t->next, t->block_end);
    t->turn_left = hn_turn();
    hn_set_limit(t);
}

/* Signals to `t` that it has the baton. Locked; `me` waits for its own turn next. */
void hn_hand_over(struct hn_thread *me, struct hn_thread *t)
{
    if (t == me)
        me->go = HN_GO;
    else if (!hn_set_successor(me, t))
        hn_signal_go(t, HN_GO);
}

/* The baton is free: gives it to the first thread in the queue. Locked; `me` waits for its own turn
 * next, or is null. */
void hn_dispatch(struct hn_thread *me)
{
    struct hn_thread *t;

    if (hn_logical) {
        hn_logical_dispatch(me);
        return;
    }
    if (hn_c->holder != NULL)
        return;
    if (hn_directed) {
        hn_direct(me);
        return;
    }
    expire(hn_virtual_ns(hn_c->next, hn_c->block_end));
    t = hn_c->ready.first;
    if (t != NULL) {
        hn_list_remove(&hn_c->ready, t);
        hn_take_baton(t);
        hn_hand_over(me, t);
        return;
    }
    t = earliest();
    if (t != NULL && hn_c->clock_watcher != t) {
        hn_c->clock_watcher = t;
        hn_signal_go(t, HN_GO_WATCH_CLOCK);
    }
}

/* One sleep, whatever ends it. A signal handler that runs while `waiting` is set wakes the thread
 * itself; an earlier one is noticed here. */
static long nap(struct hn_thread *me, const struct timespec *limit)
{
    long result = 0;

    __atomic_store_n(&me->waiting, 1, __ATOMIC_SEQ_CST);
    if (me->put_off == 0 || me->state != HN_BLOCKED) {
        result = hn_futex(&me->go, FUTEX_WAIT_PRIVATE, 0, limit);
        __atomic_store_n(&me->waiting, 0, __ATOMIC_SEQ_CST);
    } else {
        __atomic_store_n(&me->waiting, 0, __ATOMIC_SEQ_CST);
        hn_lock();
        hn_interrupt(me, HN_BY_SIGNAL);
        hn_unlock();
    }
    return result;
}

/* Time until the deadline of a thread. Locked. */
static uint64_t until_deadline_ns(const struct hn_thread *me)
{
    const uint64_t now_ns = hn_virtual_ns(hn_c->next, hn_c->block_end);

    if (hn_logical)
        return hn_logical_until_deadline_ns(me);
    return me->deadline_ns > now_ns ? me->deadline_ns - now_ns : 0;
}

/* No thread can run before this thread's deadline: waits in real time, then virtual time jumps. */
static void mind_clock(struct hn_thread *me)
{
    struct timespec wait;
    uint64_t gap_ns;
    int passed;

    hn_go_home(me);
    hn_lock();
    gap_ns = until_deadline_ns(me);
    if (me->go == HN_GO_WATCH_CLOCK)
        me->go = 0;
    hn_unlock();
    wait.tv_sec = (time_t)(gap_ns / HN_NS_PER_SECOND);
    wait.tv_nsec = (long)(gap_ns % HN_NS_PER_SECOND);
    passed = gap_ns == 0 || nap(me, &wait) == -ETIMEDOUT;
    hn_lock();
    if (hn_c->clock_watcher == me)
        hn_c->clock_watcher = NULL;
    if (hn_logical) {
        me->deadline_passed = passed;
        hn_dispatch(me);
        me->deadline_passed = 0;
    } else if (hn_c->holder == NULL && me->state == HN_BLOCKED) {
        gap_ns = passed ? until_deadline_ns(me) : 0;
        hn_c->skipped_ns += gap_ns;
        hn_c->idle_ns += gap_ns;
        hn_dispatch(me);
    }
    hn_unlock_for_successor(me);
}

/* Waits until an exiting thread is gone. */
void hn_await_death(int tid)
{
    for (int i = 0; tid != 0 && i < DYING_TRIES; i++) {
        if (hn_sys(SYS_tgkill, hn_c->pid, tid, 0, 0) != 0)
            return;
        hn_sys(SYS_sched_yield, 0, 0, 0, 0);
    }
}

/* The previous holder of the baton may be exiting: its last steps in the C library free memory, so
 * they must come before the next step of this thread. */
void hn_await_previous_holder(void)
{
    int tid = hn_c->dying_tid;

    hn_c->dying_tid = 0;
    hn_await_death(tid);
}

/* In directed order turns are short, and a time-out costs as much as a switch: only a few check. */
static int glances(const struct hn_thread *me)
{
    return !hn_directed || me->number < 2 || me->number + 1 == hn_c->slots_used;
}

static void doze(struct hn_thread *me)
{
    const struct timespec check_every = {0, CHECK_NS};

    if (hn_user_switching && !me->stays_home)
        hn_park(me);
    else if (nap(me, glances(me) ? &check_every : NULL) == -ETIMEDOUT)
        hn_watch();
}

/* Sleeps until the baton arrives. */
void hn_wait_turn(struct hn_thread *me)
{
    while (hn_c->order != 0) {
        uint32_t go = __atomic_load_n(&me->go, __ATOMIC_ACQUIRE);

        if (go == HN_GO)
            break;
        if (go == HN_GO_WATCH_CLOCK)
            mind_clock(me);
        else if (!hn_directed || !hn_await_list(me))
            doze(me);
    }
    me->go = 0;
    if (hn_c->order != 0)
        hn_await_previous_holder();
    if (hn_c->order != 0 && hn_logical) {
        hn_set_limit(me);
        hn_note_jump(me);
    }
}

/* Quantum over: every other ready thread goes first. */
void hn_yield(struct hn_thread *me)
{
    int saved_errno;

    me->in_runtime++;
    if (hn_yield_quickly(me)) {
        me->in_runtime--;
        return;
    }
    saved_errno = errno;
    hn_lock();
    expire(hn_virtual_ns(me->next, me->block_end));
    if (hn_c->ready.first == NULL && !hn_directed) {
        me->turn_left = hn_turn();
        me->turn_start = me->next;
        hn_set_limit(me);
        hn_unlock();
    } else {
        hn_release_baton(me);
        me->state = HN_READY;
        hn_list_push(&hn_c->ready, me);
        hn_dispatch(me);
        hn_unlock_for_successor(me);
        hn_wait_turn(me);
    }
    me->in_runtime--;
    errno = saved_errno;
}

/* Waits until `address` is woken for `class`, the virtual time-out (negative: none) is over, a
 * signal handler ran, or, where wait_cancellable is set, the thread is cancelled. */
enum hn_woken hn_block(struct hn_thread *me, const void *address, int class, int64_t timeout_ns)
{
    int saved_errno = errno;

    if (me->put_off != 0) {
        hn_run_pending(me);
        return HN_BY_SIGNAL;
    }
    if (hn_directed)
        hn_report_wait(me, address, class, timeout_ns);
    me->in_runtime++;
    hn_lock();
    me->wait_address = address;
    me->wait_class = class;
    me->woken = HN_BY_WAKE;
    if (hn_logical) {
        hn_logical_block(me, timeout_ns);
    } else if (timeout_ns >= 0 && !hn_directed) {
        me->deadline_ns = hn_virtual_ns(me->next, me->block_end) + (uint64_t)timeout_ns + 1;
        hn_c->timed++;
    }
    hn_release_baton(me);
    me->state = HN_BLOCKED;
    hn_list_push(&hn_c->blocked, me);
    hn_dispatch(me);
    hn_unlock_for_successor(me);
    hn_wait_turn(me);
    me->in_runtime--;
    if (hn_directed)
        hn_report_given_up(me, class);
    if (me->put_off != 0) {
        /* The signal may have come after the time-out: a thread that polls (fd_wait.c) would
         * continue to wait, and all other signals are blocked until QEMU delivers this one. */
        if (me->woken == HN_BY_TIME)
            me->woken = HN_BY_SIGNAL;
        hn_run_pending(me);
    }
    errno = saved_errno;
    return me->woken;
}

/* Ends a wait of any class. Any thread may call it. Locked. */
void hn_interrupt(struct hn_thread *t, enum hn_woken why)
{
    if (t->state != HN_BLOCKED)
        return;
    if (t->deadline_ns != 0)
        hn_c->timed--;
    hn_unblock(t, why);
    if (hn_directed)
        hn_note_stray(t, HN_RELEASED_AT);
    hn_dispatch(NULL);
}

/* Wakes the first `count` threads that wait for an address. Any thread may call it. */
int hn_wake(const void *address, int class, int count)
{
    struct hn_thread *me = hn_me;
    struct hn_thread *t, *after;
    int woken = 0;

    if (hn_c->order == 0 || hn_c->blocked.first == NULL)
        return 0;
    me->in_runtime++;
    hn_lock();
    for (t = hn_c->blocked.first; t != NULL && woken < count; t = after) {
        after = t->queue_next;
        if (t->wait_address != address || t->wait_class != class)
            continue;
        if (t->deadline_ns != 0)
            hn_c->timed--;
        hn_unblock(t, HN_BY_WAKE);
        if (hn_directed) {
            hn_c->keeps_lock = 1;
            hn_report_woken(me, t, class);
            hn_c->keeps_lock = 0;
        }
        woken++;
    }
    hn_dispatch(NULL);
    hn_unlock();
    if (HN_UNLIKELY(hn_c->order == 0))
        hn_stop_user_switching();     /* not possible while the lock was held */
    me->in_runtime--;
    return woken;
}

/* The thread goes outside: into a system call or foreign code that may block. */
void hn_leave(struct hn_thread *me)
{
    if (!hn_deterministic() || me->state != HN_RUNNING)
        return;
    hn_must_go_home(me);
    if (hn_directed)
        hn_fact(me, HN_EV_PAUSES, NULL, -1);
    me->in_runtime++;
    hn_lock();
    hn_release_baton(me);
    me->state = HN_OUTSIDE;
    hn_dispatch(NULL);
    hn_pass_on();
    hn_unlock();
    me->in_runtime--;
}

/* The thread returns from outside, or begins. */
void hn_enter(struct hn_thread *me)
{
    int saved_errno = errno;

    if (!hn_deterministic() || me->state != HN_OUTSIDE)
        return;
    me->in_runtime++;
    hn_lock();
    if (me->state != HN_OUTSIDE) {  /* the watchdog returned the baton meanwhile */
        hn_unlock();
        me->in_runtime--;
        return;
    }
    hn_shared->outside++;
    if (hn_logical) {
        hn_logical_enter(me);
    } else {
        me->state = HN_READY;
        hn_list_push(&hn_c->ready, me);
    }
    if (hn_directed)
        hn_note_stray(me, HN_RELEASED_AT);
    hn_dispatch(me);
    hn_unlock_for_successor(me);
    hn_wait_turn(me);
    me->in_runtime--;
    errno = saved_errno;
}

/* A new thread waits for its first turn. The caller, its creator, holds the baton. */
void hn_make_ready(struct hn_thread *t)
{
    hn_me->in_runtime++;
    hn_lock();
    if (hn_logical) {
        hn_logical_ready(t);
    } else {
        t->state = HN_READY;
        hn_list_push(&hn_c->ready, t);
    }
    hn_dispatch(NULL);
    hn_unlock();
    hn_me->in_runtime--;
}

/* The thread ends, or leaves the set of recorded threads. */
void hn_finish(struct hn_thread *me, enum hn_state left_as)
{
    me->in_runtime++;
    hn_me = &hn_no_thread;
    if (!hn_deterministic()) {
        me->state = left_as;
        me->limit = NULL;
        return;
    }
    hn_lock();
    if (me->state == HN_RUNNING)
        hn_release_baton(me);
    me->state = left_as;
    hn_dispatch(NULL);
    hn_pass_on();
    hn_unlock();
}
