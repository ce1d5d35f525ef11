/* Children and other programs. The kernel wipes our state in a child, so its hooks record nothing
 * by themselves. What remains: to note the child, to restore the program's processors in it, and to
 * keep vfork's child from writing into its parent's memory.
 */
#include "hn.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* In a child: restores the processors, and forgets the thread. */
static void reset_child(int restore)
{
    hn_me = &hn_no_thread;
    hn_recording = 0;
    hn_user_switching = 0;
    if (restore)
        hn_sys(SYS_sched_setaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0);
}

INTERPOSE(pid_t, fork, (void))
{
    struct hn_thread *me = hn_inside();
    const int pinned = me != NULL && hn_one_ring();
    pid_t child;

    hn_be_home();
    if (me != NULL)
        me->in_runtime++;
    child = REAL(fork)();
    if (child == 0) {
        reset_child(pinned);
        return 0;
    }
    if (me != NULL)
        me->in_runtime--;
    if (me != NULL && child > 0)
        hn_event(me, HN_EV_FORK, (uint64_t)child, 0);
    return child;
}

/* A child in its parent's memory would record as its parent. POSIX allows vfork to be fork. */
INTERPOSE(pid_t, vfork, (void))
{
    (void)REAL(vfork);
    return fork();
}
