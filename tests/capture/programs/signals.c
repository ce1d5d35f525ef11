/* Signal handlers that run at any moment: in the scheduler, in a hook, in a thread that waits. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 4 };

static volatile long ticks;
static long data[THREADS][1000];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static sigjmp_buf back;

static void on_tick(int number)
{
    (void)number;
    ticks++;
    data[0][0]++;
}

static void on_usr1(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    sem_post(&sem);
}

static void on_usr2(int number)
{
    (void)number;
    siglongjmp(back, 7);
}

static void *work(void *argument)
{
    const long me = (long)argument;

    for (int r = 0; r < 150; r++) {
        for (int i = 0; i < 1000; i++)
            data[me][i] += r;
        pthread_mutex_lock(&mutex);
        data[1][1]++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *sleeper(void *argument)
{
    (void)argument;
    while (sem_wait(&sem) != 0 && errno == EINTR) {
    }
    return NULL;
}

int main(void)
{
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct sigaction post = {.sa_sigaction = on_usr1, .sa_flags = SA_SIGINFO};
    struct sigaction old;
    struct itimerval interval = {{0, 400}, {0, 400}};
    pthread_t threads[THREADS], waits;

    sigaction(SIGPROF, &tick, NULL);
    sigaction(SIGPROF, NULL, &old);
    printf("handler %d\n", old.sa_handler == on_tick);
    setitimer(ITIMER_PROF, &interval, NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (ticks < 3)
        data[2][2]++;
    memset(&interval, 0, sizeof interval);
    setitimer(ITIMER_PROF, &interval, NULL);
    printf("count %ld\n", data[1][1] > 0 ? data[3][7] : 0);

    /* Only the handler that interrupts the thread can wake it. */
    sem_init(&sem, 0, 0);
    sigaction(SIGUSR1, &post, NULL);
    pthread_create(&waits, NULL, sleeper, NULL);
    sched_yield();
    pthread_kill(waits, SIGUSR1);
    pthread_join(waits, NULL);
    printf("woken\n");

    signal(SIGUSR2, on_usr2);
    if (sigsetjmp(back, 1) == 0)
        raise(SIGUSR2);
    else
        printf("jumped\n");
    return 0;
}
