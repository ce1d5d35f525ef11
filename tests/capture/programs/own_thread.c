/* Checks that a thread keeps its state after every turn: number, name, rounding, errno, time; and
 * its end. With an argument, it also makes a child and runs a handler. Prints "own" or the error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 5, ROUNDS = 400, STEPS = 60 };

static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static long shared[8];
static volatile double one = 1, three = 3;
static int wrong, handled, more_wanted;
static __thread int own = -1;

static void complain(int me, const char *what)
{
    wrong++;
    printf("thread %d: %s\n", me, what);
}

static void turn(void)
{
    for (int i = 0; i < STEPS; i++)
        shared[i % 8]++;
}

static double thread_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void look(int me, int tid, double third)
{
    char name[16], wanted[16];
    struct rusage used;

    snprintf(wanted, sizeof wanted, "number %d", me);
    if (own != me)
        complain(me, "thread-local storage");
    if (errno != 100 + me)
        complain(me, "errno");
    if (gettid() != tid || syscall(SYS_gettid) != tid)
        complain(me, "thread number");
    if (pthread_getname_np(pthread_self(), name, sizeof name) != 0 || strcmp(name, wanted) != 0)
        complain(me, "name");
    if (fegetround() != roundings[me % 4] || one / three != third)
        complain(me, "rounding");
    if (getrusage(RUSAGE_THREAD, &used) != 0)
        complain(me, "usage");
}

static void on_signal(int number)
{
    handled += number == SIGUSR1;
}

static void have_child(int me)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        char name[16];

        _exit(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && own == me ? 7 : 8);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        complain(me, "child");
}

static void *work(void *argument)
{
    const int me = (int)(long)argument;
    const int tid = (int)syscall(SYS_gettid);
    double third, before = 0;
    char name[16];

    own = me;
    snprintf(name, sizeof name, "number %d", me);
    pthread_setname_np(pthread_self(), name);
    fesetround(roundings[me % 4]);
    third = one / three;
    for (int i = 0; i < ROUNDS; i++) {
        errno = 100 + me;
        turn();
        look(me, tid, third);
        if (thread_s() < before)
            complain(me, "time");
        before = thread_s();
        if (me == 2 && i == ROUNDS / 2 && more_wanted)
            have_child(me);
        if (me == 3 && i == ROUNDS / 2 && more_wanted) {
            signal(SIGUSR1, on_signal);
            raise(SIGUSR1);
            pthread_kill(pthread_self(), SIGUSR1);
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];

    (void)words;
    more_wanted = count > 1;
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work((void *)0);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (handled != 2 * more_wanted)
        complain(0, "handler");
    if (wrong == 0)
        printf("own\n");
    return wrong != 0;
}
