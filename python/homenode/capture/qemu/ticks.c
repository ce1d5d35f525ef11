/* The counter of processor ticks, which QEMU reads from the host's with the host's instruction when
 * the program reads its own: no function of the C library is in between, so the processor is told
 * to forbid that instruction to the thread, and its fault is answered with virtual time.
 *
 * The C library reads the same counter in its clocks: a fault that is not the program's has the
 * instruction allowed again, until the program's next read. So has exec, because what it starts
 * would be forbidden it too. The counter is one of 1 GHz and shows what CLOCK_MONOTONIC shows.
 */
#include "guest.h"

#if defined(__x86_64__)
#include <string.h>
#include <sys/prctl.h>
#include <sys/ucontext.h>

static __thread int looking __attribute__((tls_model("initial-exec")));
static int used;            /* by any thread: one that it makes is forbidden it too */

/* The guest whose kernel thread runs `me`, which is not always its own (carriers.c). */
static struct guest *kernel_thread_of(const struct hn_thread *me)
{
    return &hn_guests[hn_kernel_thread(me)];
}

static void allow(void)
{
    looking = 0;
    if (hn_me != &hn_nobody)
        kernel_thread_of(hn_me)->ticks_forbidden = 0;
    hn_sys(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0);
}

/* The program is about to read its counter. */
void on_ticks(unsigned cpu, void *data)
{
    struct hn_thread *me = asking();
    struct guest *g;

    (void)cpu, (void)data;
    if (me == NULL)
        return;
    g = kernel_thread_of(me);
    looking = used = 1;
    if (!g->ticks_forbidden)
        hn_sys(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0);
    g->ticks_forbidden = 1;
}

/* The process is about to become another program. */
void ticks_before_exec(void)
{
    if (used)
        allow();
}

/* Bytes of an instruction that reads the counter, 0 if it is another one. */
static size_t size_of_reading(const uint8_t *code)
{
    if (memcmp(code, "\x0f\x31", 2) == 0)
        return 2;
    return memcmp(code, "\x0f\x01\xf9", 3) == 0 ? 3 : 0;
}

/* Whether a fault was a read of the counter: then a read of the program's has been answered. */
int ticks_answered(const siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct hn_thread *me;
    uint64_t ticks;
    size_t size;

    if (!used || info->si_code != SI_KERNEL)
        return 0;
    size = size_of_reading((const uint8_t *)registers[REG_RIP]);
    if (size == 0)
        return 0;
    me = looking ? asking() : NULL;
    if (me == NULL) {
        allow();
        return 1;
    }
    looking = 0;
    ticks = hn_glance_at_clock(me, CLOCK_MONOTONIC);
    registers[REG_RAX] = (greg_t)(ticks & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(ticks >> 32);
    if (size == 3)
        registers[REG_RCX] = 0;
    registers[REG_RIP] += (greg_t)size;
    return 1;
}
#else
/* Other hosts' counters cannot be forbidden: programs see them. */
void on_ticks(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
}

int ticks_answered(const siginfo_t *info, void *context)
{
    (void)info, (void)context;
    return 0;
}

void ticks_before_exec(void)
{
}
#endif
