/* Deterministic order: threads that take turns without the kernel.
 *
 * Only one thread runs at a time, so one kernel thread can run them all, one after the other. A
 * thread that waits for its turn is parked: what the kernel would keep of it (registers, stack,
 * thread pointer) is put on its own stack, and the kernel thread that ran it, its carrier, goes on
 * with the next thread. The kernel thread that was made for a parked thread is idle meanwhile: it
 * sleeps on a small stack of its own. Where there is nobody to go on with, a carrier becomes idle,
 * and one that is idle is woken for the thread that has the turn.
 *
 * Some things belong to the kernel thread. So a thread goes home, to the one that was made for it,
 * before it ends, blocks in the kernel without the turn, forks, or asks the kernel about itself
 * (identity.c). Signals, too, are sent to kernel threads and have masks there: with the first
 * handler or mask all threads go home for good, and take turns by the kernel from then on. An
 * emulator has handlers always: there, that happens with the first signal.
 *
 * Every switch is made with the lock held, and released by who comes out of it: nobody sees a
 * thread that is half saved.
 */
#include "hn.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { STACK_BYTES = 32768, IDLE_GLANCE_NS = 20000000, GLANCERS = 16, AWAIT_HOME_NS = 1000000,
       TRIES_AT_HOME = 20 };

/* Of each slot: its thread, and the kernel thread that was made for it. */
struct hn_carrier {
    void *thread_context;       /* of the thread, while it is parked */
    struct hn_thread *heir;     /* what its carrier goes on with when it parks */
    uint32_t on;                /* number of the slot whose kernel thread runs it */
    int parked;
    int wants_home;             /* parked until its own kernel thread is idle */
    void *idle_context;         /* of the kernel thread, while it runs a thread; null at first */
    struct hn_thread *load;     /* what it is woken to run */
    uint32_t woken;             /* futex */
    int idle;
} __attribute__((aligned(64)));

int hn_carries;
static struct hn_carrier *carriers;
static char *idle_stacks;
static struct hn_thread *homeward;  /* on its way home. Locked. */

#if defined(__x86_64__)

/* Leaves a context in `*save` and goes on with another. The thread pointer is a part of it, and so
 * are the modes of the floating-point units, which a thread may change. */
void hn_swap(void **save, void *load);
__asm__(".pushsection .text\n"
        ".hidden hn_swap\n"
        ".globl hn_swap\n"
        ".type hn_swap, @function\n"
        "hn_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $16, %rsp\n"
        "    movq %fs:0, %rax\n"       /* the thread pointer points to itself */
        "    movq %rax, (%rsp)\n"
        "    stmxcsr 8(%rsp)\n"
        "    fnstcw 12(%rsp)\n"
        "    movl 8(%rsp), %eax\n"
        "    movzwl 12(%rsp), %ecx\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    movq (%rsp), %rdx\n"
        "    wrfsbase %rdx\n"
        "    cmpl 8(%rsp), %eax\n"     /* setting the modes takes longer than the rest */
        "    je 1f\n"
        "    ldmxcsr 8(%rsp)\n"
        "1:  cmpw 12(%rsp), %cx\n"
        "    je 2f\n"
        "    fldcw 12(%rsp)\n"
        "2:  addq $16, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size hn_swap, . - hn_swap\n"
        ".popsection\n");

/* What hn_swap finds on a stack, from below. */
struct context {
    uintptr_t thread_pointer;
    uint32_t mxcsr;
    uint16_t fpu_control, padding;
    uintptr_t registers[6];
    void (*begin)(void);
    uintptr_t end[1];           /* begin is called with an aligned stack */
};

static void *new_context(char *stack_end, void (*begin)(void))
{
    struct context *context = (struct context *)stack_end - 1;

    *context = (struct context){
        .thread_pointer = (uintptr_t)pthread_self(),
        .mxcsr = 0x1f80,
        .fpu_control = 0x37f,
        .begin = begin,
    };
    return context;
}

/* Whether the thread pointer may be set without the kernel, and returns need not match calls. */
static int may_switch(void)
{
    enum { HWCAP2_FSGSBASE_BIT = 1 << 1, ARCH_SHSTK_STATUS = 0x5005 };
    uint64_t shadow_stack = 0;

    hn_sys(SYS_arch_prctl, ARCH_SHSTK_STATUS, (long)&shadow_stack, 0, 0);
    return (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT) != 0 && shadow_stack == 0;
}

#else

static void hn_swap(void **save, void *load) {}

static void *new_context(char *stack_end, void (*begin)(void))
{
    return NULL;
}

static int may_switch(void)
{
    return 0;
}

#endif

static struct hn_carrier *carrier(const struct hn_thread *t)
{
    return &carriers[t->number];
}

/* The memory is far from where the kernel puts what the program maps, whose addresses are the same
 * with and without. */
