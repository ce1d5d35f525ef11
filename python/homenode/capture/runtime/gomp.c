/* OpenMP through libgomp: parallel regions.
 *
 * libgomp's pool, its sharing of loops and sections and its data environment stay; its waits are
 * replaced, because libgomp waits in the kernel and by spinning, which the holder of the baton must
 * not. A pool thread is a recorded thread only inside a region: the master assigns numbers in the
 * order of OpenMP thread numbers, before any of them runs, so numbers and turns are repeatable.
 *
 * In free order the threads register themselves, and libgomp performs the waits.
 */
#include "gomp.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>

#ifdef HN_STATIC
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
#define OMP(name) name
#else
HN_DECLARE_REAL(int, omp_get_thread_num, (void));
HN_DECLARE_REAL(int, omp_get_num_threads, (void));
#define OMP(name) REAL(name)
#endif

struct hn_team *hn_team(void)
{
    struct hn_thread *me = hn_inside();

    return me != NULL && hn_deterministic() ? me->team : NULL;
}

static void forget_pool(struct hn_thread *me)
{
    struct hn_thread **pool = me->pool;

    me->in_runtime++;
    hn_lock();
    me->pool = NULL;
    me->pool_size = 0;
    hn_unlock();
    free(pool);
    me->in_runtime--;
}

/* The team is smaller than the last one: libgomp ends the surplus threads. Whether their stacks are
 * free when the next thread is made must be the same in every run. */
static void await_surplus(struct hn_thread *me, uint32_t size)
{
    const int *tids = (const int *)(me->pool + me->pool_size);
    uint32_t *may_end = (uint32_t *)tids + me->pool_size;

    if (me->pool == NULL)
        return;
    for (uint32_t i = size; i < me->pool_size; i++) {
        __atomic_store_n(&may_end[i], 1, __ATOMIC_RELEASE);
        hn_futex(&may_end[i], FUTEX_WAKE_PRIVATE, 1, NULL);
        hn_await_death(tids[i]);
    }
    forget_pool(me);
}

