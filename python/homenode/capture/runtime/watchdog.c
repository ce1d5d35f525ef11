/* Takes the baton from a holder that is stuck unseen: in a blocking system call made by
 * uninstrumented code, or spinning there. A waiting thread notices after a while. The order remains
 * a legal one, because the holder is past its last recorded access; but the moment depends on real
 * time, so it is counted and reported.
 */
#include "hn.h"

#include <fcntl.h>
#include <sys/syscall.h>

enum { ASLEEP_NS = 15000000 };
static const uint64_t SPINNING_CPU_NS = UINT64_C(1000000000);

struct glimpse {
    char state;         /* as in /proc: S sleeping, D waiting for a device, R running, ... */
    uint64_t cpu_ns;
    uint64_t slices;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    hn_sys(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static char *append(char *at, const char *text)
{
    while (*text != '\0')
        *at++ = *text++;
    *at = '\0';
    return at;
}

static long read_task_file(int tid, const char *file, char *text, long size)
{
    char path[64], digits[16];
    char *digit = digits + sizeof digits - 1;
    long fd, length;

    *digit = '\0';
    do
        *--digit = (char)('0' + tid % 10);
    while ((tid /= 10) != 0);
    append(append(append(path, "/proc/self/task/"), digit), file);
    fd = hn_sys(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    length = hn_sys(SYS_read, fd, (long)text, size - 1, 0);
    hn_sys(SYS_close, fd, 0, 0, 0);
    if (length > 0)
        text[length] = '\0';
    return length;
}

static const char *number(const char *at, uint64_t *value)
{
    *value = 0;
    while (*at == ' ')
        at++;
    while (*at >= '0' && *at <= '9')
        *value = *value * 10 + (uint64_t)(*at++ - '0');
    return at;
}

static int look_at(int tid, struct glimpse *g)
{
    char text[512];
    const char *at = NULL;
    uint64_t waited_ns;

    if (read_task_file(tid, "/stat", text, sizeof text) <= 0)
        return 0;
    for (const char *c = text; *c != '\0'; c++)
        if (*c == ')')
            at = c;             /* the name before it may have any characters, brackets too */
    if (at == NULL || at[1] == '\0')
        return 0;
    g->state = at[2];
    if (read_task_file(tid, "/schedstat", text, sizeof text) <= 0)
        return 0;
    number(number(number(text, &g->cpu_ns), &waited_ns), &g->slices);
    return 1;
}

/* Takes the baton from `t`. Locked. All threads share one core, so `t` does not run now; if it has
 * run since `before`, it may be in the middle of a hook, and gets the baton back. */
static void take_away(struct hn_thread *t, const struct glimpse *before)
{
    const struct hn_thread saved = *t;
    struct glimpse after;

    hn_c->next = t->next;
    hn_c->block_end = t->block_end;
    hn_c->holder = NULL;
    t->limit = NULL;
    t->state = HN_OUTSIDE;
    if (!look_at(hn_kernel_tid(t), &after) || after.slices != before->slices) {
        t->limit = saved.limit;
        t->state = HN_RUNNING;
        hn_c->holder = t;
        return;
    }
    t->next = t->block_end = t->turn_start = NULL;
    hn_shared->forced++;
    if (hn_directed)
        hn_note_stray(t, HN_TAKEN_AT);
    hn_dispatch(NULL);
    hn_pass_on();
}

/* The same in logical order. `t` may run again at any moment: it writes a ring of its own, and if
 * it was in a hook, its records are merged as soon as they are read. */
static void take_for_outside(struct hn_thread *t)
{
    hn_shared->forced++;
    hn_release_baton(t);
    t->state = HN_OUTSIDE;
    hn_dispatch(NULL);
}

static void judge(struct hn_thread *holder, uint64_t progress)
{
    const int tid = hn_kernel_tid(holder);
    struct glimpse g;
    uint64_t now = now_ns();

    if (holder != hn_c->watched || progress != hn_c->watched_progress) {
        hn_c->watched = holder;
        hn_c->watched_progress = progress;
        hn_c->watched_since_ns = now;
        hn_c->watched_cpu_ns = look_at(tid, &g) ? g.cpu_ns : 0;
        return;
    }
    if (now - hn_c->watched_since_ns < ASLEEP_NS || !look_at(tid, &g))
        return;
    if (g.state == 'S' || g.state == 'D' || g.cpu_ns - hn_c->watched_cpu_ns > SPINNING_CPU_NS)
        hn_logical ? take_for_outside(holder) : take_away(holder, &g);
}

/* Called at intervals by threads that wait for their turn. */
void hn_watch(void)
{
    struct hn_thread *holder;

    hn_lock();
    if (hn_logical) {
        holder = hn_first_obstacle();
        if (holder != NULL && !holder->in_runtime)
            judge(holder, hn_clock_of_other(holder) * 64 + hn_c->switches);
        hn_unlock();
        return;
    }
    holder = hn_c->holder;
    if (holder != NULL && hn_c->ready.first != NULL && !holder->in_runtime)
        judge(holder, (uintptr_t)holder->next + hn_c->switches * 64 + hn_c->blocks_done);
    hn_unlock();
}
