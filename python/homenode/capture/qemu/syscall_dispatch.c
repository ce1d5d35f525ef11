/* Syscall user dispatch: replaces system calls that QEMU makes for the program.
 *
 * A call that waits must wait in virtual time, without the kernel. For many calls one can ask
 * before whether they would wait (guest_waits.c), but only the call itself can return a time-out or
 * a partial write, and QEMU makes it with an instruction of its own. So the kernel is set to send
 * this thread's next call back as a signal (PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11): the handler
 * gets QEMU's arguments, performs the call, and leaves the result where the kernel would have.
 *
 * Other calls before it, such as one of malloc, are passed on. A handler of QEMU that runs before
 * it cancels the dispatch, because the handler's return is a call too; then the kernel makes the
 * call, and only its duration is wrong.
 */
#include "guest.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
#include <sys/ucontext.h>

enum { DISPATCH = 59, OFF = 0, ON = 1, SENT_BACK = 2, RESTORER = 0x04000000 };

/* The kernel's struct sigaction. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static __thread volatile char sends_back __attribute__((tls_model("initial-exec")));
static __thread struct {
    long number;
    replacement *make;
    int all;                    /* also those after it, until the program's call is over */
} next;

/* The return from our handler, which the kernel does not send back. Debuggers recognise its
 * bytes. */
__asm__(".pushsection .text\n"
        "nop\n"
        "hn_restorer:\n"
        "mov $15, %rax\n"
        "syscall\n"
        "hn_restorer_end:\n"
        "nop\n"
        ".popsection\n");
extern char hn_restorer[] __attribute__((visibility("hidden")));
extern char hn_restorer_end[] __attribute__((visibility("hidden")));

long make_call(long number, const long a[6])
{
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void mask_signals(int how, const uint64_t *mask, uint64_t *old)
{
    hn_sys(SYS_rt_sigprocmask, how, (long)mask, (long)old, sizeof *old);
}

/* Returns 0 or the error. Unused arguments must be zero. */
static long dispatch(int how, const void *passes, size_t size, volatile char *selector)
{
    const long a[6] = {DISPATCH, how, (long)passes, (long)size, (long)selector, 0};

    return make_call(SYS_prctl, a);
}

/* The call is over, or a handler of QEMU's begins. */
void dispatch_over(void)
{
    if (!sends_back)
        return;
    sends_back = 0;
    dispatch(OFF, NULL, 0, NULL);
}

static void on_call_sent_back(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    greg_t *r = u->uc_mcontext.gregs;
    const long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    const int saved_errno = errno;
    struct hn_thread *me;

    if (info->si_code != SENT_BACK) {
        pass_signal_on(number, info, context);
        return;
    }
    sends_back = 0;
    if (r[REG_RAX] != next.number) {
        r[REG_RAX] = make_call(r[REG_RAX], a);
        sends_back = 1;
        return;
    }
    if (!next.all)
        dispatch(OFF, NULL, 0, NULL);
    me = guest_thread();
    r[REG_RAX] = me == NULL ? make_call(next.number, a) : next.make(me, next.number, a);
    /* QEMU blocks signals from the arrival of one until it delivers it. */
    mask_signals(SIG_BLOCK, NULL, (uint64_t *)&u->uc_sigmask);
    errno = saved_errno;
    sends_back = (char)next.all;
}

static int catch_calls(void)
{
    const struct kernel_action ours = {
        on_call_sent_back, SA_SIGINFO | SA_NODEFER | RESTORER,
        (void (*)(void))(uintptr_t)hn_restorer, 0};

    return hn_sys(SYS_rt_sigaction, SIGSYS, (long)&ours, 0, sizeof ours.mask) == 0;
}

/* Whether the kernel can send calls back. The first call installs the handler. */
static enum { UNKNOWN, IMPOSSIBLE, POSSIBLE } here;

int dispatch_possible(void)
{
    if (here == UNKNOWN)
        here = dispatch(OFF, NULL, 0, NULL) == 0 && catch_calls() ? POSSIBLE : IMPOSSIBLE;
    return here == POSSIBLE;
}

/* Whether the handler is installed. */
int dispatch_catches(void)
{
    return here == POSSIBLE;
}

/* Has `make` perform the next call with this number, or all of them. Must be the last step before
 * the call. */
void dispatch_call(long number, replacement *make, int all)
{
    const uint64_t trap = UINT64_C(1) << (SIGSYS - 1);

    mask_signals(SIG_UNBLOCK, &trap, NULL);
    if (dispatch(ON, hn_restorer, (size_t)(hn_restorer_end - hn_restorer) + 1, &sends_back) != 0)
        return;
    next.number = number;
    next.make = make;
    next.all = all;
    sends_back = 1;
}

/* Replaces the signals that are blocked; `wanted` may be null. */
void dispatch_mask(const uint64_t *wanted, uint64_t *old)
{
    mask_signals(SIG_SETMASK, wanted, old);
}
#else
/* Linux sends calls back on x86-64 only. */
int dispatch_possible(void)
{
    return 0;
}

int dispatch_catches(void)
{
    return 0;
}

void dispatch_over(void)
{
}

void dispatch_mask(const uint64_t *wanted, uint64_t *old)
{
    (void)wanted, (void)old;
}

void dispatch_call(long number, replacement *make, int all)
{
    (void)number, (void)make, (void)all;
}

long make_call(long number, const long a[6])
{
    return hn_sys(number, a[0], a[1], a[2], a[3]);
}
#endif
