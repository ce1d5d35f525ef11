/* OpenMP through libgomp: barriers, critical sections, locks, single, ordered. */
#include "fields.h"
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

static struct hn_taking by_exchange(const void *lock, uintptr_t pc)
{
    return (struct hn_taking){lock, pc, hn_lock_word, hn_no_fields, hn_no_fields};
}

/* Whether the runtime took the lock. */
static int take_critical(const struct hn_taking *taking)
{
    const void *lock = taking->lock;
    struct hn_team *team = hn_team();
    struct hn_thread *me = hn_me;
    int place;

    if (team == NULL)
        return 0;
    hn_fields(me, lock, taking->asks, taking->pc);
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
    hn_note_releasing(me, lock, hn_lock_word, pc);
    held[place] = NULL;
    hn_wake(lock, HN_W_LOCK, 1);
    return 1;
}

static int unnamed_critical, unnamed_atomic;

#define SECTION(start, end, params, lock, ...)                                  \
    INTERPOSE(void, start, params)                                              \
    {                                                                           \
        const struct hn_taking taking = by_exchange(lock, HN_CALLER);           \
                                                                                \
        if (!take_critical(&taking)) {                                          \
            REAL(start)(__VA_ARGS__);                                           \
            hn_note_acquired(0, &taking);                                       \
        }                                                                       \
    }                                                                           \
                                                                                \
    INTERPOSE(void, end, params)                                                \
    {                                                                           \
        if (!give_critical(lock, HN_CALLER)) {                                  \
            struct hn_thread *me = hn_inside();                                 \
                                                                                \
            if (me != NULL)                                                     \
                hn_note_releasing(me, lock, hn_lock_word, HN_CALLER);           \
            REAL(end)(__VA_ARGS__);                                             \
        }                                                                       \
    }

SECTION(GOMP_critical_start, GOMP_critical_end, (void), &unnamed_critical, )
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), name, name)
SECTION(GOMP_atomic_start, GOMP_atomic_end, (void), &unnamed_atomic, )

/* omp_lock_t and omp_nest_lock_t: the real test, and a wait under the baton while it fails. The
 * accesses are in the order of libgomp 12. */
struct nest_lock {
    int lock, count;
    const void *owner;
};

enum { COUNTED = offsetof(struct nest_lock, count), OWNED = offsetof(struct nest_lock, owner) };

struct omp_kind {
    hn_field asks[2], takes[2], has[4], has_tested[3], releases[5];
};

static const struct omp_kind hn_plain_lock = {.asks = {A(0)}, .releases = {A(0)}};
static const struct omp_kind hn_nest_lock = {
    .asks = {LONG_R(OWNED)},
    .takes = {A(0)},
    .has = {LONG_W(OWNED), ADD(COUNTED)},
    .has_tested = {LONG_W(OWNED), W(COUNTED)},
    .releases = {ADD(COUNTED), LONG_W(OWNED), A(0)},
};
static const hn_field hn_counts[] = {ADD(COUNTED), 0};

/* Whether the owner of a nested lock has taken it more than once. */
static int is_nested(const struct omp_kind *kind, const void *lock)
{
    return kind == &hn_nest_lock && ((const struct nest_lock *)lock)->count > 1;
}

static void omp_acquired(const struct omp_kind *kind, struct hn_taking *taking)
{
    if (is_nested(kind, taking->lock)) {
        taking->takes = hn_no_fields;
        taking->has = hn_counts;
    }
    hn_note_acquired(0, taking);
}

static void omp_failed(struct hn_thread *me, const struct hn_taking *taking)
{
    if (!hn_deterministic())
        hn_fields(me, taking->lock, taking->asks, taking->pc);
    hn_put_fields(me, me, taking->lock, taking->takes, taking->pc);
}

static void omp_wait(struct hn_thread *me, struct hn_taking *taking)
{
    hn_put_fields(me, me, taking->lock, taking->takes, taking->pc);
    taking->takes = hn_no_fields;
    hn_wait_for_lock(me, taking->lock, -1, 0);
}

#define OMP_LOCK(set, unset, test, kind)                                                    \
    INTERPOSE(int, test, (void *lock))                                                      \
    {                                                                                       \
        struct hn_taking taking = {lock, HN_CALLER, kind.asks, kind.takes, kind.has_tested}; \
        struct hn_thread *me = hn_inside();                                                 \
        int result;                                                                         \
                                                                                            \
        if (me != NULL && hn_deterministic())                                               \
            hn_fields(me, lock, taking.asks, taking.pc);                                    \
        result = REAL(test)(lock);                                                          \
        if (result != 0)                                                                    \
            omp_acquired(&kind, &taking);                                                   \
        else if (me != NULL)                                                                \
            omp_failed(me, &taking);                                                        \
        return result;                                                                      \
    }                                                                                       \
                                                                                            \
    INTERPOSE(void, set, (void *lock))                                                      \
    {                                                                                       \
        struct hn_taking taking = {lock, HN_CALLER, kind.asks, kind.takes, kind.has};       \
        struct hn_thread *me = hn_inside();                                                 \
                                                                                            \
        if (me == NULL || !hn_deterministic()) {                                            \
            REAL(set)(lock);                                                                \
        } else {                                                                            \
            hn_fields(me, lock, taking.asks, taking.pc);                                    \
            hn_ask_lock(me, lock, -1);                                                      \
            while (!REAL(test)(lock))                                                       \
                omp_wait(me, &taking);                                                      \
        }                                                                                   \
        omp_acquired(&kind, &taking);                                                       \
    }                                                                                       \
                                                                                            \
    INTERPOSE(void, unset, (void *lock))                                                    \
    {                                                                                       \
        struct hn_thread *me = hn_inside();                                                 \
                                                                                            \
        if (me != NULL)                                                                     \
            hn_note_releasing(me, lock, is_nested(&kind, lock) ? hn_counts : kind.releases,    \
                              HN_CALLER);                                                   \
        REAL(unset)(lock);                                                                  \
        hn_wake(lock, HN_W_LOCK, 1);                                                        \
    }

OMP_LOCK(omp_set_lock, omp_unset_lock, omp_test_lock, hn_plain_lock)
OMP_LOCK(omp_set_nest_lock, omp_unset_nest_lock, omp_test_nest_lock, hn_nest_lock)
OMP_LOCK(omp_set_lock_, omp_unset_lock_, omp_test_lock_, hn_plain_lock)
OMP_LOCK(omp_set_nest_lock_, omp_unset_nest_lock_, omp_test_nest_lock_, hn_nest_lock)

static int ordered_sections;

/* What the ordered sections of a team hold, one after the other, as if it were a lock. */
static uintptr_t order_of(const struct hn_thread *me)
{
    return (uintptr_t)(me->team != NULL ? (const void *)&me->team->left : &ordered_sections);
}

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
        hn_event(me, HN_EV_LOCK_ACQUIRE, order_of(me), 0);
    }
}

INTERPOSE(void, GOMP_ordered_end, (void))
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_event(me, HN_EV_LOCK_RELEASE, order_of(me), 0);
    REAL(GOMP_ordered_end)();
}
