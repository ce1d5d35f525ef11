/* Directed order: a simulation in the recorder's process schedules the threads.
 *
 * It writes a list of turns. The threads take them one after the other, as they pass on the baton
 * in deterministic order; after the last turn they notify the simulation, which reads the records.
 * The thread that ran last waits for the next list (the list waiter); all others sleep until their
 * turn. So another turn of the thread that ran last costs no switch.
 *
 * Before a thread waits, or does what depends on others, it records a fact that says what it waits
 * for, and its turn ends; it gets the next one when the wait is over in the simulated machine. If a
 * blocked thread gets a turn without having been woken, its wait has timed out.
 */
#include "hn.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

/* Polls for the next list before sleeping: they take about as long as a sleep and a wake-up, so at
 * most twice the shorter of the two is lost. Fewer where the simulation may be on the same
 * processor. */
enum { LOOKS = 2000, LOOKS_TOGETHER = 20, DIRECTOR_PATIENCE_NS = 20000000, GIVE_WAY_NS = 1000,
       GIVE_WAY_REFERENCES = 100 };

int hn_directed;

static inline void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

static const struct hn_granted *list(void)
{
    return (const struct hn_granted *)((const char *)hn_shared + HN_TURNS_AT);
}

/* All turns of the list are over. Locked. */
static void report(void)
{
    if (hn_shared->turns_done == hn_c->list)
        return;
    __atomic_store_n(&hn_shared->turns_done, hn_c->list, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&hn_shared->director_waits, __ATOMIC_SEQ_CST))
        hn_futex(&hn_shared->turns_done, FUTEX_WAKE, 1, NULL);
}

static void begin_turn(struct hn_thread *t, const struct hn_granted *turn)
{
    if (t->state == HN_BLOCKED)
        hn_unblock(t, turn->timed_out ? HN_BY_TIME : HN_BY_SIMULATION);
    hn_list_remove(&hn_c->ready, t);
    t->timed_out = (int)turn->timed_out;
    if (t->simulated_ns < turn->now_ns)     /* it never goes back */
        t->simulated_ns = turn->now_ns;
    t->exact = (int)turn->exact;
    hn_take_baton(t);
    t->turn_left = turn->references;
    hn_set_limit(t);
}

/* The baton is free: gives it to the thread with the next turn of the list. Locked. */
void hn_direct(struct hn_thread *me)
{
    while (hn_c->list_at < hn_c->list_count) {
        const struct hn_granted *turn = list() + hn_c->list_at++;
        struct hn_thread *t = &hn_slots[turn->thread % HN_THREADS_MAX];

        if (t->state != HN_READY && t->state != HN_BLOCKED)
            continue;
        begin_turn(t, turn);
        hn_hand_over(me, t);
        return;
    }
    if (me != NULL)
        hn_c->list_waiter = me;
    report();
}

/* The calling thread cannot wait for the next list: lets another one wait. Locked. */
void hn_pass_on(void)
{
    struct hn_thread *t = hn_c->blocked.first != NULL ? hn_c->blocked.first : hn_c->ready.first;

    if (!hn_directed || hn_c->holder != NULL || hn_c->list_waiter != NULL || t == NULL)
        return;
    hn_c->list_waiter = t;
    hn_signal_go(t, HN_GO_LOOK);
}

static int is_next(void)
{
    return __atomic_load_n(&hn_shared->turns_made, __ATOMIC_ACQUIRE) != hn_c->list;
}

static void sleep_until_next(void)
{
    const struct timespec patience = {0, DIRECTOR_PATIENCE_NS};

    __atomic_store_n(&hn_shared->program_waits, 1, __ATOMIC_SEQ_CST);
    if (!is_next() &&
        hn_futex(&hn_shared->turns_made, FUTEX_WAIT, hn_c->list, &patience) == -ETIMEDOUT &&
        hn_sys(SYS_kill, hn_shared->recorder_pid, 0, 0, 0) == -ESRCH)
        hn_go_silent();
    __atomic_store_n(&hn_shared->program_waits, 0, __ATOMIC_SEQ_CST);
}

/* Waits for the next list; 0 if the thread is not the list waiter. */
int hn_await_list(struct hn_thread *me)
{
    static int looks;

    if (me->go == HN_GO_LOOK)
        me->go = 0;
    if (hn_c->list_waiter != me)
        return 0;
    if (looks == 0)
        looks = CPU_COUNT(&hn_affinity) > 1 ? LOOKS : LOOKS_TOGETHER;
    for (int i = 0; i < looks && !is_next(); i++)
        rest();
    if (!is_next())
        sleep_until_next();
    hn_lock();
    if (me->put_off != 0 && me->state == HN_BLOCKED)
        hn_interrupt(me, HN_BY_SIGNAL);
    if (hn_c->list_waiter == me && hn_c->holder == NULL && is_next()) {
        hn_c->list_waiter = NULL;
        hn_c->list = hn_shared->turns_made;
        hn_c->list_count = hn_shared->turns_count;
        hn_c->list_at = 0;
        hn_direct(me);
    }
    hn_unlock_for_successor(me);
    return 1;
}

