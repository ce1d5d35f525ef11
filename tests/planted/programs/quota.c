/* Requests are checked against limits that never change; one thread logs, under a lock. */
#include <pthread.h>
#include <stdio.h>

#define CHECKERS 7
#define REQUESTS 8000
#define LINES 9000

static struct service {
    int limit[4];
#ifdef FIXED
    pthread_mutex_t log_lock __attribute__((aligned(64)));
#else
    pthread_mutex_t log_lock;
#endif
} service __attribute__((aligned(64))) = { /* mark: service */
    {90, 95, 93, 91},
    PTHREAD_MUTEX_INITIALIZER,
};

static struct {
    unsigned lines;
    unsigned octets;
    unsigned unused[14];
} log_book __attribute__((aligned(64)));

static void *write_log(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < LINES; i++) {
        pthread_mutex_lock(&service.log_lock);
        log_book.lines++;
        log_book.octets += 20 + i % 60;
        pthread_mutex_unlock(&service.log_lock);
    }
    return NULL;
}

static void *check(void *arg)
{
    unsigned x = (unsigned)(size_t)arg + 1;
    size_t refused = 0;
    for (int i = 0; i < REQUESTS; i++) {
        x = x * 1664525u + 1013904223u;
        for (int resource = 0; resource < 4; resource++)
            refused += (int)((x >> (7 * resource)) % 100) > service.limit[resource];
    }
    return (void *)refused;
}

int main(void)
{
    pthread_t checker[CHECKERS], logger;
    unsigned refused = 0;

    pthread_create(&logger, NULL, write_log, NULL);
    for (size_t i = 0; i < CHECKERS; i++)
        pthread_create(&checker[i], NULL, check, (void *)i);
    for (int i = 0; i < CHECKERS; i++) {
        void *n;
        pthread_join(checker[i], &n);
        refused += (unsigned)(size_t)n;
    }
    pthread_join(logger, NULL);
    pthread_mutex_lock(&service.log_lock);
    printf("%u refused, %u lines\n", refused, log_book.lines);
    pthread_mutex_unlock(&service.log_lock);
    return log_book.lines != LINES || refused < CHECKERS * REQUESTS / 5;
}
