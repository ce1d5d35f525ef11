/* Calls that make a child and execute a program in it. The child is not recorded, which the
 * recorder says, as it does after fork. It begins with the processors of the thread that makes it:
 * so that thread has the program's processors meanwhile.
 */
#include "hn.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* stdio.h would define functions that other sources of the runtime define. */
struct file;

struct maker {
    struct hn_thread *me;
    cpu_set_t pinned;
};

/* Called before; `me` is null if the caller is not recorded. */
static struct maker begin_making(void)
{
    struct maker maker = {.me = hn_inside()};

    if (maker.me == NULL)
        return maker;
    hn_be_home();
    if (hn_one_ring()) {
        hn_sys(SYS_sched_getaffinity, 0, sizeof maker.pinned, (long)&maker.pinned, 0);
        hn_sys(SYS_sched_setaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0);
    }
    return maker;
}

static void end_making(const struct maker *maker, int is_made)
{
    const int why = errno;

    if (maker->me == NULL)
        return;
    if (hn_one_ring())
        hn_sys(SYS_sched_setaffinity, 0, sizeof maker->pinned, (long)&maker->pinned, 0);
    /* Children have numbers in the trace. */
    if (is_made)
        hn_event(maker->me, HN_EV_FORK, 0, 0);
    errno = why;
}

#define SPAWN(name)                                                                               \
    INTERPOSE(int, name, (pid_t *child, const char *program,                                      \
                          const posix_spawn_file_actions_t *actions,                              \
                          const posix_spawnattr_t *attributes, char *const words[],               \
                          char *const environment[]))                                             \
    {                                                                                             \
        const struct maker maker = begin_making();                                                \
        const int result = REAL(name)(child, program, actions, attributes, words, environment);   \
                                                                                                  \
        end_making(&maker, result == 0);                                                          \
        return result;                                                                            \
    }

SPAWN(posix_spawn)
SPAWN(posix_spawnp)

INTERPOSE(struct file *, popen, (const char *line, const char *mode))
{
    const struct maker maker = begin_making();
    struct file *const result = REAL(popen)(line, mode);

    end_making(&maker, result != NULL);
    return result;
}

/* The caller waits for the child, without the baton. */
INTERPOSE(int, system, (const char *line))
{
    struct hn_thread *me = hn_enter_call(SYS_wait4);
    const struct maker maker = begin_making();
    int result;

    if (me != NULL)
        hn_leave(me);
    result = REAL(system)(line);
    if (me != NULL)
        hn_inside();
    end_making(&maker, line != NULL && result != -1);
    hn_leave_call(SYS_wait4);
    return result;
}
