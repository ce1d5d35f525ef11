/* What all kinds of lock share: the real non-blocking operation, and a wait under the baton while
 * it fails. The objects remain the C library's own, so a forked child, or code that was linked
 * without the runtime, can still use them.
 */
#include "fields.h"

#include <errno.h>

/* Another process may release a shared lock unseen: try again. */
enum { LOCK_LOOK_AGAIN_NS = 1000000 };

/* Directed order: in the simulation the thread has a lock that it has not taken yet. */
static void hn_return_lock(struct hn_thread *me, const void *lock)
{
    me->owes_lock = 0;
    hn_event(me, HN_EV_LOCK_ACQUIRE, (uintptr_t)lock, 0);
    hn_event(me, HN_EV_LOCK_RELEASE, (uintptr_t)lock, 0);
}

/* Records that the C library has taken a lock, or not. */
void hn_note_acquired(int result, const struct hn_taking *taking)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL)
        return;
    if (result != 0 && result != EOWNERDEAD) {
        if (me->owes_lock)
            hn_return_lock(me, taking->lock);
        if (!hn_deterministic())
            hn_fields(me, taking->lock, taking->asks, taking->pc);
        return;
    }
    me->owes_lock = 0;
    hn_stamp(me);
    if (!hn_deterministic())
        hn_fields(me, taking->lock, taking->asks, taking->pc);
    hn_put_fields(me, me, taking->lock, taking->takes, taking->pc);
    hn_event(me, HN_EV_LOCK_ACQUIRE, (uintptr_t)taking->lock, 0);
    hn_put_fields(me, me, taking->lock, taking->has, taking->pc);
}

/* Records that the C library is about to release a lock. */
void hn_note_releasing(struct hn_thread *me, const void *lock, const hn_field *fields,
                       uintptr_t pc)
{
    hn_fields_of_release(me, lock, fields, pc);
    if (hn_c->order != 0)
        hn_event(me, HN_EV_LOCK_RELEASE, (uintptr_t)lock, 0);
}

/* ETIMEDOUT, or 0 to try again. What a thread does when it is woken is not recorded: whether it has
 * to wait depends on the turns of the recording, and would differ in a simulation. */
int hn_wait_for_lock(struct hn_thread *me, const void *lock, int64_t timeout_ns, int shared)
{
    const int looks = shared && (timeout_ns < 0 || timeout_ns > LOCK_LOOK_AGAIN_NS);
    enum hn_woken why;

    if (me->owes_lock)
        hn_return_lock(me, lock);
    why = hn_block(me, lock, HN_W_LOCK, looks ? LOCK_LOOK_AGAIN_NS : timeout_ns);
    return why == HN_BY_TIME && !looks ? ETIMEDOUT : 0;
}
