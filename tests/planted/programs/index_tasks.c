/* Threads take rows of an image one by one from an atomic index, which is rarely used. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define ROWS 192
#define COLUMNS 128

static _Alignas(64) unsigned char image[ROWS][COLUMNS];
static _Alignas(64) atomic_int next_row;
static _Alignas(64) int palette[64], noise[64];

static int escape(int x, int y)
{
    int zr = 0, zi = 0, n = 0;
    while (n < 63 && zr * zr + zi * zi < 4 * 256 * 256) {
        int t = (zr * zr - zi * zi) / 256 + x;
        zi = 2 * zr * zi / 256 + y;
        zr = t + noise[n];
        n++;
    }
    return n;
}

static void *draw(void *arg)
{
    int row;
    (void)arg;
    while ((row = atomic_fetch_add(&next_row, 1)) < ROWS)
        for (int column = 0; column < COLUMNS; column++)
            image[row][column] =
                (unsigned char)palette[escape(column * 6 - 512, row * 3 - 256)];
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    long sum = 0;
    for (int i = 0; i < 64; i++)
        palette[i] = i * 3, noise[i] = i % 3;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, draw, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            sum += image[r][c];
    printf("%ld\n", sum);
    return sum <= 0;
}
