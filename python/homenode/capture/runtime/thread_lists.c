/* The lock of the scheduler, and its lists of threads. */
#include "hn.h"

#include <sys/syscall.h>

void hn_lock(void)
{
    uint32_t free_value = 0;

    while (!__atomic_compare_exchange_n(&hn_c->lock, &free_value, 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        free_value = 0;
        hn_sys(SYS_sched_yield, 0, 0, 0, 0);
    }
}

void hn_unlock(void)
{
    __atomic_store_n(&hn_c->lock, 0, __ATOMIC_RELEASE);
}

void hn_list_push(struct hn_list *list, struct hn_thread *t)
{
    t->queue_next = NULL;
    t->queue_previous = list->last;
    if (list->last != NULL)
        list->last->queue_next = t;
    else
        list->first = t;
    list->last = t;
}

void hn_list_remove(struct hn_list *list, struct hn_thread *t)
{
    if (t->queue_previous != NULL)
        t->queue_previous->queue_next = t->queue_next;
    else
        list->first = t->queue_next;
    if (t->queue_next != NULL)
        t->queue_next->queue_previous = t->queue_previous;
    else
        list->last = t->queue_previous;
    t->queue_next = t->queue_previous = NULL;
}
