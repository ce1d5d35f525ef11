/* Deterministic order: the program's threads as user-level threads, switched without the kernel.
 *
 * Only one thread runs at a time, so one kernel thread can run all of them. A thread that waits for
 * its turn is parked: its context (registers, stack, thread pointer) is saved on its own stack, and
 * the kernel thread that ran it, its carrier, continues with the next thread. The kernel thread
 * that was made for a parked thread, its home, is idle meanwhile: it sleeps on a small stack of its
 * own. A carrier without a thread to run becomes idle, and an idle one is woken for the thread that
 * has the turn.
 *
 * Some state belongs to the kernel thread. So a thread goes home before it ends, blocks in the
 * kernel without the turn, forks, or asks the kernel about itself (kernel_thread_calls.c). Signals
 * are sent to kernel threads and masked there, too: with the first handler or mask all threads go
 * home for good, and the kernel switches them from then on. An emulator always has handlers: there
 * that happens with the first signal.
 *
 * Every switch is made with the lock held, and the thread that resumes releases it, so no thread
 * is ever seen half saved.
 */
#include "hn.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { STACK_BYTES = 32768, IDLE_CHECK_NS = 20000000, CHECKERS = 16, AWAIT_HOME_NS = 1000000,
       TRIES_AT_HOME = 20 };

/* Of each slot: its thread, and the thread's home, the kernel thread that was made for it. */
struct hn_user_thread {
    void *thread_context;       /* of the thread, while it is parked */
    struct hn_thread *successor; /* the thread that its carrier runs when it parks */
    uint32_t on;                /* slot whose kernel thread is its carrier */
    int parked;
    int wants_home;             /* parked until its home is idle */
    void *idle_context;         /* of the kernel thread, while it runs a thread; null at first */
    struct hn_thread *load;     /* the thread that it is woken to run */
    uint32_t woken;             /* futex */
    int idle;
} __attribute__((aligned(64)));

int hn_user_switching;
int hn_looks_at_x87 __attribute__((used));
static struct hn_user_thread *user_threads;
static char *idle_stacks;
static struct hn_thread *returning; /* the thread that is on its way home. Locked. */

#if defined(__x86_64__)

/* Saves the context in `*save` and loads another. It includes the thread pointer, the modes of the
 * floating-point units, which a thread may change, and their exceptions; those of the x87 unit only
 * if the program may look at them. */
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
        "    movl $0, 12(%rsp)\n"
        "    fnstcw 12(%rsp)\n"
        "    movl 8(%rsp), %eax\n"
        "    movzwl 12(%rsp), %ecx\n"
        "    movl hn_looks_at_x87(%rip), %r8d\n"
        "    testl %r8d, %r8d\n"
        "    jne 4f\n"
        "5:  movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    movq (%rsp), %rdx\n"
        "    wrfsbase %rdx\n"
        "    cmpl 8(%rsp), %eax\n"     /* setting the modes takes longer than the rest */
        "    je 1f\n"
        "    ldmxcsr 8(%rsp)\n"
        "1:  testl %r8d, %r8d\n"
        "    jne 6f\n"
        "2:  cmpw 12(%rsp), %cx\n"
        "    je 3f\n"
        "    fldcw 12(%rsp)\n"
        "3:  addq $16, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        "4:  fnstsw 14(%rsp)\n"
        "    jmp 5b\n"
        "6:  fnstsw %ax\n"
        "    xorw 14(%rsp), %ax\n"
        "    testb $0x7f, %al\n"
        "    je 2b\n"
        "    movl 12(%rsp), %eax\n"
        "    subq $32, %rsp\n"
        "    fnclex\n"                /* fldenv and fldcw may trap if the new modes enable traps */
        "    fnstenv (%rsp)\n"
        "    movw %ax, (%rsp)\n"
        "    shrl $16, %eax\n"
        "    movb %al, 4(%rsp)\n"
        "    fldenv (%rsp)\n"
        "    addq $32, %rsp\n"
        "    jmp 3b\n"
        ".size hn_swap, . - hn_swap\n"
        ".popsection\n");