/* Reports that something outside of the simulation happened to a thread. */
void hn_note_stray(const struct hn_thread *t, size_t place)
{
    uint64_t *bits = (uint64_t *)((char *)hn_shared + place);

    __atomic_fetch_or(&bits[t->number / 64], UINT64_C(1) << (t->number % 64), __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&hn_shared->strays, 1, __ATOMIC_SEQ_CST);
}

void hn_fact(struct hn_thread *me, int code, const void *object, int64_t limit_ns)
{
    const uint64_t none = 0xffffffffffff;

    hn_event(me, code, (uintptr_t)object,
             limit_ns < 0 || (uint64_t)limit_ns > none ? none : (uint64_t)limit_ns);
}

/* Whether the trace has the end of a wait of this class. */
static int is_counted(int class)
{
    return class == HN_W_CONDITION || class == HN_W_SEMAPHORE;
}

void hn_report_wait(struct hn_thread *me, const void *address, int class, int64_t limit_ns)
{
    const struct hn_thread *ends = address;

    if (class == HN_W_JOIN)
        hn_fact(me, HN_EV_JOINS, (const void *)(uintptr_t)ends->number, limit_ns);
    else
        hn_fact(me, is_counted(class) ? HN_EV_WAITS : HN_EV_PAUSES, NULL, limit_ns);
}

/* A thread that waited has a turn, and was not woken: it no longer waits. */
void hn_report_given_up(struct hn_thread *me, int class)
{
    if (me->woken != HN_BY_WAKE && (is_counted(class) || class == HN_W_JOIN))
        hn_fact(me, HN_EV_GIVES_UP, NULL, -1);
}

/* `me` has woken `t`. A thread that takes a lock again after its wait refers to the condition and
 * the lock next: that is recorded here, to show which signal ended which wait. Locked. */
void hn_report_woken(struct hn_thread *me, struct hn_thread *t, int class)
{
    if (me->state != HN_RUNNING) {
        hn_note_stray(t, HN_RELEASED_AT);
        return;
    }
    /* The end of a thread is an event, and the simulation has the threads that wait for it. */
    if (class == HN_W_JOIN)
        return;
    hn_event(me, is_counted(class) ? HN_EV_ENDS : HN_EV_RESUMES, t->number, 0);
    if (t->relock != NULL && class == HN_W_CONDITION)
        hn_put_awake(me, t);
}

/* Whether the thread can end its turn here. */
int hn_may_ask(struct hn_thread *me)
{
    return hn_directed && hn_c->order != 0 && me->state == HN_RUNNING && !me->in_runtime &&
           !me->no_yield && !hn_in_handler(me);
}

/* Whether the next reference is the first of a turn of the thread with the least simulated time, or
 * cannot be. */
int hn_is_exact(struct hn_thread *me)
{
    return !hn_may_ask(me) ||
           (me->exact && hn_virtual_ns(me->next, me->block_end) == me->turn_began_ns);
}

void hn_exact_turn(struct hn_thread *me)
{
    while (!hn_is_exact(me))
        hn_yield(me);
}

/* Ends the turn with a fact, and waits for the next turn. Returns ETIMEDOUT if the wait has timed
 * out, else 0. */
int hn_ask(struct hn_thread *me, int code, const void *object, int64_t limit_ns)
{
    if (!hn_may_ask(me))
        return 0;
    hn_fact(me, code, object, limit_ns);
    hn_yield(me);
    if (!me->timed_out)
        return 0;
    me->timed_out = 0;
    hn_fact(me, HN_EV_GIVES_UP, NULL, -1);
    return ETIMEDOUT;
}

int hn_ask_lock(struct hn_thread *me, const void *lock, int64_t limit_ns)
{
    int result;

    if (!hn_may_ask(me))
        return 0;
    me->asked = lock;
    result = hn_ask(me, HN_EV_ASKS, lock, limit_ns);
    me->asked = NULL;
    me->owes_lock = result == 0;
    return result;
}

/* Whether another thread waits for the lock, so that a trylock must fail. */
int hn_is_asked_for(const struct hn_thread *me, const void *lock)
{
    if (!hn_directed)
        return 0;
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (&hn_slots[i] != me && hn_slots[i].asked == lock && hn_slots[i].state != HN_UNUSED)
            return 1;
    return 0;
}

/* Lets others run. In directed order that takes simulated time; a thread that polls would otherwise
 * poll at one point of time without end. */
void hn_let_others_run(struct hn_thread *me)
{
    if (hn_directed) {
        hn_block(me, me, HN_W_TIME, GIVE_WAY_NS);
    } else if (hn_logical) {
        hn_jump(me, hn_c->quantum > GIVE_WAY_REFERENCES ? hn_c->quantum : GIVE_WAY_REFERENCES);
        hn_take_turn(me);
        hn_note_jump(me);
    } else {
        hn_yield(me);
    }
}

/* The time for the running thread. */
uint64_t hn_now_ns(const struct hn_thread *me)
{
    if (hn_logical)
        return hn_clock(me) * HN_NS_PER_RECORD;
    return hn_directed ? me->simulated_ns : hn_virtual_ns(me->next, me->block_end);
}
