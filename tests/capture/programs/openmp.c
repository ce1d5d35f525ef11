/* OpenMP: loops of every schedule, sections, single, critical, locks, tasks, nesting. */
#include <omp.h>
#include <stdio.h>

enum { N = 2000 };

static double a[N], b[N];

static long fibonacci(int n)
{
    long x, y;

    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fibonacci(n - 1);
#pragma omp task shared(y)
    y = fibonacci(n - 2);
#pragma omp taskwait
    return x + y;
}

static double loops(void)
{
    double sum = 0;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel for schedule(dynamic, 17) reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += a[i];
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * 2;
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < N; i++)
        b[i] += 1;
    return sum + b[N - 1];
}

static int region(omp_lock_t *lock)
{
    /* One for each way of excluding: they do not exclude each other. */
    int unnamed = 0, named = 0, locked = 0, atomic = 0, copied;

#pragma omp parallel private(copied)
    {
#pragma omp single copyprivate(copied)
        copied = 42;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 100; i++)
            a[i] += copied;
#pragma omp critical
        unnamed++;
#pragma omp critical(named)
        named++;
        omp_set_lock(lock);
        locked++;
        omp_unset_lock(lock);
#pragma omp atomic
        atomic++;
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
            a[0] = 1;
#pragma omp section
            a[1] = 2;
        }
    }
    return unnamed + named + locked + atomic;
}

static long tasks(void)
{
    long result = 0, inner = 0;

#pragma omp parallel
#pragma omp single
    {
        result = fibonacci(11);
#pragma omp taskgroup
        {
#pragma omp taskloop grainsize(10)
            for (int i = 0; i < 100; i++)
                a[i] += 1;
        }
#pragma omp task depend(out : inner)
        inner = 5;
#pragma omp task depend(in : inner)
        result += inner;
    }
    return result;
}

int main(void)
{
    omp_lock_t lock;
    int nested = 0;

    omp_init_lock(&lock);
    printf("%g %d %ld\n", loops(), region(&lock), tasks());
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : nested)
    {
#pragma omp parallel num_threads(2) reduction(+ : nested)
        nested += omp_get_thread_num() + 1;
    }
    printf("%d %g\n", nested, a[50]);
    return 0;
}
