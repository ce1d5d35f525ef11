/* Internals of the runtime that is linked into a recorded program: state, fast path, interposition.
 *
 * Every thread has a slot. The slot of a thread that may record (in deterministic order: of the one
 * that holds the baton) has `next < limit`; in every other slot `limit` is null. So a hook needs
 * one comparison to check that the thread is registered, has the turn, has some of its quantum
 * left, and has room in the ring. Slots and control are in memory that the kernel wipes in a forked
 * child, so any child stops recording at once, however it was made.
 */
#ifndef HN_H
#define HN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "wire.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc turns loops into calls of memset and memcpy even with -fno-builtin. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

#define HN_LIKELY(x) __builtin_expect(!!(x), 1)
#define HN_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HN_EXPORT __attribute__((visibility("default")))
#define HN_CALLER ((uintptr_t)__builtin_return_address(0) - 1)
#define HN_FRAME __builtin_frame_address(0)

/* The program's call of a lock, also where a function of C11 (c11.c) makes ours. */
#define HN_LOCK_CALLER hn_lock_caller(HN_CALLER, HN_FRAME)
extern const char __start_hn_c11[], __stop_hn_c11[];

static inline uintptr_t hn_lock_caller(uintptr_t pc, const void *frame)
{
    const uintptr_t *const outer = *(const uintptr_t *const *)frame;

    if (pc < (uintptr_t)__start_hn_c11 || pc >= (uintptr_t)__stop_hn_c11)
        return pc;
    return outer[1] - 1;
}

/* Hooks have a section of their own: a signal that interrupts one is recognised by its address. */
#define HN_HOOK HN_EXPORT __attribute__((section("hn_hooks"), used))

enum { HN_THREADS_MAX = 4096, HN_NS_PER_SECOND = 1000000000, HN_CLOCKS = 8, HN_NAME_BYTES = 255 };

enum hn_state {
    HN_UNUSED,      /* slot is free (zero, as the kernel wipes slots in a forked child) */
    HN_RUNNING,     /* holds the baton; in free order: runs */
    HN_READY,       /* waits for the baton */
    HN_BLOCKED,     /* waits for an address to be woken */
    HN_OUTSIDE,     /* in the kernel or in foreign code, without the baton */
    HN_DEAD         /* ended, but not joined yet */
};

/* Why a wait ended. */
enum hn_woken { HN_BY_WAKE, HN_BY_TIME, HN_BY_SIGNAL, HN_BY_CANCEL, HN_BY_SIMULATION };

struct hn_team;
struct hn_task;

struct hn_thread {
    struct hn_record *next;     /* where the next record goes */
    struct hn_record *limit;    /* the slow path looks at everything from here on */
    uint64_t tag;               /* thread number, shifted to its place in a record */
    struct hn_record *block_end;
    struct hn_record *turn_start;
    int64_t turn_left;          /* records of the quantum left at turn_start */
    uint32_t go;                /* futex: HN_GO when the baton arrives, or another HN_GO_ */
    enum hn_state state;
    int in_runtime;             /* signal handlers wait, allocations are not events */
    int no_yield;
    int in_handler;             /* must not yield: the interrupted code may hold a C library lock */
    uintptr_t handler_low, handler_high;    /* a frame elsewhere has left it by siglongjmp */
    const void *wait_address;
    int wait_class;
    int wait_cancellable;
    enum hn_woken woken;
    uint64_t deadline_ns;       /* virtual time at which a timed wait ends, 0: never */
    uint64_t ran_ns;            /* virtual time of all turns before this one */
    uint64_t turn_began_ns;
    struct hn_thread *queue_next, *queue_previous;
    uint32_t number;
    int tid;
    pthread_t pthread;
    int detached;
    int cancelled_anywhere;     /* asynchronous cancellation, as the program believes */
    int gomp_pool;              /* a libgomp pool thread, registered only inside a region */
    void *(*start)(void *);
    void *argument;
    struct hn_team *team;
    struct hn_task *task;
    struct hn_thread **pool;    /* a team's master: members and tids of its last region */
    uint32_t pool_size;
    uint32_t ring;
    uint64_t blocks_done;       /* a ring of its own: blocks of it that are filled */
    uint64_t clock;             /* logical order: references before turn_start, and jumps */
    uint64_t published;         /* the clock, or a smaller value while the thread runs */
    uint64_t stop;              /* clock from which on others wait for it */
    uint64_t op_clock;          /* clock after the last reference of its last operation */
    uint64_t deadline_clock;    /* of a timed wait, 0: never */
    uint64_t turn_end;          /* clock at the end of its last turn */
    int fresh;                  /* nothing has been recorded in its turn */
    uint64_t turn;              /* while it waits: the clock that it waits for, in quanta */
    int deadline_passed;        /* in real time */
    uint32_t version;           /* odd while clock, next and turn_start are inconsistent */
    uint32_t hidden;
    uint32_t jumped;            /* its clock has jumped, and that is not in its ring yet */
    uint32_t waker;             /* 1 + number of the thread that made it jump, or 0 */
    const volatile void *repeats;   /* address of its last atomic operation, and how often */
    uint32_t repeated;
    int raises;                 /* it sends a signal to itself */
    uint64_t put_off;           /* signals blocked until the thread leaves the runtime */
    int restarts;               /* the last handler had SA_RESTART */
    int may_restart;            /* the present call is restarted after such a handler */
    int waiting;                /* asleep in hn_wait_turn, without the lock */
    int stays_home;             /* must not be parked: its kernel thread may not run others now */
    uint64_t simulated_ns;      /* directed order: simulated time at the beginning of its turn */
    int exact;                  /* no thread had less simulated time at the beginning of its turn */
    int timed_out;              /* the simulation ended its wait for a lock or a thread's end */
    const void *asked;          /* lock that it has asked the simulation for */
    int owes_lock;              /* it has the lock in the simulation, but not yet in the trace */
    const void *relock;         /* lock that it takes again after its wait for a condition */
    uintptr_t relock_pc;
    int relocked;               /* its references until it asks for that lock have been recorded */
    int signalled;              /* it waits for a condition, in the group that signals wake */
} __attribute__((aligned(64)));

