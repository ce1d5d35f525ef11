/* Start of the plugin, and the signals of the program. */
#include "guest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                  char **argv);

typedef void handler(int, siginfo_t *, void *);
typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

/* QEMU's handlers, behind ours. */
static handler *handlers[_NSIG];

/* Whether calls are restarted after a signal's handler; for each thread, of its last signal. */
static char restarts[_NSIG];
static __thread int last_restarts __attribute__((tls_model("initial-exec")));

int hn_in_handler(struct hn_thread *me)
{
    (void)me;
    return 0;
}

/* A signal that came while the thread waited has ended the wait; QEMU delivers it. */
void hn_run_pending(struct hn_thread *me)
{
    me->put_off = 0;
}

/* Locks are the guest's own code. */
void hn_put_awake(struct hn_thread *me, struct hn_thread *t)
{
    (void)me, (void)t;
}

int signal_restarts(void)
{
    return last_restarts;
}

/* QEMU handles faults of the program's own accesses; we handle forbidden reads of the host's
 * counter. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    if (is_home_request(info))
        return;
    dispatch_over();
    if (!tsc_read_emulated(info, context))
        handlers[number](number, info, context);
}

/* Interposed, because a signal for the program must end the wait of a thread. */
void pass_signal_on(int number, siginfo_t *info, void *context)
{
    if (defer_signal(number, info))
        return;
    dispatch_over();
    last_restarts = restarts[number];
    if (hn_me != &hn_no_thread) {
        hn_me->put_off = 1;
        if (hn_me->waiting) {
            hn_lock();
            hn_interrupt(hn_me, HN_BY_SIGNAL);
            hn_unlock();
        }
        if (is_from_outside(info))
            __atomic_fetch_add(&hn_shared->outside, 1, __ATOMIC_RELAXED);
    }
    if (handlers[number] != NULL)
        handlers[number](number, info, context);
}

HN_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    static sigaction_function *real;
    struct sigaction ours;

    if (real == NULL)
        real = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    if (action == NULL || hn_shared == NULL || number <= 0 || number >= _NSIG)
        return real(number, action, old);
    /* QEMU sets the flag also for signals that the program ignores. */
    handlers[number] = (action->sa_flags & SA_SIGINFO) != 0 && action->sa_handler != SIG_IGN &&
                               action->sa_handler != SIG_DFL
                           ? action->sa_sigaction
                           : NULL;
    restarts[number] = (action->sa_flags & SA_RESTART) != 0;
    if (number == SIGSYS && dispatch_catches())
        return 0;
    if (handlers[number] == NULL)
        return real(number, action, old);
    ours = *action;
    ours.sa_sigaction = number == SIGSEGV || number == SIGBUS ? on_fault : pass_signal_on;
    return real(number, &ours, old);
}

static void note_failure(void)
{
    if (hn_shared != NULL)
        hn_shared->emulator_failed = 1;
}

/* Interposed: QEMU ends by them when it finds itself in a state that cannot be, not when the
 * program does something that ends it. */
HN_EXPORT __attribute__((noreturn)) void abort(void)
{
    void (*real)(void) __attribute__((noreturn));

    real = (__typeof__(real))dlsym(RTLD_NEXT, "abort");
    note_failure();
    real();
}

HN_EXPORT __attribute__((noreturn)) void __assert_fail(const char *what, const char *file,
                                                       unsigned line, const char *function)
{
    void (*real)(const char *, const char *, unsigned, const char *) __attribute__((noreturn));

    real = (__typeof__(real))dlsym(RTLD_NEXT, "__assert_fail");
    note_failure();
    real(what, file, line, function);
}

/* Runs before QEMU reads its environment, so that the program gets the original one. For a whole
 * system the plugin is not preloaded, as the guest does not see QEMU's environment. */
__attribute__((constructor)) static void open_the_area(int argc, char **argv)
{
    const int preloaded = getenv("LD_PRELOAD") != NULL;

    api_choose();
    exec_begin(argc, argv, getenv("LD_PRELOAD"));
    unshown_begin(argc, argv);
    hn_shared = hn_open_area();
    unsetenv("LD_PRELOAD");
    if (hn_shared == NULL || !preloaded)
        return;
    hn_clock_fix();
    environment_fill(argc, argv);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    int fetches = 0;

    if (hn_shared == NULL || !guest_machine(info->target_name)) {
        fprintf(stderr, "homenode: the plugin works under `homenode record` only\n");
        return -1;
    }
    api_begin(info);
    for (int i = 0; i < argc; i++)
        fetches |= strcmp(argv[i], "fetches=on") == 0;
    if (info->system_emulation)
        return system_install(id, fetches);
    if (fetches)
        translate_fetches();
    layout_begin();
    translate_register(id);
    guest_syscalls_register(id);
    return 0;
}
