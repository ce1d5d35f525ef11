/* Threads: numbers, start, end, join, detach, cancel.
 *
 * Numbers are dense: a new thread gets the lowest one that is free, and a number is free again when
 * its thread has ended and was joined (or was detached). So a program that keeps creating and
 * joining eight workers uses eight numbers however often it does so.
 */
#include "hn.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { POOL_PATIENCE_NS = 100000000 };

static pthread_key_t end_key;

/* The slot of a thread that has not been joined; null if there is none. */
struct hn_thread *hn_find_thread(pthread_t thread)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (hn_slots[i].state != HN_UNUSED && hn_slots[i].pthread == thread)
            return &hn_slots[i];
    return NULL;
}

static void main_stack(uint64_t *low, uint64_t *high)
{
    enum { PAGE = 4096 };
    const uint64_t most = UINT64_C(1) << 26;
    struct rlimit limit;
    uint64_t size = most;

    /* The name of the executable is the last thing on the stack. */
    *high = (getauxval(AT_EXECFN) + PAGE - 1) / PAGE * PAGE;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most)
        size = limit.rlim_cur;
    *low = *high - size;
}

static void thread_stack(uint64_t *low, uint64_t *high)
{
    pthread_attr_t attributes;
    void *base = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &base, &size);
        pthread_attr_destroy(&attributes);
    }
    *low = (uint64_t)(uintptr_t)base;
    *high = *low + size;
}

/* Static thread-local storage of the calling thread: the blocks of all modules, near the thread
 * pointer. */
static int add_tls(struct dl_phdr_info *info, size_t size, void *range)
{
    const uint64_t near = UINT64_C(1) << 20;
    const uint64_t here = (uint64_t)(uintptr_t)pthread_self();
    uint64_t *low_high = range;
    uint64_t start;

    if (size < sizeof *info || info->dlpi_tls_data == NULL)
        return 0;
    start = (uint64_t)(uintptr_t)info->dlpi_tls_data;
    if (start + near < here || start > here + near)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t end = start + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_TLS)
            continue;
        if (low_high[0] == 0 || start < low_high[0])
            low_high[0] = start;
        if (end > low_high[1])
            low_high[1] = end;
    }
    return 0;
}

/* Records the start of the calling thread, with its stack and thread-local storage. */
void hn_announce(struct hn_thread *me)
{
    /* A pool thread starts again in every region. */
    static __thread uint64_t words[4] __attribute__((tls_model("initial-exec")));

    me->in_runtime++;
    if (words[1] == 0) {
        if (me->number == 0)
            main_stack(&words[0], &words[1]);
        else
            thread_stack(&words[0], &words[1]);
        dl_iterate_phdr(add_tls, &words[2]);
    }
    if (pthread_getspecific(end_key) == NULL)
        pthread_setspecific(end_key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
    /* A thread that has waited for its turn may be on another's kernel thread by now, and knows. */
    if (me->tid == 0)
        me->tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
    me->in_runtime = 0;
    hn_event_with(me, HN_EV_THREAD_START, words);
}

static void end_of_thread(struct hn_thread *me)
{
    if (me->state == HN_UNUSED || hn_c->order == 0)
        return;
    hn_enter(me);
    if (hn_logical)
        hn_take_turn(me);
    hn_must_go_home(me);
    hn_event(me, HN_EV_THREAD_EXIT, 0, 0);
    hn_wake(me, HN_W_JOIN, INT_MAX);
    if (me->tid != hn_c->pid)
        hn_c->dying_tid = me->tid;
    hn_finish(me, me->detached ? HN_UNUSED : HN_DEAD);
}

/* Thread-specific data is destroyed in rounds; ours lasts until the last one, so that the
 * program's own destructors are recorded, however the thread ends. */
static void end_round(void *round)
{
    uintptr_t left = (uintptr_t)round;

    if (left > 1)
        pthread_setspecific(end_key, (void *)(left - 1));
    else
        end_of_thread(hn_me);
}

void hn_thread_init(void)
{
    pthread_key_create(&end_key, end_round);
}

static void *trampoline(void *slot)
{
    struct hn_thread *me = slot;

    hn_me = me;
    me->tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
    if (hn_deterministic())
        hn_wait_turn(me);
    else
        hn_stamp(me);
    if (hn_c->order != 0)
        hn_announce(me);
    me->in_runtime = 0;
    return me->start(me->argument);
}

INTERPOSE(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attributes,
                                void *(*start)(void *), void *argument))
{
    struct hn_thread *me = hn_inside();
    struct hn_thread *t = me == NULL || me->gomp_pool ? NULL : hn_register();
    int detach_state = PTHREAD_CREATE_JOINABLE;
    int result;

    if (t == NULL)
        return REAL(pthread_create)(thread, attributes, start, argument);
    hn_frames(me, HN_FRAME, HN_CALLER);
    t->start = start;
    t->argument = argument;
    if (attributes != NULL)
        pthread_attr_getdetachstate(attributes, &detach_state);
    t->detached = detach_state == PTHREAD_CREATE_DETACHED;
    hn_event(me, HN_EV_THREAD_CREATE, t->number, 0);
    me->in_runtime++;
    result = REAL(pthread_create)(&t->pthread, attributes, trampoline, t);
    me->in_runtime--;
    if (result != 0) {
        hn_release(t);
        return result;
    }
    *thread = t->pthread;
    if (hn_deterministic())
        hn_make_ready(t);
    return 0;
}

