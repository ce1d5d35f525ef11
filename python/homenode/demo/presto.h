/* Threads as of Presto: many more than processors, each run by whichever processor is free.
 *
 * The workers of workload.h are the processors. A thread is an object in a queue that all of them
 * share; a processor that is free takes the first one, gives it a stack and runs it to its end.
 * Stacks and objects of threads that have ended are used again, last in, first out, by whatever
 * processor comes next, so that they move about as the data do. What Presto knows of a processor
 * lies beside what it knows of the next one, and is looked at all the time.
 *
 * Source: Bolosky's thesis, section 2.1.3, on programs under Presto (Bershad, Lazowska, Levy 1988).
 * It does not say what Presto itself does for a thread. Its tables say how much: p-gauss forks 4950
 * threads, p-qsort some 3300 and p-matmult 100, and what their own loops do not explain comes to
 * about 4000 references a thread and 1000 to private memory (table 2.1), one in seven of which cost
 * more with 4 KB blocks than with 128 bytes (table 6.5). Ours: own code, with sizes from those
 * numbers. A stack is filled with a pattern before it is used, and searched afterwards for how much
 * of it was; in between the processor's clock ticks; its scheduler has private memory.
 */
#ifndef PRESTO_H
#define PRESTO_H

#include "workload.h"

enum { STACK_WORDS = 1024, REGISTERS = 16, SCHEDULER_WORDS = 360, TICK_WORDS = 12 };
static const uint32_t stack_pattern = 0x50726573;

typedef void thread_body(unsigned first, unsigned second);

/* A thread, from when it is forked until it has ended. */
struct thread {
    struct thread *next;        /* in the queue, or among those that can be used again */
    struct thread *made_before; /* of all there are */
    thread_body *body;
    unsigned first, second;     /* its arguments */
    uint32_t registers[REGISTERS];
};

struct stack {
    struct stack *next; /* among those that can be used again */
    uint32_t words[STACK_WORDS - sizeof(struct stack *) / sizeof(uint32_t)];
};

/* What is known of a processor. They lie side by side. */
struct processor {
    const struct thread *running;
    uint32_t ticks, quantum; /* how long it has run threads; after how long others get a turn */
    uint32_t *scheduler;     /* private memory */
    uint64_t unused[29];     /* 256 bytes in all */
};

enum { USABLE_WORDS = sizeof ((struct stack *)0)->words / sizeof(uint32_t) };

static pthread_mutex_t scheduler_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t scheduler_changed = PTHREAD_COND_INITIALIZER;
static struct thread *ready_first, *ready_last; /* the queue */
static struct thread *threads_made, *threads_free;
static struct stack *stacks_free;
static struct processor processors[THREADS_MAX] __attribute__((aligned(PAGE_BYTES)));
static unsigned alive; /* threads that have not ended */
static bool over;      /* no more will be forked */

/* A thread object to use, from those that are free; called with the lock held. */
static struct thread *thread_object(void)
{
    struct thread *thread = threads_free;
    if (thread) {
        threads_free = thread->next;
        return thread;
    }
    thread = allocated(calloc(1, sizeof *thread));
    thread->made_before = threads_made;
    threads_made = thread;
    return thread;
}

/* Makes a thread that will run body(first, second). */
static void fork_thread(thread_body *body, unsigned first, unsigned second)
{
    pthread_mutex_lock(&scheduler_lock);
    struct thread *thread = thread_object();
    thread->body = body;
    thread->first = first;
    thread->second = second;
    thread->next = NULL;
    for (unsigned k = 0; k < REGISTERS; k++)
        thread->registers[k] = first + k;
    if (ready_first)
        ready_last->next = thread;
    else
        ready_first = thread;
    ready_last = thread;
    alive++;
    pthread_cond_signal(&scheduler_changed);
    pthread_mutex_unlock(&scheduler_lock);
}

/* The first thread of the queue. NULL when there will be none: until all have ended for who waits
 * for that, and else for ever. */
