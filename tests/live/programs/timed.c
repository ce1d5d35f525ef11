/* Waits with time-outs, sleeps and clocks: all of simulated time. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, soon = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int ready;

static long now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static struct timespec after_us(long us)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Whether it took the given time, and little more. */
static const char *took(long since_us, long us)
{
    long passed = now_us() - since_us;

    return passed >= us && passed < us + us / 4 + 20 ? "right" : "wrong";
}

static void *signals(void *unused)
{
    (void)unused;
    usleep(300);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&soon);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&held);
    usleep(500);
    pthread_mutex_unlock(&held);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct timespec until;
    struct timeval day;
    long since = now_us();
    int result;

    sem_init(&empty, 0, 0);
    usleep(400);
    printf("sleep %s\n", took(since, 400));
    since = now_us();
    until = after_us(250);
    pthread_mutex_lock(&lock);
    result = pthread_cond_timedwait(&never, &lock, &until);
    printf("condition %d %s\n", result == ETIMEDOUT, took(since, 250));
    since = now_us();
    until = after_us(150);
    printf("semaphore %d", sem_timedwait(&empty, &until) == -1 && errno == ETIMEDOUT);
    printf(" %s\n", took(since, 150));
    since = now_us();
    pthread_create(&thread, NULL, signals, NULL);
    until = after_us(100000);
    while (!ready)
        result = pthread_cond_timedwait(&soon, &lock, &until);
    printf("signalled %d %s\n", result, took(since, 300));
    pthread_mutex_unlock(&lock);
    usleep(100);
    since = now_us();
    until = after_us(100);
    printf("lock %d", pthread_mutex_timedlock(&held, &until) == ETIMEDOUT);
    printf(" %s\n", took(since, 100));
    pthread_join(thread, NULL);
    gettimeofday(&day, NULL);
    since = day.tv_sec * 1000000L + day.tv_usec;
    while (now_us() - since < 50)
        ;
    printf("polling %s\n", took(since, 50));
    return 0;
}