/* Makes slots for all members, and queues them, in the order of their OpenMP numbers. */
static void publish(struct hn_thread *me, struct hn_team *team, uint32_t size)
{
    if (hn_logical)
        hn_take_turn(me);
    if (team->outer == NULL)
        await_surplus(me, size);
    me->in_runtime++;
    /* For each member its slot, then its tid, then a futex: 1 when it may end. */
    team->members =
        calloc(size, sizeof(struct hn_thread *) + sizeof(int) + sizeof(uint32_t));
    me->in_runtime--;
    team->tids = (int *)(team->members + size);
    team->size = size;
    for (uint32_t i = 1; i < size && team->members != NULL; i++) {
        struct hn_thread *t = hn_register();

        team->members[i] = t;
        if (t == NULL)
            continue;
        t->team = team;
        hn_event(me, HN_EV_THREAD_CREATE, t->number, 0);
        hn_make_ready(t);
    }
    __atomic_store_n(&team->published, 1, __ATOMIC_RELEASE);
    hn_futex(&team->published, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

/* A pool thread takes the slot that the master made for it, and waits for its first turn. */
static struct hn_thread *attach(struct hn_team *team, uint32_t number)
{
    struct hn_thread *me;

    while (__atomic_load_n(&team->published, __ATOMIC_ACQUIRE) == 0)
        hn_futex(&team->published, FUTEX_WAIT_PRIVATE, 0, NULL);
    me = team->members == NULL ? NULL : team->members[number];
    if (me == NULL)
        return NULL;
    me->tid = team->tids[number] = (int)hn_sys(SYS_gettid, 0, 0, 0, 0);
    me->pthread = pthread_self();
    hn_me = me;
    hn_wait_turn(me);
    if (hn_c->order != 0)
        hn_announce(me);
    me->in_runtime = 0;
    return me;
}

static void detach(struct hn_thread *me, struct hn_team *team)
{
    hn_must_go_home(me);
    hn_event(me, HN_EV_THREAD_EXIT, 0, 0);
    team->left++;
    hn_wake(&team->left, HN_W_TEAM, INT_MAX);
    me->pthread = 0;
    hn_finish(me, HN_UNUSED);
}

static void member(struct hn_team *team, uint32_t number)
{
    struct hn_thread *me = attach(team, number);
    struct hn_task implicit = {0};

    if (me == NULL) {
        team->body(team->data);
        return;
    }
    me->task = &implicit;
    team->body(team->data);
    hn_team_barrier(me, team);
    if (hn_c->order != 0)
        detach(me, team);
    hn_me = &hn_no_thread;
}

static void master(struct hn_thread *me, struct hn_team *team, uint32_t size)
{
    struct hn_task implicit = {0};
    struct hn_task *outer_task = me->task;

    publish(me, team, size);
    me->team = team;
    me->task = &implicit;
    team->body(team->data);
    hn_team_barrier(me, team);
    while (hn_c->order != 0 && team->left + 1 < size)
        hn_block(me, &team->left, HN_W_TEAM, -1);
    for (uint32_t i = 1; i < size && team->members != NULL; i++)
        if (team->members[i] != NULL)
            hn_event(me, HN_EV_THREAD_JOIN, team->members[i]->number, 0);
    me->team = team->outer;
    me->task = outer_task;
}

/* Called after libgomp's own end of the region. The threads of a nested region do not return to the
 * pool; they end now. */
static void after_region(struct hn_thread *me, struct hn_team *team)
{
    hn_stamp(me);
    if (hn_logical)
        hn_take_turn(me);
    if (team->members == NULL)
        return;
    forget_pool(me);
    me->in_runtime++;
    hn_lock();
    me->pool = team->members;
    me->pool_size = team->size;
    hn_unlock();
    me->in_runtime--;
    if (team->outer != NULL)
        await_surplus(me, 1);
}

/* The function that libgomp runs in every thread of a team, in deterministic order. */
static void in_region(void *argument)
{
    struct hn_team *team = argument;
    struct hn_thread *me = team->master;
    uint32_t number = (uint32_t)OMP(omp_get_thread_num)();
    uint32_t size = (uint32_t)OMP(omp_get_num_threads)();

    if (number != 0) {
        member(team, number);
        return;
    }
    me->gomp_pool = 0;
    if (size == 1) {
        struct hn_task implicit = {0};
        struct hn_task *outer_task = me->task;

        me->team = NULL;
        me->task = &implicit;
        team->body(team->data);
        me->team = team->outer;
        me->task = outer_task;
    } else {
        master(me, team, size);
    }
    me->gomp_pool = 1;
}

/* The same in free order: a thread without a slot gets one for the duration of the region. */
static void in_free_region(void *argument)
{
    struct hn_team *team = argument;
    struct hn_thread *me = hn_me;

    if (me->state != HN_UNUSED || hn_c->order == 0) {
        const int saved = me->gomp_pool;

        me->gomp_pool = 0;
        team->body(team->data);
        me->gomp_pool = saved;
        return;
    }
    me = hn_register();
    if (me != NULL) {
        me->pthread = pthread_self();
        hn_me = me;
        hn_stamp(me);
        hn_announce(me);
    }
    team->body(team->data);
    if (me != NULL) {
        hn_event(me, HN_EV_THREAD_EXIT, 0, 0);
        me->pthread = 0;
        hn_finish(me, HN_UNUSED);
    }
}

#define REGION(name, params, ...)                                                      \
    INTERPOSE(void, name, params)                                                      \
    {                                                                                  \
        struct hn_thread *me = hn_inside();                                            \
                                                                                       \
        if (me == NULL) {                                                              \
            REAL(name)(body, data, __VA_ARGS__);                                       \
            return;                                                                    \
        }                                                                              \
        struct hn_team team = {.body = body, .data = data, .master = me, .outer = me->team}; \
        const int saved = me->gomp_pool;                                               \
                                                                                       \
        hn_frames(me, HN_FRAME, HN_CALLER);                                            \
        me->gomp_pool = 1;  /* threads that libgomp makes now are its pool */          \
        REAL(name)(hn_deterministic() ? in_region : in_free_region, &team, __VA_ARGS__); \
        me->gomp_pool = saved;                                                         \
        after_region(me, &team);                                                       \
    }

typedef void body_call(void *);

REGION(GOMP_parallel, (body_call *body, void *data, unsigned threads, unsigned flags), threads,
       flags)
REGION(GOMP_parallel_sections,
       (body_call *body, void *data, unsigned threads, unsigned count, unsigned flags), threads,
       count, flags)

#define CHUNKED(name)                                                                          \
    REGION(name,                                                                               \
           (body_call *body, void *data, unsigned threads, long start, long end, long step,    \
            long chunk, unsigned flags),                                                       \
           threads, start, end, step, chunk, flags)
#define UNCHUNKED(name)                                                                        \
    REGION(name,                                                                               \
           (body_call *body, void *data, unsigned threads, long start, long end, long step,    \
            unsigned flags),                                                                   \
           threads, start, end, step, flags)

CHUNKED(GOMP_parallel_loop_static)
CHUNKED(GOMP_parallel_loop_dynamic)
CHUNKED(GOMP_parallel_loop_guided)
CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)
UNCHUNKED(GOMP_parallel_loop_runtime)
UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

INTERPOSE(unsigned, GOMP_parallel_reductions, (body_call *body, void *data, unsigned threads,
                                               unsigned flags))
{
    struct hn_thread *me = hn_inside();
    unsigned result;

    if (me == NULL)
        return REAL(GOMP_parallel_reductions)(body, data, threads, flags);
    struct hn_team team = {.body = body, .data = data, .master = me, .outer = me->team};
    const int saved = me->gomp_pool;

    hn_frames(me, HN_FRAME, HN_CALLER);
    me->gomp_pool = 1;
    result = REAL(GOMP_parallel_reductions)(hn_deterministic() ? in_region : in_free_region, &team,
                                            threads, flags);
    me->gomp_pool = saved;
    after_region(me, &team);
    return result;
}