static int make_carriers(void)
{
    char *const place = (char *)(UINT64_C(1) << 45);
    const size_t heads = HN_THREADS_MAX * sizeof(struct hn_carrier);
    const size_t size = heads + (size_t)HN_THREADS_MAX * STACK_BYTES;
    char *memory;

    memory = mmap(place, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != place) {
        if (memory != MAP_FAILED)
            munmap(memory, size);
        return 0;
    }
    carriers = (struct hn_carrier *)memory;
    idle_stacks = memory + heads;
    return 1;
}

/* Also in a forked child, which has the memory of its parent's and no thread that is parked. */
void hn_carriers_init(void)
{
    hn_carries = hn_one_ring() && may_switch() && !hn_has_handlers() &&
                 (carriers != NULL || make_carriers());
}

/* A slot has a new thread. */
void hn_carriers_begin(const struct hn_thread *t)
{
    if (carriers != NULL)
        *carrier(t) = (struct hn_carrier){.on = t->number};
}

/* Whether `t` is on the kernel thread that was made for it. */
int hn_is_home(const struct hn_thread *t)
{
    return carriers == NULL || (carrier(t)->on == t->number && !carrier(t)->parked);
}

/* Number of the slot whose kernel thread runs `t`. */
uint32_t hn_kernel_thread(const struct hn_thread *t)
{
    return carriers != NULL ? carrier(t)->on : t->number;
}

int hn_kernel_tid(const struct hn_thread *t)
{
    return hn_slots[hn_kernel_thread(t)].tid;
}

static struct hn_carrier *idle_one(void)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (carriers[i].idle)
            return &carriers[i];
    return NULL;
}

/* Wakes a kernel thread for a parked thread: its own, or another if that is stuck in the kernel
 * with a thread that the watchdog took the turn from. There are as many idle ones as parked
 * threads. */
