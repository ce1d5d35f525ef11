/* Four threads with locks and barriers and far more references than any buffer holds. Writes to
 * the file named by the first argument when it starts and when it is done. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 200 };

static long data[THREADS][1024];
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *work(void *argument)
{
    const long me = (long)argument;

    for (int r = 0; r < ROUNDS; r++) {
        for (int k = 0; k < 10; k++)
            for (int i = 0; i < 1024; i++)
                data[me][i] += data[(me + 1) % THREADS][i] + k;
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void say(const char *path, const char *word)
{
    FILE *file = fopen(path, "a");

    fputs(word, file);
    fclose(file);
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];

    say(words[count - 1], "started\n");
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    say(words[count - 1], total == THREADS * ROUNDS ? "done\n" : "wrong\n");
    return 0;
}
