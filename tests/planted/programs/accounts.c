/* A bank: tellers book under the account's lock, the auditors read interest rates without. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TELLERS 4
#define AUDITORS 4
#define ACCOUNTS 4
#define BOOKINGS 3000
#define ROUNDS 4000

struct account {
    pthread_mutex_t lock;
#ifdef FIXED
    char apart[64 - sizeof(pthread_mutex_t)];
#endif
    int number; /* never changes after opening */
    int rate;
    long ceiling;
#ifdef FIXED
    char behind[64 - 16];
#endif
};

static struct account *bank;
static long balance[ACCOUNTS][8] __attribute__((aligned(64)));
static long audited[AUDITORS];

static void *teller(void *arg)
{
    size_t me = (size_t)arg;
    for (int i = 0; i < BOOKINGS; i++) {
        size_t n = (me + (size_t)i / 500) % ACCOUNTS;
        pthread_mutex_lock(&bank[n].lock);
        balance[n][0] += i % 7 - 3;
        pthread_mutex_unlock(&bank[n].lock);
    }
    return NULL;
}

static void *auditor(void *arg)
{
    size_t me = (size_t)arg;
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        for (int n = 0; n < ACCOUNTS; n++)
            sum += bank[n].rate * bank[n].number + bank[n].ceiling;
    audited[me] = sum;
    return NULL;
}

int main(void)
{
    pthread_t t[TELLERS + AUDITORS];
    long sum = 0, expected = 0;

    bank = aligned_alloc(64, ACCOUNTS * 128); /* mark: bank */
    if (!bank)
        exit(2);
    for (int n = 0; n < ACCOUNTS; n++) {
        pthread_mutex_init(&bank[n].lock, NULL);
        bank[n].number = n;
        bank[n].rate = 3 + n;
        bank[n].ceiling = 100;
    }
    for (size_t i = 0; i < TELLERS; i++)
        pthread_create(&t[i], NULL, teller, (void *)i);
    for (size_t i = 0; i < AUDITORS; i++)
        pthread_create(&t[TELLERS + i], NULL, auditor, (void *)i);
    for (int i = 0; i < TELLERS + AUDITORS; i++)
        pthread_join(t[i], NULL);
    for (int n = 0; n < ACCOUNTS; n++) {
        sum += balance[n][0];
        expected += ((3 + n) * n + 100) * (long)ROUNDS;
    }
    for (int i = 0; i < BOOKINGS; i++)
        sum -= TELLERS * (i % 7 - 3);
    printf("difference %ld, audited %ld\n", sum, audited[0]);
    return sum != 0 || audited[0] != expected || audited[AUDITORS - 1] != expected;
}
