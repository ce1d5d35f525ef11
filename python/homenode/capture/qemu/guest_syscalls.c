/* System calls of the program: events, and waits in calls that may block. */
#include "registers.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/syscall.h>

/* Flags, stack pointer, parent's word, child's word, thread-local storage. The order of clone's
 * last two arguments differs between machines; clone3 has them in memory. */
static int clone_arguments(enum call call, const uint64_t a[6], uint64_t to[5])
{
    struct clone_args c;

    if (call == CALL_CLONE) {
        clone_of_machine(a, to);
        return 1;
    }
    memset(&c, 0, sizeof c);
    if (!peek(a[0], &c, a[1] < sizeof c ? a[1] : sizeof c))
        return 0;
    to[0] = c.flags;
    to[1] = c.stack + c.stack_size;
    to[2] = c.parent_tid;
    to[3] = c.child_tid;
    to[4] = c.tls;
    return 1;
}

static void before_clone(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    uint64_t clone[5];

    guest_of(me)->child = NULL;
    if (call == CALL_FORK)
        process_expect(me);
    else if (!clone_arguments(call, a, clone))
        return;
    else if ((clone[0] & CLONE_VM) != 0 && (clone[0] & CLONE_VFORK) == 0)
        guest_thread_expect(me, clone);
    else
        process_expect(me);
}

/* Calls that may block, or pass the turn on, in deterministic order. */
static void before_blocking(struct hn_thread *me, enum call call, const uint64_t a[6])
{
    switch (call) {
    case CALL_FUTEX:
        guest_futex(me, a);
        break;
    case CALL_NANOSLEEP:
        guest_sleep(me, CLOCK_MONOTONIC, 0, a[0]);
        break;
    case CALL_CLOCK_NANOSLEEP:
        guest_sleep(me, (clockid_t)a[0], ((int)a[1] & TIMER_ABSTIME) != 0, a[2]);
        break;
    case CALL_YIELD:
        hn_yield(me);
        break;
    case CALL_OUTSIDE: case CALL_VMSPLICE:
        hn_leave(me);
        break;
    case CALL_PAUSE:
        if (!dispatch_possible())
            hn_leave(me);
        break;
    case CALL_TIMER:
        hn_shared->outside++;   /* its result depends on real time */
        break;
    case CALL_NUMBER:
        hn_shared->numbers++;
        break;
    case CALL_READ: case CALL_READV: case CALL_ACCEPT: case CALL_ACCEPT4: case CALL_WRITE:
    case CALL_WRITEV: case CALL_RECVFROM: case CALL_RECVMSG: case CALL_SENDTO: case CALL_SENDMSG:
    case CALL_RECVMMSG: case CALL_SENDMMSG: case CALL_SENDFILE:
    case CALL_POLL: case CALL_PPOLL: case CALL_SELECT: case CALL_PSELECT: case CALL_EPOLL:
    case CALL_WAIT4: case CALL_WAITID: case CALL_FLOCK: case CALL_FCNTL: case CALL_MSGRCV:
    case CALL_MSGSND: case CALL_SEMOP: case CALL_CONNECT: case CALL_SIGNAL_WAIT:
    case CALL_SUSPEND:
        guest_wait(me, call, a);
        break;
    default:
        break;
    }
}

/* The calling thread, with the turn; null if it is not recorded. */
static struct hn_thread *caller(unsigned cpu)
{
    if (hn_c->order == 0)
        return NULL;
    if (hn_me == &hn_no_thread)
        arrive(cpu);
    if (!recording(hn_me))
        return NULL;
    if (guest_of(hn_me)->draining)
        park(hn_me);
    if (hn_me->state != HN_RUNNING)
        hn_enter(hn_me);
    return recording(hn_me) && hn_me->state == HN_RUNNING ? hn_me : NULL;
}

/* Calls in which QEMU neither waits nor uses state of the kernel thread. */
static int is_for_any_kernel_thread(const struct guest *g)
{
    const uint64_t operation = g->arguments[1] & FUTEX_CMD_MASK;

    switch (g->call) {
    case CALL_MMAP: case CALL_MUNMAP: case CALL_MREMAP: case CALL_BRK: case CALL_MEMORY:
    case CALL_YIELD: case CALL_CLOCK: case CALL_RANDOM:
        return 1;
    case CALL_FUTEX:
        return operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET;
    default:
        return 0;
    }
}

/* Calls by which the program sends signals to its threads. */
static int is_about_signals(const struct guest *g)
{
    const uint64_t signal = g->arguments[0];

    if (g->call != CALL_SIGACTION)
        return g->call == CALL_KILL || g->call == CALL_TGKILL;
    return g->arguments[1] != 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
                                    signal == SIGILL || signal == SIGTRAP);
}

/* From here until it is in translated code again, most calls keep a thread at home: in some QEMU
 * blocks signals, and unblocks them only before the program continues. */
