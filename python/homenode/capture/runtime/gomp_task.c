/* OpenMP through libgomp: tasks. They have a queue of our own, because libgomp runs waiting tasks
 * inside its barriers, which are replaced. Tasks run in the order of their creation, in the first
 * thread of the team that has to wait.
 */
#include "gomp.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    FLAG_DEPEND = 1 << 3,
    FLAG_IF = 1 << 10,
    FLAG_DETACH = 1 << 13,
    QUEUED_A_THREAD_MAX = 64,
};

typedef void copy_call(void *to, void *from);
typedef void body_call(void *);

/* The lock that libgomp takes to queue a task, to take it out, to end it and to see that all have
 * ended. In the trace it orders what is before one of these and what is after another. */
static void pass_lock(struct hn_thread *me, struct hn_team *team)
{
    hn_event(me, HN_EV_LOCK_ACQUIRE, (uintptr_t)&team->first_task, 0);
    hn_event(me, HN_EV_LOCK_RELEASE, (uintptr_t)&team->first_task, 0);
}

/* A task may end before its children, which still refer to it. */
static void release(struct hn_thread *me, struct hn_task *task)
{
    if (!task->finished || task->children > 0)
        return;
    me->in_runtime++;
    free(task);
    me->in_runtime--;
}

static void finished(struct hn_thread *me, struct hn_team *team, struct hn_task *task)
{
    struct hn_task *parent = task->parent;

    parent->children--;
    if (parent->waits && parent->children == 0)
        hn_event(me, HN_EV_CONDITION_WAKE, (uintptr_t)parent, 0);
    if (task->group != NULL && --task->group->count == 0 && task->group->waits)
        hn_event(me, HN_EV_CONDITION_WAKE, (uintptr_t)task->group, 0);
    team->running--;
    task->finished = 1;
    release(me, task);
    release(me, parent);
    hn_wake(team, HN_W_TEAM, INT_MAX);
}

/* Runs the first waiting task that is `wanted`; 0 if there is none. */
int hn_run_task(struct hn_thread *me, struct hn_team *team,
                int (*wanted)(const struct hn_task *, const void *), const void *argument)
{
    struct hn_task *before = NULL, *task = team->first_task;
    struct hn_task *outer = me->task;

    while (task != NULL && !wanted(task, argument)) {
        before = task;
        task = task->next;
    }
    if (task == NULL)
        return 0;
    if (before == NULL)
        team->first_task = task->next;
    else
        before->next = task->next;
    if (team->last_task == task)
        team->last_task = before;
    team->queued--;
    team->running++;
    me->task = task;
    pass_lock(me, team);
    task->run(task->data);
    me = hn_me;
    if (hn_logical)
        hn_take_turn(me);
    pass_lock(me, team);
    me->task = outer;
    finished(me, team, task);
    return 1;
}

/* Makes a task with a copy of its arguments behind it; null when there is no memory. */
static struct hn_task *make_task(struct hn_thread *me, void *data, copy_call *copy, long size,
                                 long alignment)
{
    size_t bytes = sizeof(struct hn_task) + (size_t)size + (size_t)alignment;
    struct hn_task *task;
    uintptr_t at;

    me->in_runtime++;
    task = malloc(bytes);
    me->in_runtime--;
    if (task == NULL)
        return NULL;
    at = ((uintptr_t)(task + 1) + (uintptr_t)alignment - 1) & ~((uintptr_t)alignment - 1);
    *task = (struct hn_task){.parent = me->task, .group = me->task->group, .data = (void *)at};
    if (copy != NULL) {
        copy(task->data, data);
    } else {
        for (long i = 0; i < size; i++)
            ((char *)task->data)[i] = ((const char *)data)[i];
    }
    return task;
}

