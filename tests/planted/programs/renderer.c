/* Settings of a renderer, and in the same structure how many pixels each thread has shaded. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define WIDTH 320
#define HEIGHT 200

struct settings {
    float exposure, gamma, contrast;
    int depth;
    struct usage {
        unsigned shaded;
        unsigned skipped;
    } usage[THREADS];
};

static struct settings settings /* mark: settings */
    __attribute__((aligned(64))) = {1.5f, 2.2f, 0.9f, 3, {{0, 0}}};
static unsigned char image[HEIGHT][WIDTH] __attribute__((aligned(64)));
#ifdef FIXED
static struct { struct usage u __attribute__((aligned(64))); } usage[THREADS];
#define USAGE(t) usage[t].u
#else
#define USAGE(t) settings.usage[t]
#endif

static int shade(int x, int y)
{
    float v = (float)((x * 7 + y * 13) % 256) / 256.0f;
    v = v * settings.exposure + settings.contrast;
    for (int i = 0; i < settings.depth; i++)
        v = v * 0.5f + settings.gamma * 0.1f;
    return (int)(v * 100.0f);
}

static void *render(void *arg)
{
    int self = (int)(size_t)arg;
    for (int y = self * HEIGHT / THREADS; y < (self + 1) * HEIGHT / THREADS; y++)
        for (int x = 0; x < WIDTH; x++) {
            if ((x ^ y) % 8 == 0) {
                USAGE(self).skipped++;
                continue;
            }
            image[y][x] = (unsigned char)shade(x, y);
            USAGE(self).shaded++;
        }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    unsigned shaded = 0, skipped = 0;
    unsigned long light = 0;

    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, render, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        shaded += USAGE(i).shaded;
        skipped += USAGE(i).skipped;
    }
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            light += image[y][x];
    printf("%u shaded, %u skipped, %lu\n", shaded, skipped, light);
    return shaded + skipped != WIDTH * HEIGHT || light == 0;
}
