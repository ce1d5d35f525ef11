/* Teams of OpenMP threads under the baton; gomp.c, gomp_sync.c and gomp_task.c. */
#ifndef HN_GOMP_H
#define HN_GOMP_H

#include "hn.h"

struct hn_task;

struct hn_task_group {
    struct hn_task_group *outer;
    unsigned count;
    int waits;                  /* the thread that ends it has slept since */
};

/* A task that waits or runs; a thread's implicit task too. */
struct hn_task {
    struct hn_task *next;
    struct hn_task *parent;
    struct hn_task_group *group;
    void (*run)(void *);
    void *data;
    unsigned children;
    int waits;                  /* it has slept since, to wait for its children */
    int finished;
};

struct hn_team {
    void (*body)(void *);
    void *data;
    struct hn_thread *master;
    struct hn_team *outer;
    struct hn_thread **members;
    int *tids;                  /* of the members, once they have attached */
    uint32_t published;         /* futex: the master has given every member its slot */
    uint32_t size;
    uint32_t arrived;
    uint32_t round;             /* of the barrier */
    uint32_t left;
    void *copied[2];            /* copyprivate data, by parity of the barrier's round */
    struct hn_task *first_task, *last_task;
    unsigned queued, running;
};

/* The team of the calling thread if the runtime performs its waits. */
struct hn_team *hn_team(void);
void hn_team_barrier(struct hn_thread *me, struct hn_team *team);
int hn_run_task(struct hn_thread *me, struct hn_team *team,
                int (*wanted)(const struct hn_task *, const void *), const void *argument);

#endif