struct hn_list {
    struct hn_thread *first, *last;
};

struct hn_control {
    uint32_t order;             /* HN_ORDER_*; 0: nothing is recorded, as in a forked child */
    uint32_t lock;
    uint32_t quantum;
    uint64_t random;            /* state of the generator of turn lengths; 0: all are a quantum */
    uint32_t slots_used;        /* slots ever used: bound of all searches */
    struct hn_thread *holder;   /* null: the baton is free */
    struct hn_record *next;     /* where the ring continues while the baton is free */
    struct hn_record *block_end;
    uint64_t blocks_done;       /* deterministic order: blocks of the one ring filled */
    uint64_t switches;
    uint64_t skipped_ns;        /* virtual time that passed without a record */
    uint64_t idle_ns;           /* part of it during which no thread could run */
    struct hn_list ready;
    struct hn_list blocked;
    struct hn_thread *clock_watcher; /* sleeps in real time until the earliest deadline */
    uint32_t timed;             /* blocked threads with a deadline */
    int pid;
    int keeps_lock;             /* the holder writes records with the lock held */
    struct hn_thread *watched;  /* last observation of the watchdog, and its time */
    uint64_t watched_progress;
    uint64_t watched_since_ns;
    uint64_t watched_cpu_ns;
    uint32_t lost_unmet;        /* lost threads, counted, that have made no reference yet */
    int dying_tid;              /* thread that released the baton for the last time */
    struct hn_thread *list_waiter;  /* directed order: waits for the next list of turns */
    uint32_t list;              /* number of the last list */
    uint32_t list_count;        /* its turns */
    uint32_t list_at;           /* turns that have begun */
};

extern struct hn_control *hn_c;
extern struct hn_thread *hn_slots;
extern struct hn_header *hn_shared;
extern struct hn_thread hn_no_thread;
extern cpu_set_t hn_affinity;   /* the processors that the program sees */
extern int hn_directed;         /* a simulation schedules the threads */
extern int hn_user_switching;   /* threads are switched without the kernel (user_threads.c) */
extern int hn_looks_at_x87;     /* the program may look at the exceptions of the x87 unit */
extern int hn_logical;          /* threads run in parallel, operations in order of logical clocks */
extern int hn_recording;        /* may be read before thread-local storage exists, unlike hn_me */
extern __thread struct hn_thread *hn_me __attribute__((tls_model("initial-exec")));

