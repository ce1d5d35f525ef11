/* Calls every function of C11 for locks, and two that POSIX defines by another. */
#include <homenode.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static int is_done;

static void nothing(void) {}

int other(void *argument)
{
    mtx_lock(&lock);
    is_done = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
    static sem_t semaphore;
    const struct timespec never = {1u << 31, 0}, past = {0, 0};
    thrd_t thread;

    mtx_init(&lock, mtx_timed);
    sem_init(&semaphore, 0, 1);
    call_once(&flag, nothing);
    mtx_trylock(&lock);
    mtx_unlock(&lock);
    mtx_timedlock(&lock, &never);
    thrd_create(&thread, other, NULL);
    while (!is_done)
        cnd_wait(&changed, &lock);
    cnd_timedwait(&changed, &lock, &past);
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    thrd_join(thread, NULL);
    pthread_mutex_timedlock(&timed, &never);
    sem_timedwait(&semaphore, &never);
    puts("served");
    return 0;
}
