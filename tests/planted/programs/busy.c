/* Each worker has a flag that says whether it is busy; a watchdog adds up the flags at the end. */
#include <pthread.h>
#include <stdio.h>

#define CREW 8
#define TASKS 2500

#ifdef FIXED
#define SPACING 64
#else
#define SPACING 1
#endif

static volatile unsigned char busy[CREW * SPACING] /* mark: busy */
    __attribute__((aligned(64)));
static struct { int task[14]; long product; } desk[CREW] __attribute__((aligned(64)));

static void *labour(void *arg)
{
    size_t me = (size_t)arg;
    long product = 1;
    for (int n = 0; n < TASKS; n++) {
        busy[me * SPACING] = 1;
        for (int i = 0; i < 6; i++) {
            desk[me].task[i] += n + i;
            product = (product * 31 + desk[me].task[i]) % 1000003;
        }
        busy[me * SPACING] = 0;
    }
    desk[me].product = product;
    return NULL;
}

int main(void)
{
    pthread_t t[CREW];
    int still = 0;
    for (size_t i = 0; i < CREW; i++)
        pthread_create(&t[i], NULL, labour, (void *)i);
    for (int i = 0; i < CREW; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < CREW; i++)
        still += busy[i * SPACING];
    printf("%d busy, product %ld\n", still, desk[0].product);
    return still != 0 || desk[0].product != desk[CREW - 1].product;
}
