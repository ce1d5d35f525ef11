/* Signals that one thread of the program sends to another, in deterministic order. A receiver that
 * waits in the scheduler is woken by the signal itself, a little later; the sender, which has the
 * turn, waits for that before it continues, so that the order of the queue is repeatable.
 */
#include "guest.h"

enum { TRIES = 2000 };

static struct hn_thread *member_numbered(int tid)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (hn_slots[i].tid == tid && hn_slots[i].state == HN_BLOCKED)
            return &hn_slots[i];
    return NULL;
}

/* Called after the thread has sent a signal, which does not wake the receiver if that blocks it. */
void signal_sent(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    const int to = (int)(call == CALL_TGKILL ? a[1] : a[0]);
    const uint64_t number = call == CALL_TGKILL ? a[2] : a[1];
    const struct hn_thread *t = number == 0 ? NULL : member_numbered(to);

    if (t == NULL || t == me || !hn_deterministic())
        return;
    for (int i = 0; i < TRIES && __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == HN_BLOCKED; i++)
        hn_sys(SYS_sched_yield, 0, 0, 0, 0);
}
