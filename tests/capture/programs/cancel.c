/* Threads are cancelled in every kind of wait; their cleanup handlers run. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int fds[2];
static long cleaned, counted;
static volatile long loops;

static void clean(void *argument)
{
    cleaned += (long)argument;
}

static void unlock(void *argument)
{
    pthread_mutex_unlock(argument);
    cleaned += 100;
}

static void *in_condition(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(0);
    return argument;
}

static void *in_semaphore(void *argument)
{
    pthread_cleanup_push(clean, (void *)1);
    sem_wait(&sem);
    pthread_cleanup_pop(0);
    return argument;
}

static void *in_read(void *argument)
{
    char byte;

    pthread_cleanup_push(clean, (void *)1);
    read(fds[0], &byte, 1);
    pthread_cleanup_pop(0);
    return argument;
}

static void *in_sleep(void *argument)
{
    pthread_cleanup_push(clean, (void *)1);
    sleep(1000);
    pthread_cleanup_pop(0);
    return argument;
}

static void *in_join(void *argument)
{
    pthread_t *other = argument;

    pthread_cleanup_push(clean, (void *)1);
    pthread_join(*other, NULL);
    pthread_cleanup_pop(0);
    return argument;
}

static void *in_loop(void *argument)
{
    pthread_cleanup_push(clean, (void *)1);
    for (;;) {
        counted++;
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return argument;
}

static void *at_once(void *argument)
{
    int old;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;)
        loops++;
    return argument;
}

static int cancel(void *(*body)(void *), void *argument)
{
    void *result = NULL;
    pthread_t thread;

    pthread_create(&thread, NULL, body, argument);
    usleep(2000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED;
}

int main(void)
{
    pthread_t sleeper;

    sem_init(&sem, 0, 0);
    pipe(fds);
    printf("condition %d\n", cancel(in_condition, NULL));
    printf("semaphore %d\n", cancel(in_semaphore, NULL));
    printf("read %d\n", cancel(in_read, NULL));
    printf("sleep %d\n", cancel(in_sleep, NULL));
    printf("loop %d\n", cancel(in_loop, NULL));
    printf("asynchronous %d\n", cancel(at_once, NULL));
    pthread_create(&sleeper, NULL, in_semaphore, NULL);
    printf("join %d\n", cancel(in_join, &sleeper));
    sem_post(&sem);
    pthread_join(sleeper, NULL);
    printf("cleaned %ld\n", cleaned);
    return counted == 0;
}
