/* Tasks of OpenMP whose results another thread reads, and ordered sections. */
#include <omp.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 6, TASKS = 8, LENGTH = 16 };

static long made[TASKS][LENGTH], sums[TASKS], chain, total;

static void fill(int task, int round)
{
    for (int i = 0; i < LENGTH; i++)
        made[task][i] = task + round + i;
}

static long sum_of(int task)
{
    long sum = 0;

    for (int i = 0; i < LENGTH; i++)
        sum += made[task][i];
    return sum;
}

static void waited(int round)
{
    for (int task = 0; task < TASKS; task++) {
#pragma omp task firstprivate(task)
        fill(task, round);
    }
#pragma omp taskwait
    for (int task = 0; task < TASKS; task++)
        total += sum_of(task);
}

static void grouped(int round)
{
#pragma omp taskgroup
    for (int task = 0; task < TASKS; task++) {
#pragma omp task firstprivate(task)
        {
#pragma omp task firstprivate(task)
            fill(task, round);
#pragma omp taskyield
        }
    }
    for (int task = 0; task < TASKS; task++)
        total += sum_of(task);
}

static void depending(int round)
{
    for (int task = 0; task < TASKS; task++) {
#pragma omp task depend(out: made[task]) firstprivate(task)
        fill(task, round);
#pragma omp task depend(in: made[task]) depend(out: sums[task]) firstprivate(task)
        sums[task] = sum_of(task);
    }
#pragma omp taskwait
    for (int task = 0; task < TASKS; task++)
        total += sums[task];
}

static void looped(void)
{
#pragma omp taskloop grainsize(2)
    for (int task = 0; task < TASKS; task++)
        sums[task] = sum_of(task);
    for (int task = 0; task < TASKS; task++)
        total += sums[task];
}

int main(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        for (int round = 0; round < ROUNDS; round++) {
            waited(round);
            grouped(round);
            depending(round);
            looped();
        }
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < THREADS * ROUNDS; i++) {
#pragma omp ordered
            chain = chain * 3 % 1000 + i;
        }
    }
    printf("%ld %ld\n", total, chain);
    return 0;
}
