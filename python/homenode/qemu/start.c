/* Start of the plugin, and the signals of the program. */
#include "guest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HN_EXPORT int qemu_plugin_version = HN_PLUGIN_VERSION;

HN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                  char **argv);

typedef void handler(int, siginfo_t *, void *);
typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

/* QEMU's handlers, behind ours. */
static handler *handlers[_NSIG];

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

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (hn_me != &hn_nobody)
        hn_me->put_off = 1;
    handlers[number](number, info, context);
}

/* The wait of a thread must end when a signal comes for the program, so we must know. Faults of
 * the program's own accesses are none of our business. */
HN_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    static sigaction_function *real;
    struct sigaction ours;

    if (real == NULL)
        real = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    if (action == NULL || hn_shared == NULL || (action->sa_flags & SA_SIGINFO) == 0 ||
        number <= 0 || number >= _NSIG || number == SIGSEGV || number == SIGBUS)
        return real(number, action, old);
    ours = *action;
    handlers[number] = action->sa_sigaction;
    ours.sa_sigaction = on_signal;
    return real(number, &ours, old);
}

/* Before QEMU looks at its environment: the program sees the one it was given. For a whole system
 * the plugin is not preloaded, and nothing in there sees QEMU's environment. */
__attribute__((constructor)) static void open_the_area(int argc, char **argv)
{
    const int preloaded = getenv("LD_PRELOAD") != NULL;

    hn_shared = hn_open_area();
    unsetenv("LD_PRELOAD");
    if (hn_shared != NULL && preloaded)
        environment_fill(argc, argv);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    if (hn_shared == NULL || !guest_machine(info->target_name)) {
        fprintf(stderr, "homenode: the plugin works under `homenode record` only\n");
        return -1;
    }
    if (info->system_emulation)
        return system_install(id);
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "fetches=on") == 0)
            translate_fetches();
    members_register(id);
    translate_register(id);
    calls_register(id);
    return 0;
}
