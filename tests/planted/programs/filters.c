/* A digital filter for each channel; a channel's state is a row of five doubles. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define CHANNELS 8
#define TAPS 5
#define SAMPLES 2500

#ifdef FIXED
#define ROW 8
#else
#define ROW TAPS
#endif

static double delay[CHANNELS][ROW] __attribute__((aligned(64))); /* mark: delay */
static double output[CHANNELS];

static double filter(double *d, double x)
{
    static const double weight[TAPS] = {0.1, 0.2, 0.4, 0.2, 0.1};
    double y = 0;
    for (int i = TAPS - 1; i > 0; i--)
        d[i] = d[i - 1];
    d[0] = x;
    for (int i = 0; i < TAPS; i++)
        y += weight[i] * d[i];
    return y;
}

static void *run_channel(void *arg)
{
    long c = (long)arg;
    double power = 0;
    for (int s = 0; s < SAMPLES; s++) {
        double y = filter(delay[c], s % (c + 2) == 0 ? 1.0 : 0.0);
        power += y;
    }
    output[c] = power;
    return NULL;
}

int main(void)
{
    pthread_t t[CHANNELS];
    double total = 0, expected = 0;
    for (long c = 0; c < CHANNELS; c++)
        pthread_create(&t[c], NULL, run_channel, (void *)c);
    for (long c = 0; c < CHANNELS; c++) {
        pthread_join(t[c], NULL);
        total += output[c];
        expected += SAMPLES / (double)(c + 2);
    }
    printf("%.3f\n", total);
    return fabs(total - expected) > CHANNELS;
}