static void choose_kernel_thread(struct hn_thread *me, const struct guest *g)
{
    if (is_for_any_kernel_thread(g))
        return;
    hn_must_go_home(me);
    me->stays_home = 1;
    if (is_about_signals(g))
        hn_stop_user_switching();
}

static void on_call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                    uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    struct hn_thread *me = caller(cpu);
    struct guest *g;

    (void)id, (void)a7, (void)a8;
    if (guest_call(number) == CALL_EXECVE)
        tsc_before_exec();
    if (me == NULL)
        return;
    g = guest_of(me);
    g->call = guest_call(number);
    memcpy(g->arguments, (const uint64_t[]){a1, a2, a3, a4, a5, a6}, sizeof g->arguments);
    allocations_call(g->arguments);
    g->paused_at = hn_instructions;
    g->replacement = NULL;
    me->put_off = 0;
    choose_kernel_thread(me, g);
    hn_event(me, HN_EV_SYSCALL_ENTER, (uint64_t)number, 0);
    settle(me);
    if (hn_c->order == 0)
        return;
    if (g->call == CALL_EXECVE) {
        exec_follow(me, number, g->arguments);
        __atomic_fetch_add(&hn_shared->executions, 1, __ATOMIC_RELAXED);
    }
    if (g->call == CALL_CLONE || g->call == CALL_CLONE3 || g->call == CALL_FORK)
        before_clone(me, g->call, g->arguments);
    else if (g->call == CALL_EXIT)
        guest_thread_exits(me);
    else if (hn_deterministic())
        before_blocking(me, g->call, g->arguments);
    guest_note_buffers(g);
    if (me->state == HN_RUNNING)
        settle(me);
    if (g->replacement != NULL && hn_c->order != 0 && me->state == HN_RUNNING)
        dispatch_call(g->replaced_number, g->replacement, g->replaces_all);
}

/* Notes the effects of a call on memory, threads and processes. */
static void after_call(struct hn_thread *me, struct guest *g, int64_t result)
{
    const uint64_t *a = g->arguments;

    switch (g->call) {
    case CALL_EXECVE:       /* it has failed */
        __atomic_fetch_sub(&hn_shared->executions, 1, __ATOMIC_RELAXED);
        break;
    case CALL_CLONE: case CALL_CLONE3: case CALL_FORK:
        if (g->child != NULL)
            guest_thread_made(me, result);
        else
            process_made(me, result);
        break;
    case CALL_MMAP:
        region_mmap(me, a, (uint64_t)result);
        break;
    case CALL_MUNMAP:
        if (result == 0) {
            guest_threads_unmapped(a[0], a[1]);
            region_munmap(me, a[0], a[1]);
        }
        break;
    case CALL_MREMAP:
        region_mremap(me, a, (uint64_t)result);
        break;
    case CALL_BRK:
        region_brk(me, (uint64_t)result);
        break;
    case CALL_SHMAT:
        region_attach(me, a[0], (uint64_t)result);
        break;
    case CALL_SHMDT:
        if (result == 0)
            region_detach(me, a[0]);
        break;
    case CALL_TID_ADDRESS:
        guest_thread_tid_word(me, a[0]);
        break;
    case CALL_KILL: case CALL_TGKILL:
        if (result == 0)
            signal_sent(me, g->call, a);
        break;
    case CALL_OPEN:
        if (result >= 0)
            file_opened(me, (int)result);
        break;
    case CALL_READ: case CALL_READV: case CALL_PREAD:
        if (result > 0)
            file_read(g->call, a, (uint64_t)result);
        break;
    case CALL_WAIT4: case CALL_WAITID:
        if (result >= 0)
            child_waited_for(g->call, a);
        break;
    default:
        break;
    }
}

static void on_return(qemu_plugin_id_t id, unsigned cpu, int64_t number, int64_t result)
{
    struct hn_thread *me = hn_me;
    struct guest *g;

    (void)id, (void)cpu;
    if (me == &hn_no_thread)
        return;
    dispatch_over();
    g = guest_of(me);
    if (hn_c->order == 0) {
        unpatch(g);
        return;
    }
    if (me->state != HN_RUNNING)
        hn_enter(me);
    unpatch(g);
    if (!recording(me) || me->state != HN_RUNNING)
        return;
    if (!hn_deterministic())
        hn_stamp(me);
    after_call(me, g, result);
    if (result > 0)
        guest_transfer(me, g->call, g->arguments, (uint64_t)result);
    hn_drop_pieces(&g->pieces);
    g->call = CALL_NONE;
    hn_event(me, HN_EV_SYSCALL_EXIT, (uint64_t)number, 0);
    settle(me);
    count_again();
    hn_mark += hn_instructions - g->paused_at;
}

void guest_syscalls_register(qemu_plugin_id_t id)
{
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
}
