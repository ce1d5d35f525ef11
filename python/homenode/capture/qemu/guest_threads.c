/* The program's threads: numbers, stacks, beginning and end.
 *
 * Numbers are dense and assigned in the order of creation. A number is free again when its thread
 * has been joined: glibc then marks the thread's descriptor; or when its stack is unmapped or used
 * by another thread.
 */
#include "registers.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    NEAR_BYTES = 1 << 20,
    GUESSED_STACK_BYTES = 1 << 18,
    PATIENCE_NS = 10000000,
    PATIENCE_TIMES = 500
};

struct guest hn_guests[HN_THREADS_MAX];

/* The thread that a host thread of QEMU was made to run, until it runs it. */
static __thread struct guest *expected;
static pthread_key_t end_key;

struct beginning {
    void *(*run)(void *);
    void *argument;
    struct guest *g;
};

static void clear(struct guest *g)
{
    memset(g, 0, sizeof *g);
}

/* Memory and number of a thread that begins. */
static void announce(struct hn_thread *me)
{
    const struct guest *g = guest_of(me);
    const uint64_t words[4] = {g->stack_low, g->stack_high, g->tls_low, g->tls_high};

    /* A thread that has waited for its turn may be on another's kernel thread by now, and knows. */
    if (me->tid == 0)
        me->tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
    pthread_setspecific(end_key, me);
    hn_event_with(me, HN_EV_THREAD_START, words);
}

/* The thread has run its last instruction, and QEMU has cleared its word. */
static void end_of_member(void *slot)
{
    struct hn_thread *me = slot;
    struct guest *g = guest_of(me);

    if (hn_c->order == 0 || me->state == HN_UNUSED)
        return;
    if (me->state == HN_OUTSIDE)
        hn_enter(me);
    if (g->tid_word != 0)
        futex_wake(me, g->tid_word, INT32_MAX);
    hn_finish(me, HN_DEAD);
}

/* In a child of fork: its one thread was a thread of the parent. */
void guest_threads_alone(const struct guest *was)
{
    struct hn_thread *me = hn_first_thread();
    struct guest *g;

    memset(hn_guests, 0, sizeof hn_guests);
    g = guest_of(me);
    *g = *was;
    g->child = NULL;
    g->in_block = g->draining = 0;
    g->paused_at = hn_instructions;
    me->in_runtime = 0;
    announce(me);
    if (g->tid_word != 0 && g->tls_high == 0)
        guest_thread_tid_word(me, g->tid_word);
}

/* At the first translation: the program is loaded and has not run. */
void guest_threads_begin(void)
{
    static int begun;
    struct hn_thread *me;

    if (begun || hn_shared == NULL)
        return;
    begun = 1;
    layout_loaded();
    if (!hn_make_control())
        return;
    hn_greet();
    hn_read_settings();
    hn_user_threads_init();
    pthread_key_create(&end_key, end_of_member);
    processes_begin();
    call_stacks_begin();
    hn_c->skipped_ns = hn_c->idle_ns = hn_shared->began_ns;
    me = hn_first_thread();
    me->turn_began_ns = hn_shared->began_ns;
    main_stack_of_guest(&guest_of(me)->stack_low, &guest_of(me)->stack_high);
    environment_restore(guest_of(me)->stack_low, guest_of(me)->stack_high);
    guest_of(me)->arrived = ARRIVAL_DONE;
    me->in_runtime = 0;
    count_on(0);
    if (hn_deterministic())
        hn_pin();       /* before the first turn: the number of polls for it depends on it */
    announce(me);
    settle(me);
}

static void say_arrival(struct guest *g, uint32_t how)
{
    __atomic_store_n(&g->arrived, how, __ATOMIC_RELEASE);
    hn_futex(&g->arrived, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

/* A host thread of QEMU that has not recorded yet is about to run the program's code. */
void arrive(unsigned cpu)
{
    struct guest *g = expected;
    struct hn_thread *me;

    if (g == NULL)
        return;
    expected = NULL;
    me = slot_of(g);
    hn_me = me;
    say_arrival(g, ARRIVAL_DONE);
    me->tid = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
    if (hn_deterministic())
        hn_wait_turn(me);
    g->in_block = 0;
    me->in_runtime = 0;
    count_on(cpu);
    hn_mark = *hn_count;
    if (hn_c->order == 0)
        return;
    if (!hn_deterministic())
        hn_stamp(me);
    announce(me);
    yield_in_block(me);
}

static void *begin(void *of)
{
    const struct beginning b = *(struct beginning *)of;

    free(of);
    expected = b.g;
    return b.run(b.argument);
}

/* QEMU makes a host thread for the thread that the program is about to make. */
HN_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*run)(void *), void *argument)
{
    typedef int function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static function *real;
    struct guest *g = hn_me == &hn_no_thread ? NULL : guest_of(hn_me)->child;
    struct beginning *b = g == NULL ? NULL : malloc(sizeof *b);
    int result;

    if (real == NULL)
        real = (function *)dlsym(RTLD_NEXT, "pthread_create");
    if (b == NULL)
        return real(thread, attributes, run, argument);
    *b = (struct beginning){run, argument, g};
    result = real(thread, attributes, begin, b);
    if (result != 0)
        free(b);
    return result;
}

/* Whether a thread that has ended has been joined. */
static int is_joined(const struct guest *g)
{
    int32_t word;

    return g->tid_word != 0 && peek(g->tid_word, &word, sizeof word) && word != 0;
}

