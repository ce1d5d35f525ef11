/* A thread made by clone(), which the C library and the recorder's runtime do not know: it writes
 * a table, and main waits for it. With an argument, an ordinary thread does the same. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS = 1000 };

static int table[WORDS];
static int done;
static char stack[1 << 16] __attribute__((aligned(64)));

static void *fill(void *unused)
{
    for (int i = 0; i < WORDS; i++)
        table[i] = i;
    return unused;
}

static int run(void *word)
{
    fill(NULL);
    __atomic_store_n((int *)word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
    syscall(SYS_exit, 0);
    return 0;
}

int main(int count, char **words)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM;
    pthread_t thread;
    long sum = 0;

    (void)words;
    if (count > 1) {
        pthread_create(&thread, NULL, fill, NULL);
        pthread_join(thread, NULL);
    } else {
        if (clone(run, stack + sizeof stack, flags, &done) < 0)
            return 1;
        while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0)
            usleep(1000);
    }
    for (int i = 0; i < WORDS; i++)
        sum += table[i];
    printf("%ld\n", sum);
    return 0;
}