/* ring.c */
struct hn_record *hn_slow(struct hn_thread *me);
void hn_ref_slow(const volatile void *address, uint64_t what, uintptr_t pc);
struct hn_record *hn_next_block(struct hn_thread *me);
void hn_put(struct hn_thread *me, uint64_t word0, uint64_t word1);
int hn_may_record(struct hn_thread *me);
void hn_event(struct hn_thread *me, int code, uint64_t first, uint64_t second);
void hn_event_with(struct hn_thread *me, int code, const uint64_t words[4]);
void hn_event_words(struct hn_thread *me, int code, const uint64_t *words, unsigned extra);
void hn_stamp(struct hn_thread *me);
uint64_t hn_begin_uncounted(struct hn_thread *me);
void hn_end_uncounted(struct hn_thread *me, uint64_t clock);
void hn_range(const void *start, size_t size, uint64_t kind, uintptr_t pc);
void hn_set_limit(struct hn_thread *me);
struct hn_record *hn_ring_start(uint32_t ring);
void hn_go_silent(void);

/* stack_table.c */
enum { HN_STACK_FRAMES = 32 };

/* An entry: the number of words, with HN_FRAMES for frames, and the words. */
struct hn_stack_entry {
    uint64_t head;
    uint32_t count;
    uint64_t word[3 * HN_STACK_FRAMES];
};

static inline uint64_t hn_mixed(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ (sum >> 29);
}

int hn_stack_table_init(void);
uint32_t hn_stack_position(const struct hn_stack_entry *entry);

/* stacks.c */
void hn_stacks_init(void);
uint32_t hn_stack(struct hn_thread *me, const void *frame, uintptr_t pc);
void hn_frames(struct hn_thread *me, const void *frame, uintptr_t pc);

/* sched.c */
void hn_lock(void);
void hn_unlock(void);
void hn_make_ready(struct hn_thread *t);
int64_t hn_turn(void);
void hn_yield(struct hn_thread *me);
enum hn_woken hn_block(struct hn_thread *me, const void *address, int class, int64_t timeout_ns);
int hn_wake(const void *address, int class, int count);
void hn_leave(struct hn_thread *me);
void hn_enter(struct hn_thread *me);
void hn_finish(struct hn_thread *me, enum hn_state left_as);
void hn_interrupt(struct hn_thread *t, enum hn_woken why);
void hn_wait_turn(struct hn_thread *me);
void hn_dispatch(struct hn_thread *me);
void hn_await_death(int tid);
void hn_list_push(struct hn_list *list, struct hn_thread *t);
void hn_list_remove(struct hn_list *list, struct hn_thread *t);
uint64_t hn_virtual_ns(const struct hn_record *next, const struct hn_record *block_end);

void hn_release_baton(struct hn_thread *me);
void hn_take_baton(struct hn_thread *t);
void hn_unblock(struct hn_thread *t, enum hn_woken why);
enum { HN_NS_PER_RECORD = 10, HN_GO = 1, HN_GO_WATCH_CLOCK = 2 };  /* values of hn_thread.go */
void hn_signal_go(struct hn_thread *t, uint32_t value);

void hn_await_previous_holder(void);
void hn_hand_over(struct hn_thread *me, struct hn_thread *t);

/* logical.c */
uint64_t hn_clock(const struct hn_thread *me);
uint64_t hn_clock_of_other(const struct hn_thread *t);
void hn_clock_write_begin(struct hn_thread *me);
void hn_clock_write_end(struct hn_thread *me);
void hn_set_stop(struct hn_thread *me);
void hn_take_turn(struct hn_thread *me);
void hn_leave_turn(struct hn_thread *me);
int hn_in_library(const struct hn_thread *me);
void hn_ref_in_turn(const volatile void *address, uint64_t what, uintptr_t pc);
uint64_t hn_after(const struct hn_thread *t, const struct hn_thread *other, uint64_t clock);
void hn_jump(struct hn_thread *me, uint64_t references);
void hn_note_jump(struct hn_thread *me);
void hn_note_turn(struct hn_thread *me);
void hn_logical_dispatch(struct hn_thread *me);
struct hn_thread *hn_first_obstacle(void);

/* logical_waits.c */
void hn_close_ring(struct hn_thread *t, uint64_t floor);
void hn_logical_start(struct hn_thread *t);
void hn_logical_first(struct hn_thread *me);
void hn_logical_ready(struct hn_thread *t);
void hn_logical_block(struct hn_thread *me, int64_t timeout_ns);
void hn_logical_wake(struct hn_thread *t, enum hn_woken why);
void hn_logical_leave(struct hn_thread *me);
void hn_logical_enter(struct hn_thread *me);
uint64_t hn_logical_until_deadline_ns(const struct hn_thread *me);
void hn_sync_mark(struct hn_thread *me, const void *object);