/* Waits for a thread's end under the baton; ETIMEDOUT when the virtual time-out comes first. */
static int wait_for_end(struct hn_thread *me, struct hn_thread *t, int64_t timeout_ns)
{
    while (t->state != HN_DEAD && hn_c->order != 0) {
        enum hn_woken why;

        me->wait_cancellable = 1;
        why = hn_block(me, t, HN_W_JOIN, timeout_ns);
        me->wait_cancellable = 0;
        pthread_testcancel();
        if (why == HN_BY_TIME && t->state != HN_DEAD)
            return ETIMEDOUT;
    }
    return 0;
}

static void joined(struct hn_thread *t, uint32_t number)
{
    struct hn_thread *me = hn_inside();

    if (me == NULL)
        return;
    hn_stamp(me);
    hn_event(me, HN_EV_THREAD_JOIN, number, 0);
    hn_release(t);
}

/* Whether the runtime performs the wait for `thread`: the C library returns at once for the calling
 * thread itself, for detached and for unknown threads. */
static struct hn_thread *joinable(struct hn_thread *me, pthread_t thread)
{
    struct hn_thread *t = me == NULL ? NULL : hn_find_thread(thread);

    return t == NULL || t == me || t->detached || !hn_deterministic() ? NULL : t;
}

INTERPOSE(int, pthread_join, (pthread_t thread, void **value))
{
    struct hn_thread *me = hn_inside();
    struct hn_thread *t = me == NULL ? NULL : hn_find_thread(thread);
    struct hn_thread *waits = joinable(me, thread);
    uint32_t number = t == NULL ? 0 : t->number;
    int result;

    if (waits != NULL)
        wait_for_end(me, waits, -1);
    else if (me != NULL && t == NULL)
        hn_leave(me);           /* a thread that was not recorded: wait as the C library does */
    result = REAL(pthread_join)(thread, value);
    if (result == 0 && t != NULL)
        joined(t, number);
    return result;
}

INTERPOSE(int, pthread_tryjoin_np, (pthread_t thread, void **value))
{
    struct hn_thread *me = hn_inside();
    struct hn_thread *t = joinable(me, thread);
    int result;

    if (t == NULL)
        return REAL(pthread_tryjoin_np)(thread, value);
    if (t->state != HN_DEAD) {
        hn_let_others_run(me);
        return EBUSY;
    }
    result = pthread_join(thread, value);
    return result;
}

INTERPOSE(int, pthread_clockjoin_np, (pthread_t thread, void **value, clockid_t clock,
                                      const struct timespec *deadline))
{
    struct hn_thread *me = hn_inside();
    struct hn_thread *t = joinable(me, thread);

    if (t == NULL)
        return REAL(pthread_clockjoin_np)(thread, value, clock, deadline);
    if (wait_for_end(me, t, hn_until(deadline, clock)) == ETIMEDOUT)
        return ETIMEDOUT;
    return pthread_join(thread, value);
}

INTERPOSE(int, pthread_timedjoin_np, (pthread_t thread, void **value,
                                      const struct timespec *deadline))
{
    if (joinable(hn_inside(), thread) == NULL)
        return REAL(pthread_timedjoin_np)(thread, value, deadline);
    return pthread_clockjoin_np(thread, value, CLOCK_REALTIME, deadline);
}

