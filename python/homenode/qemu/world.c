/* The few functions of the C library through which the program's world reaches it, in deterministic
 * order: clocks, random numbers and processors. QEMU calls them to carry out the program's system
 * calls; from its own threads, and outside of such a call, the real ones are called.
 */
#include "guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static int asks(enum call call)
{
    return recording(hn_me) && hn_deterministic() && !hn_me->in_runtime &&
           hn_me->state == HN_RUNNING && guest_of(hn_me)->call == call;
}

HN_EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns;
    long result;

    if (asks(CALL_CLOCK) && hn_look_at_clock(clock, &ns)) {
        now->tv_sec = (time_t)(ns / HN_NS_PER_SECOND);
        now->tv_nsec = (long)(ns % HN_NS_PER_SECOND);
        return 0;
    }
    result = hn_sys(SYS_clock_gettime, clock, (long)now, 0, 0);
    if (result < 0)
        errno = (int)-result;
    return result < 0 ? -1 : 0;
}

HN_EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec t;

    if (zone != NULL)
        memset(zone, 0, sizeof(struct timezone));
    if (clock_gettime(CLOCK_REALTIME, &t) != 0)
        return -1;
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    return 0;
}

HN_EXPORT time_t time(time_t *place)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (place != NULL)
        *place = t.tv_sec;
    return t.tv_sec;
}

/* splitmix64: the same numbers in every recording. */
static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static long fill(uint8_t *bytes, size_t size)
{
    uint64_t word = 0;

    for (size_t i = 0; i < size; i++) {
        word = i % 8 == 0 ? next_random() : word >> 8;
        bytes[i] = (uint8_t)word;
    }
    return (long)size;
}

/* QEMU makes some calls through syscall(). The program believes in all its processors, and runs on
 * one. */
HN_EXPORT long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list rest;

    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_getrandom && asks(CALL_RANDOM))
        return fill((uint8_t *)a[0], (size_t)a[1]);
    if (hn_recording && hn_deterministic() && recording(hn_me) && !hn_me->in_runtime) {
        if (number == SYS_sched_setaffinity)
            return 0;
        if (number == SYS_sched_getaffinity) {
            const size_t size = (size_t)a[1] < sizeof hn_affinity ? (size_t)a[1]
                                                                  : sizeof hn_affinity;

            memcpy((void *)a[2], &hn_affinity, size);
            return (long)(size < 128 ? size : 128);
        }
    }
    if (real == NULL)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
