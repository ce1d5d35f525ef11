/* Signals to threads that take turns: faults that a handler repairs, a timer's for the main thread
 * only, and those that threads send one another.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 60, STEPS = 500, PAGE = 4096 };

static pthread_t threads[THREADS], main_thread;
static pthread_barrier_t together;
static const char *how = "faults";
static char *pages;
static long data[THREADS + 1][STEPS];
static volatile long faults[THREADS + 1], told[THREADS + 1], ticks;
static volatile int wrong;
static __thread long number = THREADS;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char *page = pages + number * PAGE;

    (void)signal, (void)context;
    if ((char *)info->si_addr < page || (char *)info->si_addr >= page + PAGE)
        _exit(3);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    faults[number]++;
}

static void on_tick(int signal)
{
    (void)signal;
    wrong |= !pthread_equal(pthread_self(), main_thread);
    ticks++;
}

static void on_told(int signal)
{
    (void)signal;
    told[number]++;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, NULL);
}

static void turns(void)
{
    for (int i = 0; i < STEPS; i++)
        data[number][i] += i;
}

static void *work(void *argument)
{
    number = (long)argument;
    pthread_barrier_wait(&together);
    for (int round = 0; round < ROUNDS; round++) {
        turns();
        if (strcmp(how, "faults") == 0) {
            mprotect(pages + number * PAGE, PAGE, PROT_NONE);
            pages[number * PAGE + round]++;
        } else if (strcmp(how, "threads") == 0) {
            pthread_kill(threads[(number + 1) % THREADS], SIGUSR1);
        }
    }
    pthread_barrier_wait(&together);
    return NULL;
}

int main(int argc, char **argv)
{
    const struct itimerval often = {{0, 3000}, {0, 3000}};
    struct sigaction action;
    sigset_t alarm;
    long sum = 0;

    if (argc > 1)
        how = argv[1];
    main_thread = pthread_self();
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    if (strcmp(how, "faults") == 0)
        sigaction(SIGSEGV, &action, NULL);
    handle(SIGALRM, on_tick);
    handle(SIGUSR1, on_told);
    pages = mmap(NULL, THREADS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_barrier_init(&together, NULL, THREADS + 1);
    if (strcmp(how, "timer") == 0)
        setitimer(ITIMER_REAL, &often, NULL);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    pthread_barrier_wait(&together);
    while (strcmp(how, "timer") == 0 && ticks < 5)
        turns();
    pthread_barrier_wait(&together);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += faults[i] + (told[i] > 0 ? ROUNDS : 0);
    }
    printf("%s: %ld, %s\n", how, sum, wrong ? "in the wrong thread" : "in the right threads");
    return 0;
}