/* directed.c */
enum { HN_GO_LOOK = 3 };        /* value of hn_thread.go: wait for the next list of turns */
void hn_direct(struct hn_thread *me);
void hn_pass_on(void);
int hn_await_list(struct hn_thread *me);
void hn_note_stray(const struct hn_thread *t, size_t place);
void hn_fact(struct hn_thread *me, int code, const void *object, int64_t limit_ns);
void hn_report_wait(struct hn_thread *me, const void *address, int class, int64_t limit_ns);
void hn_report_woken(struct hn_thread *me, struct hn_thread *t, int class);
void hn_report_given_up(struct hn_thread *me, int class);
int hn_may_ask(struct hn_thread *me);
int hn_is_exact(struct hn_thread *me);
void hn_exact_turn(struct hn_thread *me);
int hn_ask(struct hn_thread *me, int code, const void *object, int64_t limit_ns);
int hn_ask_lock(struct hn_thread *me, const void *lock, int64_t limit_ns);
int hn_is_asked_for(const struct hn_thread *me, const void *lock);
void hn_let_others_run(struct hn_thread *me);
uint64_t hn_now_ns(const struct hn_thread *me);

/* waits.c */
void hn_put_awake(struct hn_thread *me, struct hn_thread *t);

/* watchdog.c */
void hn_watch(void);

/* user_threads.c */
void hn_user_threads_init(void);
void hn_user_thread_begin(const struct hn_thread *t);
int hn_is_home(const struct hn_thread *t);
uint32_t hn_kernel_thread(const struct hn_thread *t);
int hn_kernel_tid(const struct hn_thread *t);
int hn_yield_quickly(struct hn_thread *me);
void hn_park(struct hn_thread *me);
int hn_unpark(struct hn_thread *t);
int hn_set_successor(struct hn_thread *me, struct hn_thread *t);
void hn_unlock_for_successor(struct hn_thread *me);
int hn_go_home(struct hn_thread *me);
void hn_must_go_home(struct hn_thread *me);
void hn_stop_user_switching(void);

/* slots.c */
struct hn_thread *hn_register(void);
void hn_count_lost_thread(void);
void hn_meet_unknown_thread(void);
void hn_release(struct hn_thread *t);
void hn_read_settings(void);
struct hn_thread *hn_first_thread(void);

/* threads.c */
struct hn_thread *hn_find_thread(pthread_t thread);
void hn_announce(struct hn_thread *me);
void hn_thread_init(void);

/* virtual_time.c */
void hn_clock_init(void);
void hn_clock_fix(void);
int hn_is_virtual(clockid_t clock);
int hn_read_clock(clockid_t clock, uint64_t *ns);
uint64_t hn_read_clock_in_turn(struct hn_thread *me, clockid_t clock);
uint64_t hn_clock_start_ns(clockid_t clock);
uint64_t hn_thread_ns(const struct hn_thread *t);
uint64_t hn_process_ns(const struct hn_thread *me);
int64_t hn_until(const struct timespec *deadline, clockid_t clock);

/* text_events.c */
size_t hn_file_name(int fd, char *name);
void hn_map_event(struct hn_thread *me, const uint64_t what[3], const char *name, size_t length);
void hn_marker_event(struct hn_thread *me, const char *text, size_t length);
void hn_text_event(struct hn_thread *me, int code, uint64_t number, const char *text,
                   size_t length);

#include "calls.h"

/* signals.c */
int hn_in_handler(struct hn_thread *me);
void hn_run_pending(struct hn_thread *me);
int hn_has_handlers(void);
void hn_send_home(int tid);
void hn_resumed(struct hn_thread *me);

/* init.c */
void hn_start(void);

/* area.c */
struct hn_header *hn_open_area(void);
int hn_make_control(void);
void hn_pin(void);
void hn_greet(void);
long hn_sys(long number, long a, long b, long c, long d);
long hn_sys_of_six(long number, const long a[6]);
long hn_futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout);

/* Wait classes: what a blocked thread waits for at its address. */
enum { HN_W_LOCK = 1, HN_W_CONDITION, HN_W_BARRIER, HN_W_JOIN, HN_W_FUTEX, HN_W_ONCE, HN_W_TIME,
       HN_W_TEAM, HN_W_SEMAPHORE };

/* The calling thread's slot if it is recorded, or null: not started, forked child, unknown thread,
 * or inside the runtime. A thread that was outside enters again. */
static inline struct hn_thread *hn_inside(void)
{
    struct hn_thread *me = hn_me;

    if (me->state == HN_UNUSED || me->in_runtime)
        return NULL;
    if (HN_UNLIKELY(me->state != HN_RUNNING))
        hn_enter(me);
    if (me->state != HN_RUNNING)
        return NULL;
    if (HN_UNLIKELY(hn_logical))
        hn_take_turn(me);
    return me;
}