static void wake_carrier_for(struct hn_thread *t)
{
    struct hn_carrier *own = carrier(t);
    struct hn_carrier *k = own->idle ? own : idle_one();

    if (k == NULL)
        return;
    own->parked = 0;
    own->on = (uint32_t)(k - carriers);
    k->idle = 0;
    k->load = t;
    __atomic_store_n(&k->woken, 1, __ATOMIC_RELEASE);
    hn_futex(&k->woken, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* What an idle kernel thread does, on its own stack. It is entered with the lock held, and shares
 * the thread pointer with a thread that may run elsewhere: it must not write what is
 * thread-local. */
static void be_idle(void)
{
    struct hn_thread *const own = hn_me;
    struct hn_carrier *const k = carrier(own);
    const uint64_t glance_ns = IDLE_GLANCE_NS * (1 + (uint64_t)hn_c->slots_used / GLANCERS);
    const struct timespec glance = {(time_t)(glance_ns / HN_NS_PER_SECOND),
                                    (long)(glance_ns % HN_NS_PER_SECOND)};

    for (;;) {
        k->idle = 1;
        if (homeward != NULL)
            wake_carrier_for(homeward);
        homeward = NULL;
        if (k->wants_home && k->parked) {
            k->wants_home = 0;
            wake_carrier_for(own);
        }
        hn_unlock();
        while (__atomic_load_n(&k->woken, __ATOMIC_ACQUIRE) == 0)
            if (hn_futex(&k->woken, FUTEX_WAIT_PRIVATE, 0, &glance) == -ETIMEDOUT &&
                hn_c->order != 0)
                hn_watch();
        hn_lock();
        k->woken = 0;
        hn_swap(&k->idle_context, carrier(k->load)->thread_context);
    }
}

/* Parks `me`; its carrier goes on with `heir`, or becomes idle. Locked; not when it comes back. */
static void switch_to(struct hn_thread *me, const struct hn_thread *heir)
{
    struct hn_carrier *own = carrier(me);

    /* The first that a kernel thread runs is the thread that it was made for. */
    if (own->idle_context == NULL)
        own->idle_context =
            new_context(idle_stacks + (size_t)(me->number + 1) * STACK_BYTES, be_idle);
    own->parked = 1;
    hn_swap(&own->thread_context,
            heir != NULL ? carrier(heir)->thread_context : carriers[own->on].idle_context);
    hn_unlock();
    hn_resumed(me);
}

/* The baton goes from `me` to `t`, the first in the queue, and `me` to its end: what hn_give and
 * hn_take do, without what only matters while the baton is free. Locked. */
static void pass_baton(struct hn_thread *me, struct hn_thread *t)
{
    const uint64_t now_ns = hn_virtual_ns(me->next, me->block_end);

    hn_list_push(&hn_c->ready, me);
    hn_list_remove(&hn_c->ready, t);
    me->ran_ns += now_ns - me->turn_began_ns;
    me->state = HN_READY;
    hn_c->holder = t;
    hn_c->switches++;
    if (hn_c->clock_minder == t)
        hn_c->clock_minder = NULL;
    t->state = HN_RUNNING;
    t->next = t->turn_start = me->next;
    t->block_end = me->block_end;
    t->turn_began_ns = now_ns;
    t->turn_left = hn_turn();
    hn_set_limit(t);
    me->next = me->limit = me->block_end = me->turn_start = NULL;
}

/* Quantum over: nearly always it is enough that one parked thread goes on, and the other is parked.
 * Returns 0 if it is not. */
int hn_yield_quickly(struct hn_thread *me)
{
    struct hn_thread *t;

    if (!hn_carries || hn_directed || me->stays_home)
        return 0;
    hn_lock();
    t = hn_c->ready.first;
    if (t == NULL || hn_c->timed != 0 || !hn_carries || !carrier(t)->parked) {
        hn_unlock();
        return 0;
    }
    pass_baton(me, t);
    carrier(t)->parked = 0;
    carrier(t)->on = carrier(me)->on;
    t->go = HN_GO;
    switch_to(me, t);
    if (me->go == HN_GO && hn_c->dying_tid == 0) {
        me->go = 0;
    } else {
        const int saved_errno = errno;

        hn_wait_turn(me);
        errno = saved_errno;
    }
    return 1;
}

/* Parks the thread until somebody signals it, unless that has happened. */
void hn_park(struct hn_thread *me)
{
    hn_lock();
    if (hn_carries && me->go == 0 && hn_c->order != 0)
        switch_to(me, NULL);
    else
        hn_unlock();
}

/* `t` has the turn, and `me` is about to wait for its own: if nothing else is needed, the carrier
 * of `me` will go on with `t`. Locked. */
int hn_make_heir(struct hn_thread *me, struct hn_thread *t)
{
    if (!hn_carries || me == NULL || me->stays_home || !carrier(t)->parked)
        return 0;
    carrier(t)->parked = 0;
    carrier(t)->on = carrier(me)->on;
    carrier(me)->heir = t;
    t->go = HN_GO;
    return 1;
}

/* Releases the lock; if `me` has an heir, that goes on, and `me` is parked. */
void hn_unlock_for_heir(struct hn_thread *me)
{
    const struct hn_thread *heir = carriers != NULL ? carrier(me)->heir : NULL;

    if (heir == NULL) {
        hn_unlock();
        return;
    }
    carrier(me)->heir = NULL;
    switch_to(me, heir);
}

/* Gets a parked thread to see that its `go` has changed. Locked. Returns 0 if it is not parked. */
int hn_unpark(struct hn_thread *t)
{
    if (carriers == NULL || !carrier(t)->parked)
        return 0;
    wake_carrier_for(t);
    return 1;
}

/* The thread goes on on the kernel thread that was made for it. Returns 0 if that is not idle. */
int hn_go_home(struct hn_thread *me)
{
    struct hn_carrier *own;

    if (carriers == NULL)
        return 1;
    own = carrier(me);
    if (own->on == me->number)
        return 1;
    hn_lock();
    if (!own->idle) {
        hn_unlock();
        return 0;
    }
    homeward = me;
    switch_to(me, NULL);
    return 1;
}

/* Whether a thread that the watchdog took the turn from is stuck on the kernel thread that was made
 * for `me`. Locked. */
static int is_occupied(const struct hn_thread *me)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (&hn_slots[i] != me && carriers[i].on == me->number && !carriers[i].parked &&
            hn_slots[i].state == HN_OUTSIDE)
            return 1;
    return 0;
}

/* Who is stuck there may wait for what `me` does next, so it is sent home. That may be where `me`
 * runs: `me` is parked, without giving up its turn, until its own kernel thread is idle. */
static void change_places(struct hn_thread *me)
{
    hn_lock();
    if (!is_occupied(me)) {
        hn_unlock();
        return;
    }
    carrier(me)->wants_home = 1;
    hn_send_home(me->tid);
    me->in_runtime++;
    switch_to(me, NULL);
    me->in_runtime--;
}

/* The same, however long that takes. The thread has the turn. */
void hn_must_go_home(struct hn_thread *me)
{
    for (int tries = 1; !hn_go_home(me); tries++) {
        if (tries % TRIES_AT_HOME == 0)
            change_places(me);
        else
            hn_block(me, me, HN_W_TIME, AWAIT_HOME_NS);
    }
}

/* All threads go home, and take turns by the kernel from now on. */
void hn_stop_carrying(void)
{
    struct hn_thread *me = hn_me;

    if (!hn_carries)
        return;
    if (me->state != HN_UNUSED)
        hn_go_home(me);
    hn_lock();
    hn_carries = 0;
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        hn_unpark(&hn_slots[i]);
    hn_unlock();
}
