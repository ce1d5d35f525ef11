/* Futexes: the only objects on which a thread waits in the kernel for another thread.
 *
 * In deterministic order a thread does not sleep in the kernel: it waits here, where the one that
 * wakes it finds it, in the place of QEMU's call (syscall_dispatch.c). Where that is impossible the
 * kernel is asked afterwards, for an answer that comes at once. Such an answer is "the word has
 * changed" (or "time is up"): a caller cannot know that it slept before, and must be ready for it.
 * If the word has not changed, it is made to, for the length of the call: no other thread runs
 * then.
 */
#include "guest.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>

enum { SHARED_LOOK_AGAIN_NS = 1000000 };

static int word_is(uint64_t word, uint32_t value)
{
    uint32_t found;

    return peek(word, &found, sizeof found) && found == value;
}

/* Nanoseconds until the time-out; negative: none. */
static int64_t limit_ns(int op, uint64_t timeout)
{
    struct timespec t;
    int64_t ns;

    if (timeout == 0 || !peek(timeout, &t, sizeof t))
        return -1;
    if ((op & FUTEX_CMD_MASK) != FUTEX_WAIT)
        return hn_until(&t,
                        (op & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    if (t.tv_sec < 0 || __builtin_mul_overflow(t.tv_sec, INT64_C(1000000000), &ns))
        return INT64_MAX / 2;
    return ns + t.tv_nsec;
}

/* In directed order the simulation and the trace get the waker of each sleep, as if each thread
 * slept on a semaphore of its own, whose address is that of the word that is cleared at the
 * thread's end. */
static uint64_t own_semaphore(const struct hn_thread *t)
{
    const struct guest *g = guest_of(t);

    return g->tid_word != 0 ? g->tid_word : g->stack_high;
}

/* The first thread that waits for a word, from `t` on; null if there is none. Locked. */
static struct hn_thread *waiter(struct hn_thread *t, uint64_t word)
{
    const void *address = (const void *)(uintptr_t)word;

    while (t != NULL && (t->wait_class != WAITS_FOR_FUTEX || t->wait_address != address))
        t = t->queue_next;
    return t;
}

static void tell_wakes(struct hn_thread *me, uint64_t word, int count)
{
    if (!hn_directed || me->state != HN_RUNNING)
        return;
    hn_lock();
    hn_c->keeps_lock = 1;
    for (struct hn_thread *t = waiter(hn_c->blocked.first, word); t != NULL && count > 0; count--) {
        hn_event(me, HN_EV_CONDITION_WAKE, own_semaphore(t), 0);
        t = waiter(t->queue_next, word);
    }
    hn_c->keeps_lock = 0;
    hn_unlock();
    if (HN_UNLIKELY(hn_c->order == 0))
        hn_stop_user_switching();     /* not possible while the lock was held */
}

void futex_wake(struct hn_thread *me, uint64_t word, int count)
{
    tell_wakes(me, word, count);
    hn_wake((const void *)(uintptr_t)word, WAITS_FOR_FUTEX, count);
}

/* Waits in the scheduler. Another process may change a shared word unseen. */
static enum hn_woken sleep_on(struct hn_thread *me, uint64_t word, uint32_t value, int64_t left_ns)
{
    const struct region *region = region_at(word);
    const int shared = region != NULL && region->shared;
    const void *address = (const void *)(uintptr_t)word;
    enum hn_woken why;

    for (;;) {
        int64_t step_ns = left_ns;

        if (left_ns == 0)
            return HN_BY_TIME;
        if (shared && (left_ns < 0 || left_ns > SHARED_LOOK_AGAIN_NS))
            step_ns = SHARED_LOOK_AGAIN_NS;
        if (hn_directed)
            hn_event(me, HN_EV_CONDITION_WAIT, own_semaphore(me), 0);
        why = hn_block(me, address, WAITS_FOR_FUTEX, step_ns);
        if (why != HN_BY_TIME || hn_c->order == 0 || !word_is(word, value))
            return why;
        if (left_ns > 0)
            left_ns -= step_ns;
    }
}

/* Performs a wait in place of QEMU's call, which has the same arguments. */
long replace_futex(struct hn_thread *me, long number, const long a[6])
{
    const uint64_t word = (uint64_t)a[0];
    const int timed = a[3] != 0;
    enum hn_woken why;

    if (!word_is(word, (uint32_t)a[2]))
        return -EAGAIN;
    why = sleep_on(me, word, (uint32_t)a[2], limit_ns((int)a[1], (uint64_t)a[3]));
    if (hn_c->order == 0)
        return make_call(number, a);
    if (why == HN_BY_SIGNAL)
        return interrupted(!timed);
    return why == HN_BY_TIME && timed ? -ETIMEDOUT : 0;
}

static void futex_wait(struct hn_thread *me, const uint64_t a[6])
{
    const struct timespec past = {0, 0};
    const uint32_t value = (uint32_t)a[2];
    struct guest *g = guest_of(me);
    uint32_t other = ~value;
    enum hn_woken why;

    if (!word_is(a[0], value))
        return;
    if (dispatch_possible()) {
        choose_replacement(g, CALL_FUTEX, 0);
        return;
    }
    why = sleep_on(me, a[0], value, limit_ns((int)a[1], a[3]));
    if (hn_c->order == 0 || !word_is(a[0], value))
        return;
    if (why == HN_BY_TIME && a[3] != 0 && patch(g, a[3], &past, sizeof past))
        return;
    if (!patch(g, a[0], &other, sizeof other))
        hn_leave(me);
}

/* The comparison of FUTEX_WAKE_OP, which decides whether the second futex is woken. */
static int second_is_woken(uint64_t word, uint32_t op)
{
    const int32_t operand = (int32_t)(op << 20) >> 20;
    int32_t old;

    if (!peek(word, &old, sizeof old))
        return 0;
    switch (op >> 24 & 15) {
    case FUTEX_OP_CMP_EQ:
        return old == operand;
    case FUTEX_OP_CMP_NE:
        return old != operand;
    case FUTEX_OP_CMP_LT:
        return old < operand;
    case FUTEX_OP_CMP_LE:
        return old <= operand;
    case FUTEX_OP_CMP_GT:
        return old > operand;
    default:
        return old >= operand;
    }
}

static int count_of(uint64_t argument)
{
    return (uint32_t)argument > INT_MAX ? INT_MAX : (int)(uint32_t)argument;
}

/* Moves waiters of one word to another. */
static void requeue(uint64_t from, uint64_t to, int count)
{
    hn_lock();
    for (struct hn_thread *t = waiter(hn_c->blocked.first, from); t != NULL && count > 0; count--) {
        t->wait_address = (const void *)(uintptr_t)to;
        t = waiter(t->queue_next, from);
    }
    hn_unlock();
}

/* Called before the thread that has the turn makes the call with these arguments. */
void guest_futex(struct hn_thread *me, const uint64_t a[6])
{
    const uint32_t everyone = FUTEX_BITSET_MATCH_ANY;

    switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        futex_wait(me, a);
        break;
    case FUTEX_WAKE:
        futex_wake(me, a[0], count_of(a[2]));
        break;
    case FUTEX_WAKE_BITSET:
        /* Bits are ignored: a thread that is woken for other bits checks and waits again. */
        futex_wake(me, a[0], (uint32_t)a[5] == everyone ? count_of(a[2]) : INT_MAX);
        break;
    case FUTEX_WAKE_OP:
        futex_wake(me, a[0], count_of(a[2]));
        if (second_is_woken(a[4], (uint32_t)a[5]))
            futex_wake(me, a[4], count_of(a[3]));
        break;
    case FUTEX_CMP_REQUEUE:
        if (!word_is(a[0], (uint32_t)a[5]))
            break;
        /* fall through */
    case FUTEX_REQUEUE:
        futex_wake(me, a[0], count_of(a[2]));
        requeue(a[0], a[4], count_of(a[3]));
        break;
    default:
        hn_leave(me);
        break;
    }
}
