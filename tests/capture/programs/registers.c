/* Threads with values in registers of one kind, which turns of other threads must not change.
 *
 * KIND_... says which: code for others is not compiled, so that the file does not use them. With
 * LIBRARY it is a library, which USER loads.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, STEPS = 500 };

static volatile int table[64];
static volatile long results[THREADS];
static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};

__attribute__((noinline)) static int step(int i)
{
    return table[i % 64]++ >= 0;
}

#define REPEATED(count, what)           \
    for (int i = 0; i < (count); i++)   \
        if (step(i))                    \
            what

#if defined(KIND_LOW)
#define LIVE "xmm0", "xmm7"
#elif defined(KIND_HIGH)
#define LIVE "xmm8", "xmm15"
#endif

#if defined(LIVE)
#define PAIR(one, other)                                                                   \
    __asm__ volatile("movd %0, %%" one "; pxor %%" other ", %%" other : : "r"((int)own)); \
    REPEATED(STEPS, __asm__ volatile("paddd %" one ", %" other));                          \
    __asm__ volatile("movd %%" other ", %0" : "=r"(sum));
#define WITH(...) PAIR(__VA_ARGS__)

static long body(long own)
{
    int sum;

    WITH(LIVE)
    return sum;
}

#elif defined(KIND_YMM) || defined(KIND_ZMM)
static long body(long own)
{
    float all[16] = {0};
    double sum = 0;
    int mask = 0;

#ifdef KIND_ZMM
    if (__builtin_cpu_supports("avx512bw")) {
        __asm__ volatile("vmovups %0, %%zmm21; vpxorq %%zmm30, %%zmm30, %%zmm30; kmovq %1, %%k5"
                         : : "m"(numbers[own]), "r"(own << 4 | 1 | 1L << (32 + own)));
        REPEATED(STEPS, __asm__ volatile("vaddps %zmm21, %zmm30, %zmm30{%k5}"));
        __asm__ volatile("kshiftrq $32, %%k5, %%k6; vmovups %%zmm30, %0; kmovq %%k6, %q1"
                         : "=m"(all), "=r"(mask));
    }
#else
    if (__builtin_cpu_supports("avx")) {
        __asm__ volatile("vmovups %0, %%ymm9; vxorps %%ymm14, %%ymm14, %%ymm14"
                         : : "m"(numbers[own]));
        REPEATED(STEPS, __asm__ volatile("vaddps %ymm9, %ymm14, %ymm14"));
        __asm__ volatile("vmovups %%ymm14, %0; vzeroupper" : "=m"(all));
    }
#endif
    for (int i = 0; i < 16; i++)
        sum += all[i] * (i + 1);
    return (long)sum + mask;
}

#elif defined(KIND_X87)
/* Others wait for a lock with empty registers, and then use all. */
static long locking(long own)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int sum = 0, eighth;

    REPEATED(STEPS / 10, {
        pthread_mutex_lock(&lock);
        step(i);
        pthread_mutex_unlock(&lock);
        __asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1; faddp; faddp; faddp;"
                         "faddp; faddp; faddp; faddp; fistpl %0" : "=m"(eighth));
        sum += eighth;
    })
    return sum;
}

static long body(long own)
{
    long sum;

    if (own % 2 != 0)
        return locking(own);
    __asm__ volatile("fldz; fld1; flds %0" : : "m"(numbers[own]));
    REPEATED(STEPS, __asm__ volatile("fadd %st(1), %st; fadd %st, %st(2)"));
    __asm__ volatile("fstp %%st(0); fstp %%st(0); fistpq %0" : "=m"(sum));
    return sum;
}

#elif defined(KIND_MMX)
static long body(long own)
{
    long sum;

    __asm__ volatile("movq %0, %%mm3; movq %0, %%mm5" : : "m"(own));
    REPEATED(STEPS, __asm__ volatile("paddd %mm3, %mm5"));
    __asm__ volatile("movq %%mm5, %0; emms" : "=m"(sum));
    return sum;
}

#elif defined(KIND_DIRECTION)
/* Turns end while the direction is reversed. */
static long body(long own)
{
    static const char text[] = "0123456789";
    long sum = 0;

    REPEATED(STEPS, {
        const char *at = text + own + 5;
        long value;

        __asm__ volatile("xorl %%eax, %%eax; std; lodsb; lodsb; lodsb; cld"
                         : "+S"(at), "=&a"(value) : : "memory", "cc");
        sum += value + (text + own + 5 - at);
    })
    return sum;
}

#elif defined(KIND_MODES)
static long body(long own)
{
    static const int modes[THREADS] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    static const int exceptions[THREADS] = {0, FE_OVERFLOW, FE_UNDERFLOW, FE_DIVBYZERO};
    int sum = 0;

    feclearexcept(FE_ALL_EXCEPT);
    fesetround(modes[own]);
    feraiseexcept(exceptions[own]);
    if (exceptions[own] == 0)
        feenableexcept(FE_OVERFLOW | FE_UNDERFLOW | FE_DIVBYZERO);
    REPEATED(STEPS, sum += fegetround() == modes[own];)
    return sum * 100 + fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT);
}
#endif

#ifndef USER
static void *run(void *result)
{
    volatile long *own = result;

    *own = body(own - results);
    return NULL;
}

int run_all(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)&results[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        printf("%ld\n", results[i]);
    return 0;
}
#endif

#ifndef LIBRARY
int main(int argc, char **argv)
{
#ifdef USER
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*const run_all)(void) = library != NULL ? dlsym(library, "run_all") : NULL;

    return run_all != NULL ? run_all() : 1;
#else
    return run_all();
#endif
}
#endif
