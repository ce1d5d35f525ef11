/* The threads of an emulator take turns by the kernel: it has handlers for signals, which are sent
 * to kernel threads (carriers.c of the runtime).
 */
#include "guest.h"

int hn_carries;

void hn_carriers_begin(const struct hn_thread *t) {}

int hn_kernel_tid(const struct hn_thread *t)
{
    return t->tid;
}

int hn_yield_quickly(struct hn_thread *me)
{
    return 0;
}

void hn_park(struct hn_thread *me) {}

int hn_unpark(struct hn_thread *t)
{
    return 0;
}

int hn_make_heir(struct hn_thread *me, struct hn_thread *t)
{
    return 0;
}

void hn_unlock_for_heir(struct hn_thread *me)
{
    hn_unlock();
}

int hn_go_home(struct hn_thread *me)
{
    return 1;
}

void hn_must_go_home(struct hn_thread *me) {}

void hn_stop_carrying(void) {}