/* A saved context on a stack, from the lowest address. */
struct context {
    uintptr_t thread_pointer;
    uint32_t mxcsr;
    uint16_t fpu_control, fpu_status;
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

/* Whether the thread pointer can be set without the kernel, and there is no shadow stack. */
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

static struct hn_user_thread *user_thread(const struct hn_thread *t)
{
    return &user_threads[t->number];
}

/* At an address far from the program's mappings, so that their addresses do not depend on it. */
static int make_user_threads(void)
{
    char *const place = (char *)(UINT64_C(1) << 45);
    const size_t heads = HN_THREADS_MAX * sizeof(struct hn_user_thread);
    const size_t size = heads + (size_t)HN_THREADS_MAX * STACK_BYTES;
    char *memory;

    memory = mmap(place, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != place) {
        if (memory != MAP_FAILED)
            munmap(memory, size);
        return 0;
    }
    user_threads = (struct hn_user_thread *)memory;
    idle_stacks = memory + heads;
    return 1;
}

/* Also called in a forked child, which has its parent's memory and no parked threads. */
void hn_user_threads_init(void)
{
    hn_user_switching = hn_one_ring() && may_switch() && !hn_has_handlers() &&
                 (user_threads != NULL || make_user_threads());
}

/* Called when a slot has a new thread. */
void hn_user_thread_begin(const struct hn_thread *t)
{
    if (user_threads != NULL)
        *user_thread(t) = (struct hn_user_thread){.on = t->number};
}

/* Whether `t` runs on its home. */
int hn_is_home(const struct hn_thread *t)
{
    return user_threads == NULL || (user_thread(t)->on == t->number && !user_thread(t)->parked);
}

/* Slot of the carrier of `t`. */
uint32_t hn_kernel_thread(const struct hn_thread *t)
{
    return user_threads != NULL ? user_thread(t)->on : t->number;
}

int hn_kernel_tid(const struct hn_thread *t)
{
    return hn_slots[hn_kernel_thread(t)].tid;
}

static struct hn_user_thread *idle_one(void)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (user_threads[i].idle)
            return &user_threads[i];
    return NULL;
}

/* Wakes a kernel thread for a parked thread: its home, or another one if its home is stuck in the
 * kernel with a thread that lost its turn to the watchdog. There are as many idle kernel threads as
 * parked threads. */
