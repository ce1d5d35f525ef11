/* A bank: an account fills a line of 64 bytes, each thread has a band of them. Main, alone, opens
 * the accounts and adds them up by branch. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ACCOUNTS = 400, MOVES = 8000 };

struct account {
    long balance;
    int moves, branch;
} __attribute__((aligned(64)));

static struct account accounts[ACCOUNTS];

static void *work(void *number)
{
    const unsigned thread = (unsigned)(size_t)number, band = ACCOUNTS / THREADS;
    unsigned x = thread;

    for (int i = 0; i < MOVES; i++) {
        x = x * 1103515245u + 12345u;
        volatile struct account *account =
            &accounts[(x >> 16) % band + thread * band];
        account->balance += x >> 28;
        account->moves++;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sum = 0;

    for (int i = 0; i < ACCOUNTS; i++) {
        accounts[i].balance = 100;
        accounts[i].branch = i % 7;
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        sum += accounts[i].balance * accounts[i].branch;
    printf("%ld\n", sum);
    return 0;
}
