/* Numbers and slots of threads. */
#include "hn.h"

#include <sys/syscall.h>

/* A slot with the lowest free number, or null when there are too many threads. */
struct hn_thread *hn_register(void)
{
    const uint32_t most = hn_one_ring() ? HN_THREADS_MAX : hn_shared->ring_count;
    struct hn_thread *me = hn_me;
    struct hn_thread *t = NULL;

    me->in_runtime++;
    hn_lock();
    for (uint32_t i = 0; i < most && t == NULL; i++)
        if (hn_slots[i].state == HN_UNUSED)
            t = &hn_slots[i];
    if (t != NULL) {
        t->number = (uint32_t)(t - hn_slots);
        t->tag = (uint64_t)t->number << HN_THREAD_SHIFT;
        t->ring = hn_one_ring() ? 0 : t->number;
        t->state = hn_deterministic() ? HN_OUTSIDE : HN_RUNNING;
        t->go = 0;
        t->in_runtime = 1;
        t->in_handler = t->detached = t->waiting = t->cancelled_anywhere = 0;
        t->put_off = 0;
        t->stays_home = 0;
        t->raises = 0;
        t->deadline_ns = 0;
        t->ran_ns = 0;
        t->tid = 0;
        t->asked = t->relock = NULL;
        t->timed_out = t->owes_lock = t->relocked = 0;
        t->simulated_ns = 0;
        t->team = NULL;
        t->task = NULL;
        t->gomp_pool = 0;
        hn_user_thread_begin(t);
        if (!hn_one_ring() && t->block_end == NULL) {
            t->next = t->turn_start = hn_ring_start(t->ring);
            t->block_end = t->next + hn_shared->block_records;
        }
        if (hn_c->slots_used <= t->number)
            hn_c->slots_used = t->number + 1;
        if (hn_logical)
            hn_logical_start(t);
        if (!hn_one_ring())
            hn_shared->rings_used = hn_c->slots_used;
    } else {
        hn_count_lost_thread();
    }
    hn_unlock();
    me->in_runtime--;
    return t;
}

/* Counts a thread that cannot be recorded: there are too many, or the C library has not made it, so
 * that it may even share its maker's slot. */
void hn_count_lost_thread(void)
{
    __atomic_fetch_add(&hn_shared->lost_threads, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&hn_c->lost_unmet, 1, __ATOMIC_RELAXED);
}

/* A thread without a slot makes a reference: either it was counted when it was made, or it is
 * unknown, as one made by a bare system call. */
void hn_meet_unknown_thread(void)
{
    static __thread int met __attribute__((tls_model("initial-exec")));
    uint32_t expected = __atomic_load_n(&hn_c->lost_unmet, __ATOMIC_RELAXED);

    if (met)
        return;
    met = 1;
    while (expected != 0)
        if (__atomic_compare_exchange_n(&hn_c->lost_unmet, &expected, expected - 1, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    __atomic_fetch_add(&hn_shared->lost_threads, 1, __ATOMIC_RELAXED);
}

/* Reads the recorder's settings. */
void hn_read_settings(void)
{
    hn_c->pid = (int)hn_sys(SYS_getpid, 0, 0, 0, 0);
    hn_c->quantum = hn_shared->quantum;
    hn_directed = hn_shared->directed != 0;
    hn_logical = hn_shared->order == HN_ORDER_LOGICAL;
    /* Mixes all bits, as neighbouring seeds would begin with similar draws. */
    hn_c->random = hn_shared->seed * UINT64_C(0x9e3779b97f4a7c15);
    hn_shared->seeded = 1;
    hn_c->order = hn_shared->order;
}

/* Makes the calling thread the first one, which runs. */
struct hn_thread *hn_first_thread(void)
{
    struct hn_thread *me = hn_register();

    me->state = HN_RUNNING;
    hn_c->holder = me;
    me->next = me->turn_start = hn_ring_start(me->ring);
    me->block_end = me->next + hn_shared->block_records;
    me->turn_left = hn_directed ? 0 : hn_turn();
    hn_me = me;
    if (hn_logical)
        hn_logical_first(me);
    hn_recording = 1;
    hn_stamp(me);
    return me;
}

void hn_release(struct hn_thread *t)
{
    t->pthread = 0;
    t->state = HN_UNUSED;
    if (hn_logical)
        hn_close_ring(t, 0);
}