static void free_numbers(uint64_t tid_word)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        struct guest *g = &hn_guests[i];

        if (hn_slots[i].state == HN_DEAD && g->tid_word != 0 &&
            (g->tid_word == tid_word || is_joined(g)))
            hn_release(&hn_slots[i]);
    }
}

/* Memory is unmapped: frees the numbers of ended threads whose stacks were there. */
void guest_threads_unmapped(uint64_t start, uint64_t size)
{
    for (uint32_t i = 0; hn_deterministic() && i < hn_c->slots_used; i++)
        if (hn_slots[i].state == HN_DEAD && hn_guests[i].stack_high > start &&
            hn_guests[i].stack_high <= start + size)
            hn_release(&hn_slots[i]);
}

/* glibc puts descriptor and thread-local storage above the stack, in one mapping. A stack that the
 * program made itself may be in the middle of other memory; Go's are known. */
static void find_stack(struct guest *g, uint64_t pointer)
{
    const struct region *r = pointer == 0 ? NULL : region_at(pointer - 1);

    g->stack_high = pointer;
    if (go_stack_at(pointer - 1, &g->stack_low, &g->stack_high))
        return;
    if (r != NULL && r->end - pointer <= NEAR_BYTES) {
        g->stack_low = r->start;
        g->tls_low = pointer;
        g->tls_high = r->end;
        return;
    }
    g->stack_low = pointer > GUESSED_STACK_BYTES ? pointer - GUESSED_STACK_BYTES : 0;
    if (r != NULL && g->stack_low < r->start)
        g->stack_low = r->start;
}

/* A thread is about to be made, by clone with: flags, stack pointer, addresses of its number in the
 * parent and of the word to clear, thread-local storage. */
void guest_thread_expect(struct hn_thread *me, const uint64_t clone[5])
{
    const uint64_t tid_word = (clone[0] & CLONE_CHILD_CLEARTID) != 0 ? clone[3] : 0;
    struct hn_thread *t;
    struct guest *g;

    free_numbers(tid_word);
    t = hn_register();
    guest_of(me)->child = NULL;
    if (t == NULL)
        return;
    g = guest_of(t);
    clear(g);
    g->tid_word = tid_word;
    g->in_block = 1;
    find_stack(g, clone[1]);
    guest_of(me)->child = g;
    /* Else when it is known to be made, as it cannot run before. */
    if (!hn_deterministic())
        hn_event(me, HN_EV_THREAD_CREATE, t->number, 0);
}

/* Waits until a new thread is past this state; returns whether it is. */
static int await_change(struct guest *g, uint32_t from)
{
    const struct timespec patience = {0, PATIENCE_NS};

    for (int i = 0; i < PATIENCE_TIMES; i++) {
        if (__atomic_load_n(&g->arrived, __ATOMIC_ACQUIRE) != from)
            return 1;
        hn_futex(&g->arrived, FUTEX_WAIT_PRIVATE, from, &patience);
    }
    return 0;
}

/* Waits until the new thread is at its first instruction. QEMU may next want all processors out of
 * translated code, and whether this one is in it must be repeatable. */
static void await_arrival(struct hn_thread *me, struct guest *g)
{
    int come = await_change(g, ARRIVAL_NOT_YET);

    if (come && g->arrived == ARRIVAL_WANTS_ALL) {
        lend(me);
        say_arrival(g, ARRIVAL_HAS_ALL);
        come = await_change(g, ARRIVAL_HAS_ALL);
    }
    hn_shared->forced += !come;
}

/* Whether the caller is a new thread that its maker still waits for. */
int guest_thread_is_new(void)
{
    return expected != NULL && expected->arrived == ARRIVAL_NOT_YET && hn_deterministic();
}

/* QEMU 9 and later want all processors out of translated code when a new thread's is the 17th, the
 * 33rd and so on, and wait for that in the new thread, which has no turn to lend: its maker, which
 * waits for it, lends its own. */
void guest_thread_wants_all(void)
{
    say_arrival(expected, ARRIVAL_WANTS_ALL);
    await_change(expected, ARRIVAL_WANTS_ALL);
}

/* Called after the call that makes a thread, which may have failed. */
void guest_thread_made(struct hn_thread *me, int64_t result)
{
    struct guest *g = guest_of(me)->child;

    guest_of(me)->child = NULL;
    if (g == NULL)
        return;
    if (result < 0)
        hn_release(slot_of(g));
    if (result < 0 || !hn_deterministic())
        return;
    hn_event(me, HN_EV_THREAD_CREATE, slot_of(g)->number, 0);
    me->in_runtime++;
    await_arrival(me, g);
    me->in_runtime--;
    hn_make_ready(slot_of(g));
}

void guest_thread_exits(struct hn_thread *me)
{
    guest_of(me)->exiting = 1;
    hn_event(me, HN_EV_THREAD_EXIT, 0, 0);
}

/* The thread sets the word that is cleared at its end. */
void guest_thread_tid_word(struct hn_thread *me, uint64_t address)
{
    uint64_t words[4] = {0, 0, 0, 0};

    guest_of(me)->tid_word = address;
    if (me->number != 0)
        return;
    words[0] = tid_word_to_tls(address, &words[2]);
    hn_event_with(me, HN_EV_PRIVATE, words);
}