HN_DECLARE_REAL(int, pthread_detach, (pthread_t));

/* The futex by which a master lets a thread of its pool end, or null. Locked. */
static uint32_t *pool_word(struct hn_thread *master, int tid)
{
    const int *tids = (const int *)(master->pool + master->pool_size);

    for (uint32_t i = 1; master->pool != NULL && i < master->pool_size; i++)
        if (tids[i] == tid)
            return (uint32_t *)tids + master->pool_size + i;
    return NULL;
}

static int detach_thread(struct hn_thread *me, pthread_t thread)
{
    struct hn_thread *t = me == NULL ? NULL : hn_find_thread(thread);
    int result = REAL(pthread_detach)(thread);

    if (result == 0 && t != NULL) {
        t->detached = 1;
        if (t->state == HN_DEAD)
            hn_release(t);
    }
    return result;
}

/* The end of a thread of libgomp's pool: one after the other, when the master allows it, because
 * the next thread gets the stack of the one that ended last. The wait is limited, as the master
 * may be gone. */
static void end_in_order(void)
{
    const struct timespec patience = {0, POOL_PATIENCE_NS};
    const int tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
    uint32_t *may_end = NULL;

    hn_lock();
    for (uint32_t i = 0; i < hn_c->slots_used && may_end == NULL; i++)
        may_end = pool_word(&hn_slots[i], tid);
    hn_unlock();
    /* The pool outlives it: its master frees it when the thread is dead. */
    if (may_end != NULL && __atomic_load_n(may_end, __ATOMIC_ACQUIRE) == 0)
        hn_futex(may_end, FUTEX_WAIT_PRIVATE, 0, &patience);
}

INTERPOSE_DECLARED(int, pthread_detach, (pthread_t thread))
{
    struct hn_thread *me = hn_inside();

    if (me == NULL && hn_recording && hn_deterministic() && thread == pthread_self())
        end_in_order();
    return detach_thread(me, thread);
}

/* The cancelled thread may be asleep waiting for the baton, where the C library cannot reach it. */
INTERPOSE(int, pthread_cancel, (pthread_t thread))
{
    struct hn_thread *me = hn_inside();
    struct hn_thread *t = me == NULL ? NULL : hn_find_thread(thread);
    int result = REAL(pthread_cancel)(thread);

    if (result == 0 && t != NULL && hn_deterministic()) {
        me->in_runtime++;
        hn_lock();
        if (t->state == HN_BLOCKED && t->wait_cancellable)
            hn_interrupt(t, HN_BY_CANCEL);
        else if (hn_logical && t != me && t->cancelled_anywhere)
            hn_shared->signals++;   /* the thread sees it at an arbitrary place */
        hn_unlock();
        me->in_runtime--;
    }
    if (result == 0 && t != NULL && t == me && me->cancelled_anywhere)
        pthread_testcancel();
    return result;
}

/* The check for cancellation is made in turn: a thread whose clock is behind may cancel first. */
IN_TURN(void, pthread_testcancel, (void), )

/* What runs in this memory is not one of the C library's threads, and has no slot, also if the
 * kernel calls it a process: if it shares its maker's thread-local storage, as without
 * CLONE_SETTLS, its references are lost or attributed to the maker. */
INTERPOSE(int, clone, (int (*start)(void *), void *stack, int flags, void *argument, ...))
{
    void *more[3];
    va_list rest;

    va_start(rest, argument);
    for (int i = 0; i < 3; i++)
        more[i] = va_arg(rest, void *);
    va_end(rest);
    if ((flags & CLONE_VM) != 0 && hn_recording && hn_c->order != 0)
        hn_count_lost_thread();
    return REAL(clone)(start, stack, flags, argument, more[0], more[1], more[2]);
}

/* Cancelled at any instruction, a thread could die in the middle of a hook. Here any instruction
 * means the next hook that looks: at the latest when the quantum is over. */
INTERPOSE(int, pthread_setcanceltype, (int type, int *old))
{
    struct hn_thread *me = hn_inside();
    int before;

    if (me == NULL || (type != PTHREAD_CANCEL_ASYNCHRONOUS && type != PTHREAD_CANCEL_DEFERRED))
        return REAL(pthread_setcanceltype)(type, old);
    before = me->cancelled_anywhere ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    me->cancelled_anywhere = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    if (old != NULL)
        *old = before;
    if (me->cancelled_anywhere)
        pthread_testcancel();
    return 0;
}
