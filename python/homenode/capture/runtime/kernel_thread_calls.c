/* Calls that concern the calling kernel thread: its number, name and priority. A thread makes them
 * on its home (user_threads.c).
 */
#include "hn.h"

#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>

#define AT_HOME(ret, name, params, ...) \
    INTERPOSE(ret, name, params)        \
    {                                   \
        hn_be_home();                   \
        return REAL(name)(__VA_ARGS__); \
    }

INTERPOSE(int, prctl, (int option, ...))
{
    unsigned long arguments[4];
    va_list rest;

    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(rest, unsigned long);
    va_end(rest);
    hn_be_home();
    return REAL(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

INTERPOSE(pid_t, gettid, (void))
{
    return hn_user_switching && hn_me->state == HN_RUNNING ? hn_me->tid : REAL(gettid)();
}

AT_HOME(int, pthread_setname_np, (pthread_t thread, const char *name), thread, name)
AT_HOME(int, pthread_getname_np, (pthread_t thread, char *name, size_t size), thread, name, size)
AT_HOME(int, getrusage, (__rusage_who_t whose, struct rusage *usage), whose, usage)
AT_HOME(int, sched_getparam, (pid_t whose, struct sched_param *parameters), whose, parameters)
AT_HOME(int, sched_setparam, (pid_t whose, const struct sched_param *parameters), whose, parameters)
AT_HOME(int, sched_getscheduler, (pid_t whose), whose)
AT_HOME(int, sched_setscheduler, (pid_t whose, int policy, const struct sched_param *parameters),
        whose, policy, parameters)
AT_HOME(int, unshare, (int flags), flags)
AT_HOME(int, setns, (int fd, int kind), fd, kind)
