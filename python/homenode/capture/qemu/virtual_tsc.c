/* The time-stamp counter, in virtual time. When the program reads its counter, QEMU executes the
 * host's instruction, without a function that could be interposed. So the instruction is disabled
 * for the thread (PR_SET_TSC), and its fault is handled by returning virtual time.
 *
 * The C library reads the same counter in its clocks: a fault that is not due to the program
 * enables the instruction until the program's next read. So does exec, because the new program
 * would inherit the setting. The counter runs at 1 GHz and shows the time of CLOCK_MONOTONIC.
 */
#include "guest.h"

#if defined(__x86_64__)
#include <string.h>
#include <sys/prctl.h>
#include <sys/ucontext.h>

static __thread int looking __attribute__((tls_model("initial-exec")));
static int used;            /* by any thread: threads inherit the setting */

/* The guest whose kernel thread runs `me`, which is not always its own (user_threads.c). */
static struct guest *kernel_thread_of(const struct hn_thread *me)
{
    return &hn_guests[hn_kernel_thread(me)];
}

static void allow(void)
{
    looking = 0;
    if (hn_me != &hn_no_thread)
        kernel_thread_of(hn_me)->tsc_forbidden = 0;
    hn_sys(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0);
}

/* Called before the program reads its counter. */
void on_tsc_read(unsigned cpu, void *data)
{
    struct hn_thread *me = guest_thread();
    struct guest *g;

    (void)cpu, (void)data;
    if (me == NULL)
        return;
    g = kernel_thread_of(me);
    looking = used = 1;
    if (!g->tsc_forbidden)
        hn_sys(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0);
    g->tsc_forbidden = 1;
}

/* Called before the process executes another program. */
void tsc_before_exec(void)
{
    if (used)
        allow();
}

/* Length of an instruction that reads the counter; 0 for others. */
static size_t size_of_reading(const uint8_t *code)
{
    if (memcmp(code, "\x0f\x31", 2) == 0)
        return 2;
    return memcmp(code, "\x0f\x01\xf9", 3) == 0 ? 3 : 0;
}

/* Handles the fault of a read of the counter; returns whether it was one. */
int tsc_read_emulated(const siginfo_t *info, void *context)
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
    me = looking ? guest_thread() : NULL;
    if (me == NULL) {
        allow();
        return 1;
    }
    looking = 0;
    ticks = hn_read_clock_in_turn(me, CLOCK_MONOTONIC);
    registers[REG_RAX] = (greg_t)(ticks & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(ticks >> 32);
    if (size == 3)
        registers[REG_RCX] = 0;
    registers[REG_RIP] += (greg_t)size;
    return 1;
}
#else
/* On other hosts the counter cannot be disabled: programs read the real one. */
void on_tsc_read(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
}

int tsc_read_emulated(const siginfo_t *info, void *context)
{
    (void)info, (void)context;
    return 0;
}

void tsc_before_exec(void)
{
}
#endif
