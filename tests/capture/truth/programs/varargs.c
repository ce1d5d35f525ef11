// kind: variables on the stack
// expect: values written=0 read=40
// expect: total written=8 read=0
// compile: gcc clang; O0 O2
// why: five longs are loaded to be passed, and their sum is stored once.
#include "truth.h"
#include <stdarg.h>

long values[5], total;

NOINLINE long sum(int n, ...)
{
    long result = 0;
    va_list all;

    va_start(all, n);
    while (n--)
        result += va_arg(all, long);
    va_end(all);
    return result;
}

NOINLINE void add(const long *v, long *to)
{
    *to = sum(5, v[0], v[1], v[2], v[3], v[4]);
}

int main(void)
{
    add(values, &total);
    return 0;
}
