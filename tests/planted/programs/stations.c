/* Main sets up small records for all threads, several times over; then they are only read. */
#include <pthread.h>
#include <stdio.h>

#define STATIONS 8
#define READINGS 6000

struct station {
    float offset;
    float scale;
};

static struct station station[STATIONS];
static float smoothed[STATIONS];
static int raw[256];

static void calibrate(void)
{
    for (int round = 0; round < 200; round++)
        for (int s = 0; s < STATIONS; s++) {
            station[s].offset += 0.125f * (float)(s - round % 4);
            station[s].scale = 1.0f / (float)(round + 1);
        }
}

static void *measure(void *arg)
{
    long s = (long)arg;
    float level = 0;
    for (int i = 0; i < READINGS; i++) {
        const volatile struct station *mine = &station[s];
        float value = ((float)raw[i % 256] - mine->offset) * mine->scale;
        level += 0.01f * (value - level);
    }
    smoothed[s] = level;
    return NULL;
}

int main(void)
{
    pthread_t t[STATIONS];
    float sum = 0;
    for (int i = 0; i < 256; i++)
        raw[i] = 100 + i % 16;
    calibrate();
    for (long s = 0; s < STATIONS; s++)
        pthread_create(&t[s], NULL, measure, (void *)s);
    for (int s = 0; s < STATIONS; s++) {
        pthread_join(t[s], NULL);
        sum += smoothed[s];
    }
    printf("%.3f\n", (double)sum);
    return !(sum > -10.0f && sum < 10.0f);
}