/* Moves the calling thread to its home kernel thread, until its next turn. */
static inline void hn_be_home(void)
{
    struct hn_thread *me = hn_me;

    if (HN_UNLIKELY(hn_user_switching) && me->state == HN_RUNNING && !me->in_runtime &&
        hn_c->order != 0)
        hn_must_go_home(me);
}

/* Whether the runtime orders the threads' operations, and so performs their waits. */
static inline int hn_deterministic(void)
{
    return (hn_c->order & HN_ORDER_DETERMINISTIC) != 0;
}

/* Whether all threads write one ring, one thread at a time. */
static inline int hn_one_ring(void)
{
    return hn_c->order == HN_ORDER_DETERMINISTIC;
}

/* Records one reference. The slow path, which may yield, comes first: a yield after the record
 * would separate it from the access, which follows. */
static inline void hn_ref(const volatile void *address, uint64_t what, uintptr_t pc)
{
    struct hn_thread *me = hn_me;
    struct hn_record *at = me->next;

    if (HN_UNLIKELY(at >= me->limit)) {
        hn_ref_slow(address, what, pc);
        return;
    }
    at->word[1] = pc | me->tag;
    __atomic_store_n(&at->word[0], ((uintptr_t)address & 0xffffffffffff) | what,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&me->next, at + 1, __ATOMIC_RELEASE);
}

/* The same for an atomic operation or a synchronisation variable. In logical order the thread takes
 * its turn, and keeps it until its next plain reference. In directed order the reference is the
 * first of a turn of the thread with the least simulated time, so that all earlier operations of
 * other threads on the variable are done. */
static inline void hn_ref_ordered(const volatile void *address, uint64_t what, uintptr_t pc)
{
    if (HN_UNLIKELY(hn_logical)) {
        hn_ref_in_turn(address, what, pc);
        return;
    }
    if (HN_UNLIKELY(hn_directed) && (what >> HN_SYNC_BIT & 1) != 0)
        hn_exact_turn(hn_me);
    hn_ref(address, what, pc);
}

#define HN_WHAT(kind, size) \
    (((uint64_t)(kind) << HN_KIND_SHIFT) | ((uint64_t)(size) << HN_SIZE_SHIFT))

/* Interposition. In a dynamic program our definition comes first in the symbol search and the real
 * function is the next one; in a static program the linker renames calls (--wrap). The compiler
 * wrapper takes the names to rename from the object file. */
struct hn_real {
    const char *name;
    void **slot;
};
void hn_resolve_all(void);      /* called at the start, before there are other threads */
void *hn_resolve(void **slot, const char *name);

#ifdef HN_STATIC
#define HN_DECLARE_REAL(ret, name, params) extern ret __real_##name params
#define INTERPOSE_DECLARED(ret, name, params)                                                     \
    HN_EXPORT ret __wrap_##name params;                                                           \
    HN_EXPORT ret __wrap_##name params
#define REAL(name) __real_##name
#else
#define HN_DECLARE_REAL(ret, name, params)                                                        \
    typedef ret hn_type_##name params;                                                            \
    static void *hn_slot_##name;                                                                  \
    static const struct hn_real hn_real_##name                                                    \
        __attribute__((section("hn_reals"), used)) = {#name, &hn_slot_##name}
#define INTERPOSE_DECLARED(ret, name, params)                                                     \
    HN_EXPORT __attribute__((weak)) ret name params;                                              \
    HN_EXPORT __attribute__((weak)) ret name params
#define REAL(name)                                                                                \
    ((hn_type_##name *)(HN_LIKELY(hn_slot_##name != NULL) ? hn_slot_##name                        \
                                                         : hn_resolve(&hn_slot_##name, #name)))
#endif
#define INTERPOSE(ret, name, params)                                                              \
    HN_DECLARE_REAL(ret, name, params);                                                           \
    INTERPOSE_DECLARED(ret, name, params)

/* A call that is passed on; in logical order in turn. The compiler makes it a jump (-O2), which
 * leaves no frame in call stacks. */
#define IN_TURN(ret, name, params, ...)                                                           \
    INTERPOSE(ret, name, params)                                                                  \
    {                                                                                             \
        if (HN_UNLIKELY(hn_logical))                                                              \
            hn_inside();                                                                          \
        return REAL(name)(__VA_ARGS__);                                                           \
    }

#endif
