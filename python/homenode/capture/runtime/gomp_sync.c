/* OpenMP through libgomp: barriers, critical sections, locks, single, ordered. */
#include "gomp.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>

/* Recording has ended while the team was running: the barrier continues without the baton. */
static void silent_barrier(struct hn_team *team, uint32_t round, int arrived)
{
    hn_lock();
    if (!arrived)
        team->arrived++;
    if (team->round == round && team->arrived == team->size) {
        team->arrived = 0;
        __atomic_store_n(&team->round, round + 1, __ATOMIC_RELEASE);
    }
    hn_unlock();
    hn_futex(&team->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
    while (__atomic_load_n(&team->round, __ATOMIC_ACQUIRE) == round)
        hn_futex(&team->round, FUTEX_WAIT_PRIVATE, round, NULL);
}

static int any_task(const struct hn_task *task, const void *argument)
{
    (void)task, (void)argument;
    return 1;
}

/* All threads arrive, and all deferred tasks are run. */
void hn_team_barrier(struct hn_thread *me, struct hn_team *team)
{
    uint32_t round;

    if (hn_logical)
        hn_take_turn(me);
    round = team->round;
    if (hn_c->order == 0) {
        silent_barrier(team, round, 0);
        return;
    }
    hn_event(me, HN_EV_BARRIER_ENTER, (uintptr_t)team, 0);
    team->arrived++;
    while (team->round == round && hn_c->order != 0) {
        if (hn_run_task(me, team, any_task, NULL))
            continue;
        if (team->arrived == team->size && team->running == 0) {
            team->arrived = 0;
            team->round++;
            hn_wake(team, HN_W_TEAM, INT_MAX);
        } else {
            hn_block(me, team, HN_W_TEAM, -1);
        }
    }
    if (hn_c->order == 0)
        silent_barrier(team, round, 1);
    else
        hn_event(me, HN_EV_BARRIER_LEAVE, (uintptr_t)team, 0);
}

/* The real call when no recorded team is running; in free order between two events. */
#define BARRIER(ret, name, before, value)                                 \
    INTERPOSE(ret, name, (void))                                          \
    {                                                                     \
        struct hn_team *team = hn_team();                                 \
                                                                          \
        if (team == NULL) {                                               \
            struct hn_thread *me = hn_inside();                           \
                                                                          \
            REAL(name)();                                                 \
            if (me != NULL)                                               \
                hn_stamp(me);                                             \
            return value;                                                 \
        }                                                                 \
        before;                                                           \
        hn_team_barrier(hn_me, team);                                     \
        return value;                                                     \
    }

#define NO_VALUE

IN_TURN(void, GOMP_loop_end_nowait, (void), )
IN_TURN(void, GOMP_sections_end_nowait, (void), )

BARRIER(void, GOMP_barrier, , NO_VALUE)
BARRIER(void, GOMP_loop_end, REAL(GOMP_loop_end_nowait)(), NO_VALUE)
BARRIER(void, GOMP_sections_end, REAL(GOMP_sections_end_nowait)(), NO_VALUE)
BARRIER(_Bool, GOMP_barrier_cancel, , 0)
BARRIER(_Bool, GOMP_loop_end_cancel, REAL(GOMP_loop_end_nowait)(), 0)
BARRIER(_Bool, GOMP_sections_end_cancel, REAL(GOMP_sections_end_nowait)(), 0)

IN_TURN(_Bool, GOMP_single_start, (void), )

/* The first thread gets null and runs the block; the others wait for the data that it copies. */
INTERPOSE(void *, GOMP_single_copy_start, (void))
{
    struct hn_team *team = hn_team();
    uint32_t round;

    if (team == NULL)
        return REAL(GOMP_single_copy_start)();
    round = team->round;
    if (REAL(GOMP_single_start)())
        return NULL;
    hn_team_barrier(hn_me, team);
    return team->copied[round & 1];
}

INTERPOSE(void, GOMP_single_copy_end, (void *data))
{
    struct hn_team *team = hn_team();

    if (team == NULL) {
        REAL(GOMP_single_copy_end)(data);
        return;
    }
    team->copied[team->round & 1] = data;
    hn_team_barrier(hn_me, team);
}

/* Critical sections: locks by address, few held at a time. */
enum { HELD_MAX = 256 };
static const void *held[HELD_MAX];

static int find_held(const void *lock)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i] == lock)
            return i;
    return -1;
}