INTERPOSE(void, GOMP_task, (body_call *body, void *data, copy_call *copy, long size,
                            long alignment, bool deferrable, unsigned flags, void **depend,
                            int priority, void *detach))
{
    struct hn_team *team = hn_team();
    struct hn_thread *me = hn_me;
    struct hn_task *task;

    /* A task with dependences is run at once, so the tasks that it depends on have been run. */
    if (team == NULL || !deferrable || (flags & (FLAG_DEPEND | FLAG_DETACH)) != 0 ||
        team->queued >= QUEUED_A_THREAD_MAX * team->size ||
        (task = make_task(me, data, copy, size, alignment)) == NULL) {
        REAL(GOMP_task)(body, data, copy, size, alignment, team == NULL && deferrable, flags,
                        depend, priority, detach);
        return;
    }
    if (hn_logical)
        hn_take_turn(me);
    pass_lock(me, team);
    task->run = body;
    task->parent->children++;
    if (task->group != NULL)
        task->group->count++;
    if (team->last_task == NULL)
        team->first_task = task;
    else
        team->last_task->next = task;
    team->last_task = task;
    team->queued++;
    hn_wake(team, HN_W_TEAM, 1);
}

static int is_child(const struct hn_task *task, const void *parent)
{
    return task->parent == parent;
}

static int in_group(const struct hn_task *task, const void *group)
{
    return task->group == group;
}

/* The tasks that the thread waits for have ended. If it slept, the last of them has woken it, which
 * a simulation must wait for. */
static void all_ended(struct hn_thread *me, struct hn_team *team, const void *awaited, int *waits)
{
    if (*waits)
        hn_event(me, HN_EV_CONDITION_WAIT, (uintptr_t)awaited, 0);
    *waits = 0;
    pass_lock(me, team);
}

INTERPOSE(void, GOMP_taskwait, (void))
{
    struct hn_team *team = hn_team();
    struct hn_thread *me = hn_me;

    if (team == NULL) {
        REAL(GOMP_taskwait)();
        return;
    }
    while (me->task->children > 0 && hn_c->order != 0)
        if (!hn_run_task(me, team, is_child, me->task)) {
            me->task->waits = 1;
            hn_block(me, team, HN_W_TEAM, -1);
        }
    all_ended(me, team, me->task, &me->task->waits);
}

INTERPOSE(void, GOMP_taskwait_depend, (void **depend))
{
    if (hn_team() == NULL)
        REAL(GOMP_taskwait_depend)(depend);
}

INTERPOSE(void, GOMP_taskyield, (void))
{
    if (hn_team() == NULL)
        REAL(GOMP_taskyield)();
    else
        hn_let_others_run(hn_me);
}

INTERPOSE(void, GOMP_taskgroup_start, (void))
{
    struct hn_team *team = hn_team();
    struct hn_thread *me = hn_me;
    struct hn_task_group *group = NULL;

    if (team != NULL) {
        me->in_runtime++;
        group = malloc(sizeof *group);
        me->in_runtime--;
    }
    if (group == NULL) {
        REAL(GOMP_taskgroup_start)();
        return;
    }
    *group = (struct hn_task_group){.outer = me->task->group};
    me->task->group = group;
}

INTERPOSE(void, GOMP_taskgroup_end, (void))
{
    struct hn_team *team = hn_team();
    struct hn_thread *me = hn_me;
    struct hn_task_group *group = team == NULL ? NULL : me->task->group;

    if (group == NULL) {
        REAL(GOMP_taskgroup_end)();
        return;
    }
    while (group->count > 0 && hn_c->order != 0)
        if (!hn_run_task(me, team, in_group, group)) {
            group->waits = 1;
            hn_block(me, team, HN_W_TEAM, -1);
        }
    all_ended(me, team, group, &group->waits);
    me->task->group = group->outer;
    me->in_runtime++;
    free(group);
    me->in_runtime--;
}

/* The thread that makes the tasks of a loop runs them, one after the other. */
#define TASKLOOP(name, number)                                                                \
    INTERPOSE(void, name, (body_call *body, void *data, copy_call *copy, long size,           \
                           long alignment, unsigned flags, unsigned long tasks, int priority, \
                           number start, number end, number step))                            \
    {                                                                                         \
        if (hn_team() != NULL)                                                                \
            flags &= ~(unsigned)FLAG_IF;                                                      \
        REAL(name)(body, data, copy, size, alignment, flags, tasks, priority, start, end, step); \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
