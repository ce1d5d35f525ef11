/* Repeated string instructions and a wide atomic operation, between marks. */
#include <stdint.h>
#include <string.h>
#define LINE __attribute__((aligned(64)))

LINE char from[4096];
LINE char to[4096];
LINE char down[256];
LINE uint64_t q[64];
_Alignas(16) uint64_t wide[2];
volatile int mark;

int main(void)
{
    const void *s = from + 10;
    void *d = to + 3;
    long n = 200;
    uint64_t low = 0, high = 0;

    mark = 1;
    __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    mark = 2;
    d = q + 1;
    n = 20;
    __asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(5L) : "memory");
    mark = 3;
    s = from + 150;
    d = down + 150;
    n = 100;
    __asm__ volatile("std; rep movsb; cld" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    mark = 4;
    n = 0;
    d = to;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(5L) : "memory");
    mark = 5;
    n = 1;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(5L) : "memory");
    mark = 6;
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(wide), "+a"(low), "+d"(high)
                     : "b"(1L), "c"(2L)
                     : "memory", "cc");
    mark = 7;
    return wide[1] == 2 && down[51] == 0 ? 0 : 1;
}