/* Whether the runtime took the lock. */
static int take_critical(const void *lock, uintptr_t pc)
{
    struct hn_team *team = hn_team();
    struct hn_thread *me = hn_me;
    int place;

    if (team == NULL)
        return 0;
    hn_sync_ref(me, lock, HN_ATOMIC, pc);
    hn_ask_lock(me, lock, -1);
    while (hn_c->order != 0 && (find_held(lock) >= 0 || find_held(NULL) < 0))
        hn_wait_for_lock(me, lock, -1, 0);
    place = find_held(NULL);
    if (hn_c->order == 0 || place < 0)
        return 0;
    held[place] = lock;
    me->owes_lock = 0;
    hn_event(me, HN_EV_LOCK_ACQUIRE, (uintptr_t)lock, 0);
    return 1;
}

static int give_critical(const void *lock, uintptr_t pc)
{
    struct hn_thread *me = hn_inside();
    int place = find_held(lock);

    if (place < 0 || me == NULL)
        return 0;
    hn_note_releasing(me, lock, pc);
    held[place] = NULL;
    hn_wake(lock, HN_W_LOCK, 1);
    return 1;
}

static int unnamed_critical, unnamed_atomic;

#define SECTION(start, end, params, lock, ...)              \
    INTERPOSE(void, start, params)                          \
    {                                                       \
        if (!take_critical(lock, HN_CALLER)) {              \
            REAL(start)(__VA_ARGS__);                       \
            hn_note_acquired(0, lock, HN_CALLER);           \
        }                                                   \
    }                                                       \
                                                            \
    INTERPOSE(void, end, params)                            \
    {                                                       \
        if (!give_critical(lock, HN_CALLER)) {              \
            struct hn_thread *me = hn_inside();             \
                                                            \
            if (me != NULL)                                 \
                hn_note_releasing(me, lock, HN_CALLER);     \
            REAL(end)(__VA_ARGS__);                         \
        }                                                   \
    }

SECTION(GOMP_critical_start, GOMP_critical_end, (void), &unnamed_critical, )
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), name, name)
SECTION(GOMP_atomic_start, GOMP_atomic_end, (void), &unnamed_atomic, )

/* omp_lock_t and omp_nest_lock_t: the real test, and a wait under the baton while it fails. */
#define OMP_LOCK(set, unset, test)                                              \
    INTERPOSE(int, test, (void *lock))                                          \
    {                                                                           \
        int result;                                                             \
                                                                                \
        if (hn_logical)                                                         \
            hn_inside();                                                        \
        result = REAL(test)(lock);                                              \
        hn_note_acquired(result != 0 ? 0 : EBUSY, lock, HN_CALLER);             \
        return result;                                                          \
    }                                                                           \
                                                                                \
    INTERPOSE(void, set, (void *lock))                                          \
    {                                                                           \
        struct hn_thread *me = hn_inside();                                     \
                                                                                \
        if (me == NULL || !hn_deterministic()) {                                \
            REAL(set)(lock);                                                    \
        } else {                                                                \
            hn_sync_ref(me, lock, HN_ATOMIC, HN_CALLER);                        \
            hn_ask_lock(me, lock, -1);                                          \
            while (!REAL(test)(lock))                                           \
                hn_wait_for_lock(me, lock, -1, 0);                              \
        }                                                                       \
        hn_note_acquired(0, lock, HN_CALLER);                                   \
    }                                                                           \
                                                                                \
    INTERPOSE(void, unset, (void *lock))                                        \
    {                                                                           \
        struct hn_thread *me = hn_inside();                                     \
                                                                                \
        if (me != NULL)                                                         \
            hn_note_releasing(me, lock, HN_CALLER);                             \
        REAL(unset)(lock);                                                      \
        hn_wake(lock, HN_W_LOCK, 1);                                            \
    }

OMP_LOCK(omp_set_lock, omp_unset_lock, omp_test_lock)
OMP_LOCK(omp_set_nest_lock, omp_unset_nest_lock, omp_test_nest_lock)
OMP_LOCK(omp_set_lock_, omp_unset_lock_, omp_test_lock_)
OMP_LOCK(omp_set_nest_lock_, omp_unset_nest_lock_, omp_test_nest_lock_)

/* An ordered section begins when the one before has ended: only libgomp can tell, so the thread
 * waits outside. */
INTERPOSE(void, GOMP_ordered_start, (void))
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_leave(me);
    REAL(GOMP_ordered_start)();
    me = hn_inside();
    if (me != NULL) {
        hn_stamp(me);
        hn_sync_mark(me, me->team);
    }
}

INTERPOSE(void, GOMP_ordered_end, (void))
{
    struct hn_thread *me = hn_logical ? hn_inside() : NULL;

    if (me != NULL)
        hn_sync_mark(me, me->team);
    REAL(GOMP_ordered_end)();
}