static struct thread *take_thread(bool waits_for_all)
{
    pthread_mutex_lock(&scheduler_lock);
    while (!ready_first && !(waits_for_all ? alive == 0 : over))
        pthread_cond_wait(&scheduler_changed, &scheduler_lock);
    struct thread *thread = ready_first;
    if (thread)
        ready_first = thread->next;
    pthread_mutex_unlock(&scheduler_lock);
    return thread;
}

static struct stack *take_stack(void)
{
    pthread_mutex_lock(&scheduler_lock);
    struct stack *stack = stacks_free;
    if (stack)
        stacks_free = stack->next;
    pthread_mutex_unlock(&scheduler_lock);
    return stack ? stack : allocated(aligned_alloc(PAGE_BYTES, whole_pages(sizeof *stack)));
}

/* The processor's clock. A thread that has run for long would give way to others; none does. */
static bool tick(struct processor *p)
{
    p->ticks++;
    return p->running && p->ticks > p->quantum;
}

static void fill_stack(struct stack *stack, struct processor *p)
{
    for (unsigned at = 0; at < USABLE_WORDS; at++) {
        stack->words[at] = stack_pattern;
        if (at % TICK_WORDS == 0 && tick(p))
            break;
    }
}

/* How many words of a stack were used: those at its end that have lost the pattern. */
static unsigned depth_of(const struct stack *stack, struct processor *p)
{
    unsigned at = 0;
    while (at < USABLE_WORDS && stack->words[at] == stack_pattern) {
        if (at % TICK_WORDS == 0 && tick(p))
            break;
        at++;
    }
    return USABLE_WORDS - at;
}

static void run_thread(struct thread *thread, struct processor *p)
{
    struct stack *stack = take_stack();
    p->running = thread;
    p->ticks = 0;
    fill_stack(stack, p);
    for (unsigned at = 0; at < SCHEDULER_WORDS; at++)
        p->scheduler[at] += at;
    for (unsigned k = 0; k < REGISTERS; k++)
        stack->words[USABLE_WORDS - 1 - k] = thread->registers[k];
    thread->body(thread->first, thread->second);
    thread->registers[0] = depth_of(stack, p);
    p->running = NULL;
    pthread_mutex_lock(&scheduler_lock);
    stack->next = stacks_free;
    stacks_free = stack;
    thread->next = threads_free;
    threads_free = thread;
    if (--alive == 0)
        pthread_cond_broadcast(&scheduler_changed);
    pthread_mutex_unlock(&scheduler_lock);
}

/* Makes worker `id` a processor. */
static struct processor *start_processor(unsigned id)
{
    struct processor *p = &processors[id];
    size_t bytes = whole_pages(SCHEDULER_WORDS * sizeof(uint32_t));
    p->scheduler = allocated(aligned_alloc(PAGE_BYTES, bytes));
    p->quantum = UINT32_MAX;
    homenode_private(p->scheduler, bytes);
    memset(p->scheduler, 0, bytes);
    return p;
}

/* Runs threads until all have ended; for the processor that forks the first ones. */
static void join_threads(struct processor *p)
{
    for (struct thread *t = take_thread(true); t; t = take_thread(true))
        run_thread(t, p);
}

/* Runs threads until no more will be forked; for the other processors. */
static void serve_threads(struct processor *p)
{
    for (struct thread *t = take_thread(false); t; t = take_thread(false))
        run_thread(t, p);
}

/* No more threads will be forked. */
static void end_threads(void)
{
    pthread_mutex_lock(&scheduler_lock);
    over = true;
    pthread_cond_broadcast(&scheduler_changed);
    pthread_mutex_unlock(&scheduler_lock);
}

static UNRECORDED void release_threads(void)
{
    for (unsigned id = 0; id < THREADS_MAX; id++)
        free(processors[id].scheduler);
    while (threads_made) {
        struct thread *thread = threads_made;
        threads_made = thread->made_before;
        free(thread);
    }
    while (stacks_free) {
        struct stack *stack = stacks_free;
        stacks_free = stack->next;
        free(stack);
    }
}

#endif