static void wake_kernel_thread_for(struct hn_thread *t)
{
    struct hn_user_thread *own = user_thread(t);
    struct hn_user_thread *k = own->idle ? own : idle_one();

    if (k == NULL)
        return;
    own->parked = 0;
    own->on = (uint32_t)(k - user_threads);
    k->idle = 0;
    k->load = t;
    __atomic_store_n(&k->woken, 1, __ATOMIC_RELEASE);
    hn_futex(&k->woken, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* The loop of an idle kernel thread, on its own stack. It is entered with the lock held. It shares
 * the thread pointer with a thread that may run elsewhere, so it must not write thread-local
 * variables. */
static void idle_loop(void)
{
    struct hn_thread *const own = hn_me;
    struct hn_user_thread *const k = user_thread(own);
    const uint64_t check_ns = IDLE_CHECK_NS * (1 + (uint64_t)hn_c->slots_used / CHECKERS);
    const struct timespec check_every = {(time_t)(check_ns / HN_NS_PER_SECOND),
                                    (long)(check_ns % HN_NS_PER_SECOND)};

    for (;;) {
        k->idle = 1;
        if (returning != NULL)
            wake_kernel_thread_for(returning);
        returning = NULL;
        if (k->wants_home && k->parked) {
            k->wants_home = 0;
            wake_kernel_thread_for(own);
        }
        hn_unlock();
        while (__atomic_load_n(&k->woken, __ATOMIC_ACQUIRE) == 0)
            if (hn_futex(&k->woken, FUTEX_WAIT_PRIVATE, 0, &check_every) == -ETIMEDOUT &&
                hn_c->order != 0)
                hn_watch();
        hn_lock();
        k->woken = 0;
        hn_swap(&k->idle_context, user_thread(k->load)->thread_context);
    }
}

/* Parks `me`; its carrier continues with `successor`, or becomes idle. Called with the lock,
 * returns without it. */
static inline __attribute__((always_inline)) void switch_to(struct hn_thread *me,
                                                            const struct hn_thread *successor)
{
    struct hn_user_thread *own = user_thread(me);

    /* The first thread that a kernel thread runs is the one that it was made for. */
    if (own->idle_context == NULL)
        own->idle_context =
            new_context(idle_stacks + (size_t)(me->number + 1) * STACK_BYTES, idle_loop);
    own->parked = 1;
    hn_swap(&own->thread_context,
            successor != NULL ? user_thread(successor)->thread_context
                              : user_threads[own->on].idle_context);
    hn_unlock();
    hn_resumed(me);
}

/* Passes the baton from `me` to `t`, the first in the queue, and puts `me` at its end: as
 * hn_release_baton and hn_take_baton, without what only matters while the baton is free. Locked. */
static void pass_baton(struct hn_thread *me, struct hn_thread *t)
{
    const uint64_t now_ns = hn_virtual_ns(me->next, me->block_end);

    hn_list_push(&hn_c->ready, me);
    hn_list_remove(&hn_c->ready, t);
    me->ran_ns += now_ns - me->turn_began_ns;
    me->state = HN_READY;
    hn_c->holder = t;
    hn_c->switches++;
    if (hn_c->clock_watcher == t)
        hn_c->clock_watcher = NULL;
    t->state = HN_RUNNING;
    t->next = t->turn_start = me->next;
    t->block_end = me->block_end;
    t->turn_began_ns = now_ns;
    t->turn_left = hn_turn();
    hn_set_limit(t);
    me->next = me->limit = me->block_end = me->turn_start = NULL;
}

/* The quantum is over: nearly always it suffices to park one thread and resume another. Returns 0
 * if it does not. */
int hn_yield_quickly(struct hn_thread *me)
{
    struct hn_thread *t;

    if (!hn_user_switching || hn_directed || me->stays_home)
        return 0;
    hn_lock();
    t = hn_c->ready.first;
    if (t == NULL || hn_c->timed != 0 || !hn_user_switching || !user_thread(t)->parked) {
        hn_unlock();
        return 0;
    }
    pass_baton(me, t);
    user_thread(t)->parked = 0;
    user_thread(t)->on = user_thread(me)->on;
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

/* Parks the thread until its `go` is set, unless it is already. */
void hn_park(struct hn_thread *me)
{
    hn_lock();
    if (hn_user_switching && me->go == 0 && hn_c->order != 0)
        switch_to(me, NULL);
    else
        hn_unlock();
}

/* `t` has the turn, and `me` is about to wait for its own: if nothing else is needed, the
 * carrier of `me` will continue with `t`. Locked. */
int hn_set_successor(struct hn_thread *me, struct hn_thread *t)
{
    if (!hn_user_switching || me == NULL || me->stays_home || !user_thread(t)->parked)
        return 0;
    user_thread(t)->parked = 0;
    user_thread(t)->on = user_thread(me)->on;
    user_thread(me)->successor = t;
    t->go = HN_GO;
    return 1;
}

/* Releases the lock; if `me` has a successor, that runs, and `me` is parked. */
void hn_unlock_for_successor(struct hn_thread *me)
{
    const struct hn_thread *successor = user_threads != NULL ? user_thread(me)->successor : NULL;

    if (successor == NULL) {
        hn_unlock();
        return;
    }
    user_thread(me)->successor = NULL;
    switch_to(me, successor);
}

/* Resumes a parked thread, as its `go` has changed. Locked. Returns 0 if it is not parked. */
int hn_unpark(struct hn_thread *t)
{
    if (user_threads == NULL || !user_thread(t)->parked)
        return 0;
    wake_kernel_thread_for(t);
    return 1;
}

/* Moves the thread to its home. Returns 0 if that is not idle. */
int hn_go_home(struct hn_thread *me)
{
    struct hn_user_thread *own;

    if (user_threads == NULL)
        return 1;
    own = user_thread(me);
    if (own->on == me->number)
        return 1;
    hn_lock();
    if (!own->idle) {
        hn_unlock();
        return 0;
    }
    returning = me;
    switch_to(me, NULL);
    return 1;
}

/* Whether a thread that lost its turn to the watchdog is stuck on the home of `me`. Locked. */
static int is_occupied(const struct hn_thread *me)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (&hn_slots[i] != me && user_threads[i].on == me->number && !user_threads[i].parked &&
            hn_slots[i].state == HN_OUTSIDE)
            return 1;
    return 0;
}

/* The stuck thread may wait for what `me` does next, so it is sent to its own home. That may be
 * the carrier of `me`: `me` is parked, without giving up its turn, until its home is idle. */
static void change_places(struct hn_thread *me)
{
    hn_lock();
    if (!is_occupied(me)) {
        hn_unlock();
        return;
    }
    user_thread(me)->wants_home = 1;
    hn_send_home(me->tid);
    me->in_runtime++;
    switch_to(me, NULL);
    me->in_runtime--;
}

/* Moves the thread, which has the turn, to its home, however long that takes. */
void hn_must_go_home(struct hn_thread *me)
{
    for (int tries = 1; !hn_go_home(me); tries++) {
        if (tries % TRIES_AT_HOME == 0)
            change_places(me);
        else
            hn_block(me, me, HN_W_TIME, AWAIT_HOME_NS);
    }
}

/* Sends all threads home; the kernel switches them from now on. */
void hn_stop_user_switching(void)
{
    struct hn_thread *me = hn_me;

    if (!hn_user_switching)
        return;
    if (me->state != HN_UNUSED)
        hn_go_home(me);
    hn_lock();
    hn_user_switching = 0;
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        hn_unpark(&hn_slots[i]);
    hn_unlock();
}
