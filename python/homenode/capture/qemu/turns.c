/* Turns in emulated code.
 *
 * A thread that waits for its turn in a callback of a reference is, for QEMU, in the middle of a
 * block of translated code. Sometimes QEMU needs all its processors out of translated code: to
 * discard the code (at the first clone, and when its buffer is full), to fork, to perform an
 * operation that is not atomic on the host, and to exit. The thread that has the turn then waits on
 * a condition variable until the others have left their code, which would be a deadlock if they
 * wait for their turns.
 *
 * So that wait is interposed. The thread that has the turn lends it to every thread that waits in a
 * block, one after the other; QEMU has asked each to leave its code at the end of the block, and
 * where it would then wait for the others (or begins a system call) it returns the turn. Time and
 * order of this depend only on the program, so recordings are repeatable.
 */
#include "guest.h"

#include <dlfcn.h>
#include <errno.h>

enum { LOOK_AGAIN_NS = 1000000, OWN_STACK_BYTES = 1 << 16 };

static struct hn_thread *lender;

/* After something was recorded: room for the next record, and the end of the turn if it is over and
 * may end here. The thread runs, and is not in a block. */
void settle(struct hn_thread *me)
{
    if (hn_c->order == 0 || me->state != HN_RUNNING)
        return;
    if (HN_UNLIKELY(hn_signals_deferred))
        deliver_deferred_signals(me);
    me->in_runtime++;
    if (me->next >= me->block_end)
        hn_next_block(me);
    if (hn_c->order != 0 && me->turn_left <= me->next - me->turn_start) {
        if (!hn_deterministic())
            hn_stamp(me);
        else if (me->no_yield == 0 && !guest_of(me)->draining)
            hn_yield(me);
        if (hn_c->order != 0 && me->next >= me->block_end)
            hn_next_block(me);
    }
    if (hn_c->order != 0) {
        hn_set_limit(me);
        if (me->limit == me->next)
            me->limit = me->next + 1;
    }
    me->in_runtime--;
}

/* The thread may give its turn away in the middle of a block, and take the next on any kernel
 * thread (deferred_signals.c), unless a signal has come that it will find when it leaves the
 * block. */
static void in_block(struct hn_thread *me, void (*give)(struct hn_thread *))
{
    struct guest *g = guest_of(me);
    const uint64_t before = hn_instructions;

    g->in_block = 1;
    if (!hn_signals_deferred)
        me->stays_home = 0;
    give(me);
    g->in_block = 0;
    hn_mark += hn_instructions - before;
}

/* As `settle`, in the middle of a block. */
void yield_in_block(struct hn_thread *me)
{
    in_block(me, settle);
}

static void await_exact_turn(struct hn_thread *me)
{
    while (!guest_of(me)->draining && !hn_is_exact(me))
        hn_yield(me);
}

/* In directed order, before a reference that synchronises. */
void exact_turn_in_block(struct hn_thread *me)
{
    in_block(me, await_exact_turn);
}

/* Returns the turn to the thread that lent it, and waits for the next. */
void park(struct hn_thread *me)
{
    struct guest *g = guest_of(me);
    const uint64_t before = hn_instructions;

    me->in_runtime++;
    hn_lock();
    g->draining = 0;
    hn_release_baton(me);
    me->state = HN_READY;
    hn_list_push(&hn_c->ready, me);
    hn_take_baton(lender);
    hn_signal_go(lender, HN_GO);
    hn_unlock();
    hn_wait_turn(me);
    me->in_runtime--;
    hn_mark += hn_instructions - before;
    settle(me);
    count_again();
}

static struct hn_thread *next_in_block(void)
{
    struct hn_thread *t = hn_c->ready.first;

    while (t != NULL && !guest_of(t)->in_block)
        t = t->queue_next;
    return t;
}

/* Lends the turn to every thread that waits in a block; returns their number. */
int lend(struct hn_thread *me)
{
    const int64_t left = me->turn_left - (me->next - me->turn_start);
    int count = 0;

    me->in_runtime++;
    for (; hn_c->order != 0; count++) {
        struct hn_thread *t;

        hn_lock();
        t = next_in_block();
        if (t == NULL) {
            hn_unlock();
            break;
        }
        hn_list_remove(&hn_c->ready, t);
        if (me->next >= me->block_end)
            hn_next_block(me);
        hn_release_baton(me);
        me->state = HN_OUTSIDE;
        lender = me;
        guest_of(t)->draining = 1;
        hn_take_baton(t);
        hn_signal_go(t, HN_GO);
        hn_unlock();
        hn_wait_turn(me);
        if (hn_directed) {      /* the simulation determines the length of the turn */
            me->turn_left = left;
            hn_set_limit(me);
        }
    }
    me->in_runtime--;
    return count;
}

typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);

static int really_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    static wait_function *real;

    if (real == NULL)
        real = (wait_function *)dlsym(RTLD_NEXT, "pthread_cond_wait");
    return real(condition, mutex);
}

/* A condition variable on the caller's stack is that of a new thread, which begins without a
 * turn. */
static int is_own(const void *condition)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    return (uintptr_t)condition - here < OWN_STACK_BYTES;
}

/* QEMU waits. It checks its condition again whenever this returns. */
HN_EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct hn_thread *me = hn_me;
    struct timespec soon;
    int lent;

    if (me == &hn_no_thread && guest_thread_is_new()) {
        pthread_mutex_unlock(mutex);
        guest_thread_wants_all();
        pthread_mutex_lock(mutex);
        return 0;
    }
    if (!recording(me) || !hn_deterministic() || me->in_runtime || is_own(condition) ||
        me->state != HN_RUNNING)
        return really_wait(condition, mutex);
    pthread_mutex_unlock(mutex);
    if (guest_of(me)->draining) {
        park(me);
        pthread_mutex_lock(mutex);
        return 0;
    }
    const uint64_t before = hn_instructions;

    lent = lend(me);
    hn_mark += hn_instructions - before;
    settle(me);
    count_again();
    pthread_mutex_lock(mutex);
    if (lent == 0) {
        hn_sys(SYS_clock_gettime, CLOCK_REALTIME, (long)&soon, 0, 0);
        soon.tv_nsec += LOOK_AGAIN_NS;
        if (soon.tv_nsec >= HN_NS_PER_SECOND) {
            soon.tv_nsec -= HN_NS_PER_SECOND;
            soon.tv_sec++;
        }
        pthread_cond_timedwait(condition, mutex, &soon);
    }
    return 0;
}
