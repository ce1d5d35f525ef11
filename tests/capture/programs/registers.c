/* Threads with values in registers of every kind, which turns of other threads must not change. */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 2000 };

static volatile int table[64];
static double results[8];
static const float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};

static int step(int i)
{
    return table[i % 64]++ >= 0;
}

static void *x87(void *number)
{
    const long own = (const float *)number - numbers;
    double sum;

    __asm__ volatile("fldz; fldpi; flds %0" : : "m"(numbers[own]));
    for (int i = 0; i < STEPS; i++)
        if (step(i))
            __asm__ volatile("fadd %st(1), %st; fadd %st, %st(2)");
    __asm__ volatile("fstp %%st(0); fstp %%st(0); fstpl %0" : "=m"(sum));
    results[own] = sum;
    return NULL;
}

static void *mmx(void *number)
{
    const long own = (const float *)number - numbers;
    long long value = own;

    __asm__ volatile("movq %0, %%mm3; movq %0, %%mm5" : : "m"(value));
    for (int i = 0; i < STEPS; i++)
        if (step(i))
            __asm__ volatile("paddd %mm3, %mm5");
    __asm__ volatile("movq %%mm5, %0; emms" : "=m"(value));
    results[own] = (double)value;
    return NULL;
}

static void *rounding(void *number)
{
    const long own = (const float *)number - numbers;
    double sum = 0;

    fesetround(own % 2 != 0 ? FE_UPWARD : FE_DOWNWARD);
    for (int i = 0; i < STEPS; i++) {
        volatile double third = 3;

        sum += step(i) / third;
    }
    results[own] = sum;
    return NULL;
}

static void *vectors(void *number)
{
    const long own = (const float *)number - numbers;
    float ones[16], sums[16] = {0};
    double sum;
    int mask = 0;

    for (int i = 0; i < 16; i++)
        ones[i] = numbers[own];
    if (__builtin_cpu_supports("avx512bw")) {
        __asm__ volatile("vmovups %0, %%zmm21; vpxorq %%zmm30, %%zmm30, %%zmm30; kmovw %1, %%k5"
                         : : "m"(ones), "r"((int)own << 4 | 1));
        for (int i = 0; i < STEPS; i++)
            if (step(i))
                __asm__ volatile("vaddps %zmm21, %zmm30, %zmm30{%k5}");
        __asm__ volatile("vmovups %%zmm30, %0; kmovw %%k5, %1" : "=m"(sums), "=r"(mask));
    } else if (__builtin_cpu_supports("avx")) {
        __asm__ volatile("vmovups %0, %%ymm9; vxorps %%ymm14, %%ymm14, %%ymm14" : : "m"(ones));
        for (int i = 0; i < STEPS; i++)
            if (step(i))
                __asm__ volatile("vaddps %ymm9, %ymm14, %ymm14");
        __asm__ volatile("vmovups %%ymm14, %0" : "=m"(sums));
    }
    sum = mask;
    for (int i = 0; i < 16; i++)
        sum += sums[i] * (i + 1);
    results[own] = sum;
    return NULL;
}

/* With the argument "vectors" no thread uses x87 registers, which MMX shares. */
int main(int argc, char **argv)
{
    void *(*const bodies[])(void *) = {x87, x87, mmx, mmx, rounding, rounding, vectors, vectors};
    const int first = argc > 1 && strcmp(argv[1], "vectors") == 0 ? 4 : 0;
    pthread_t threads[8];

    for (int i = first; i < 8; i++)
        pthread_create(&threads[i], NULL, bodies[i], (void *)&numbers[i]);
    for (int i = first; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++)
        printf("%a\n", results[i]);
    return 0;
}
