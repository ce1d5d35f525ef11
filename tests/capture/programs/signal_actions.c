/* What a program can ask for with its handlers: each case prints what happens, in order. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t count, depth;
static pthread_t first;
static int ends[2];
static char spare[1 << 16];

/* Without the C library's locks. */
static void say(const char *text, long number)
{
    char line[80];
    int length = snprintf(line, sizeof line, "%s %ld\n", text, number);

    if (write(1, line, length) != length)
        abort();
}

static void plain(int number)
{
    count++;
    say("plain", number);
}

static void nesting(int number)
{
    say("enters", ++depth);
    if (depth < 3 && ++count < 3)
        raise(number);
    say("leaves", depth--);
}

static void other_first(int number)
{
    say("begins", number);
    raise(SIGUSR2);
    say("ends", number);
}

static void with_info(int number, siginfo_t *info, void *context)
{
    count++;
    say(context != NULL ? "info" : "no context", number);
    say("code", info->si_code);
    if (info->si_code == SI_QUEUE)
        say("value", info->si_value.sival_int);
}

static void where(int number)
{
    char here;

    count++;
    say(&here >= spare && &here < spare + sizeof spare ? "aside" : "on the stack", number);
}

static void set(int number, void (*handler)(int), int flags, int masked)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    if (masked != 0)
        sigaddset(&action.sa_mask, masked);
    say("set", sigaction(number, &action, NULL));
}

static void show(int number)
{
    struct sigaction now;

    say("shown", sigaction(number, NULL, &now));
    say("flags", (unsigned)now.sa_flags & ~SA_INTERRUPT);     /* QEMU keeps this one */
    say("masks itself", sigismember(&now.sa_mask, number));
    say("is the program's", now.sa_handler == plain);
    say("default", now.sa_handler == SIG_DFL);
    say("ignored", now.sa_handler == SIG_IGN);
}

static void *sends(void *number)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    pthread_kill(first, (int)(long)number);
    return NULL;
}

static void *sends_and_writes(void *number)
{
    sends(number);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    if (write(ends[1], "x", 1) != 1)
        abort();
    return NULL;
}

/* A read that a signal meets, and data later. */
static void read_on(void)
{
    pthread_t thread;
    char data;
    ssize_t done;

    if (pipe(ends) != 0)
        abort();
    pthread_create(&thread, NULL, sends_and_writes, (void *)SIGUSR1);
    done = read(ends[0], &data, 1);
    say(done == 1 ? "read" : errno == EINTR ? "interrupted" : "failed", done);
    pthread_join(thread, NULL);
}

static void await(int number)
{
    pthread_t thread;

    pthread_create(&thread, NULL, sends, (void *)(long)number);
    while (count == 0)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    pthread_join(thread, NULL);
}

static void on_another_stack(void)
{
    const stack_t stack = {.ss_sp = spare, .ss_size = sizeof spare};

    say("stack", sigaltstack(&stack, NULL));
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    int again = 0;

    first = pthread_self();
#define CASE(name) if (strcmp(wanted, name) == 0)
    CASE("reset") { set(SIGUSR1, plain, SA_RESETHAND, 0); raise(SIGUSR1); again = 1; }
    CASE("reset from a thread") { set(SIGTERM, plain, SA_RESETHAND, 0); await(SIGTERM); }
    CASE("reset and shown") { set(SIGUSR1, plain, SA_RESETHAND, 0); raise(SIGUSR1); show(SIGUSR1); }
    CASE("nested") { set(SIGUSR1, nesting, SA_NODEFER, 0); raise(SIGUSR1); }
    CASE("nested but masked") { set(SIGUSR1, nesting, SA_NODEFER, SIGUSR1); raise(SIGUSR1); }
    CASE("nested from a thread") { set(SIGUSR1, nesting, SA_NODEFER, 0); await(SIGUSR1); }
    CASE("deferred") { set(SIGUSR1, nesting, 0, 0); raise(SIGUSR1); }
    CASE("masked") {
        set(SIGUSR1, other_first, 0, SIGUSR2);
        set(SIGUSR2, plain, 0, 0);
        raise(SIGUSR1);
    }
    CASE("not masked") {
        set(SIGUSR1, other_first, 0, 0);
        set(SIGUSR2, plain, 0, 0);
        raise(SIGUSR1);
    }
    CASE("info") {
        struct sigaction action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};

        sigaction(SIGRTMIN, &action, NULL);
        sigqueue(getpid(), SIGRTMIN, (union sigval){42});
        raise(SIGRTMIN);
    }
    CASE("info once") {
        struct sigaction action = {.sa_sigaction = with_info,
                                   .sa_flags = SA_SIGINFO | SA_RESETHAND};

        sigaction(SIGUSR2, &action, NULL);
        await(SIGUSR2);
        again = SIGUSR2;
    }
    CASE("restarted") { set(SIGUSR1, plain, SA_RESTART, 0); read_on(); }
    CASE("interrupted") { set(SIGUSR1, plain, 0, 0); read_on(); }
    CASE("signal") {
        say("was default", signal(SIGUSR1, plain) == SIG_DFL);
        show(SIGUSR1);
        read_on();
    }
    CASE("sysv_signal") { sysv_signal(SIGUSR1, plain); show(SIGUSR1); raise(SIGUSR1); again = 1; }
    CASE("siginterrupt") {
        signal(SIGUSR1, plain);
        say("interrupts", siginterrupt(SIGUSR1, 1));
        show(SIGUSR1);
        read_on();
    }
    CASE("siginterrupt first") {
        siginterrupt(SIGUSR1, 1);
        signal(SIGUSR1, plain);
        show(SIGUSR1);
    }
    CASE("sigset") { sigset(SIGUSR1, plain); show(SIGUSR1); raise(SIGUSR1); raise(SIGUSR1); }
    CASE("sigset, held") {
        sigset(SIGUSR1, plain);
        say("before", sigset(SIGUSR1, SIG_HOLD) == plain);
        raise(SIGUSR1);
        say("held", sigset(SIGUSR1, plain) == SIG_HOLD);
    }
    CASE("read back") {
        struct sigaction old;

        set(SIGUSR1, plain, SA_RESTART | SA_NODEFER | SA_ONSTACK, 0);
        show(SIGUSR1);
        signal(SIGUSR1, SIG_IGN);
        show(SIGUSR1);
        raise(SIGUSR1);
        sigaction(SIGUSR1, NULL, &old);
        set(SIGUSR1, plain, 0, 0);
        sigaction(SIGUSR1, &old, &old);
        say("is the program's", old.sa_handler == plain);
        raise(SIGUSR1);
    }
    CASE("default again") { signal(SIGUSR1, plain); signal(SIGUSR1, SIG_DFL); again = 1; }
    CASE("no such signal") {
        say("refused", signal(65, plain) == SIG_ERR && errno == EINVAL);
        say("refused", signal(SIGKILL, plain) == SIG_ERR && errno == EINVAL);
        say("refused", signal(SIGUSR1, SIG_ERR) == SIG_ERR && errno == EINVAL);
    }
    CASE("stack") {
        on_another_stack();
        set(SIGUSR1, where, SA_ONSTACK, 0);
        raise(SIGUSR1);
        await(SIGUSR1);
    }
    CASE("own stack") { on_another_stack(); set(SIGUSR1, where, 0, 0); raise(SIGUSR1); }
    if (again)
        raise(again == 1 ? SIGUSR1 : again);
    return 3;
}
