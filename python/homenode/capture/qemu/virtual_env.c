/* The program's environment in deterministic order: clocks, random numbers, processors, the
 * machine's state. QEMU calls these functions of the C library to perform the program's system
 * calls; for its own threads, and outside of such a call, they are passed on.
 */
#include "guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

/* The program's thread for which QEMU makes the present call. Null in free order, in QEMU's own
 * threads and in calls of the plugin itself: then the real functions are called.
 */
struct hn_thread *guest_thread(void)
{
    struct hn_thread *me = hn_me;

    return recording(me) && hn_deterministic() && !me->in_runtime && me->state == HN_RUNNING
               ? me
               : NULL;
}

/* Whether a clock shows processor time of a thread or process. `whose` is the process or thread
 * number in the clock's number, or 0 for the caller. */
static int is_of_processor(clockid_t clock, int *of_thread, int *whose)
{
    enum { WHICH = 3, FILE_CLOCK = 3, OF_THREAD = 4, NUMBER_SHIFT = 3 };

    *whose = 0;
    *of_thread = clock == CLOCK_THREAD_CPUTIME_ID;
    if (clock >= 0)
        return clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID;
    *whose = ~(clock >> NUMBER_SHIFT);
    *of_thread = (clock & OF_THREAD) != 0;
    return (clock & WHICH) != FILE_CLOCK;
}

static const struct hn_thread *thread_numbered(int tid)
{
    for (uint32_t i = 0; i < hn_c->slots_used; i++)
        if (hn_slots[i].tid == tid && hn_slots[i].state != HN_UNUSED &&
            hn_slots[i].state != HN_DEAD)
            return &hn_slots[i];
    return NULL;
}

/* Sets `ns` to the processor time of a clock, if it is of this process; returns whether it is. */
static int processor_ns(struct hn_thread *me, clockid_t clock, uint64_t *ns)
{
    const struct hn_thread *of = me;
    int of_thread, whose;

    if (!is_of_processor(clock, &of_thread, &whose))
        return 0;
    if (!of_thread && whose != 0 && whose != hn_c->pid)
        return 0;
    if (of_thread && whose != 0 && (of = thread_numbered(whose)) == NULL)
        return 0;
    hn_read_clock(CLOCK_MONOTONIC, ns);
    if (guest_thread() == NULL)
        return 0;
    *ns = of_thread ? hn_thread_ns(of) : hn_process_ns(me);
    return 1;
}

/* Sets `ns` to the virtual time of a clock; 0 if the real clock is to be read. QEMU also reads
 * clocks on its own: for the counter of aarch64, in the middle of translated code, and when a
 * thread begins. */
static int shows(clockid_t clock, uint64_t *ns)
{
    struct hn_thread *me = guest_thread();
    enum call call;

    if (me == NULL) {
        const int before_the_first = hn_shared != NULL && !hn_recording &&
                                     hn_shared->order == HN_ORDER_DETERMINISTIC &&
                                     clock == CLOCK_BOOTTIME;

        *ns = before_the_first ? hn_clock_start_ns(clock) : 0;
        return before_the_first;
    }
    call = guest_of(me)->call;
    if (call == CALL_CLOCK)
        return hn_read_clock(clock, ns) || processor_ns(me, clock, ns);
    if ((call != CALL_NONE && call != CALL_CLONE && call != CALL_CLONE3) || !hn_is_virtual(clock))
        return 0;
    *ns = hn_read_clock_in_turn(me, clock);
    return 1;
}

HN_EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns;
    long result;

    if (shows(clock, &ns)) {
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

void random_bytes(void *to, size_t size)
{
    uint8_t *bytes = to;
    uint64_t word = 0;

    for (size_t i = 0; i < size; i++) {
        word = i % 8 == 0 ? next_random() : word >> 8;
        bytes[i] = (uint8_t)word;
    }
}

/* Gives parent and child different random numbers, and the next child others again. */
void random_after_fork(int in_child)
{
    const uint64_t child = UINT64_C(0xd1b54a32d192ed03);

    next_random();
    if (in_child)
        random_state ^= child;
}

HN_EXPORT clock_t times(struct tms *t)
{
    const uint64_t ns_per_tick = HN_NS_PER_SECOND / 100;
    struct hn_thread *me = guest_thread();
    uint64_t now;

    if (me == NULL || !hn_read_clock(CLOCK_MONOTONIC, &now))
        return ((clock_t (*)(struct tms *))dlsym(RTLD_NEXT, "times"))(t);
    if (t != NULL)
        *t = (struct tms){.tms_utime = (clock_t)(hn_process_ns(me) / ns_per_tick)};
    return (clock_t)(now / ns_per_tick);
}

/* Shows the program's processor time. Faults, memory and switches would be QEMU's, and are zero. */
HN_EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
    struct hn_thread *me = guest_thread();
    uint64_t ns;
    long result;

    if (me == NULL || (who != RUSAGE_SELF && who != RUSAGE_THREAD && who != RUSAGE_CHILDREN) ||
        !hn_read_clock(CLOCK_MONOTONIC, &ns)) {
        result = hn_sys(SYS_getrusage, who, (long)usage, 0, 0);
        if (result < 0)
            errno = (int)-result;
        return result < 0 ? -1 : 0;
    }
    memset(usage, 0, sizeof *usage);
    if (who != RUSAGE_CHILDREN) {
        ns = who == RUSAGE_THREAD ? hn_thread_ns(me) : hn_process_ns(me);
        usage->ru_utime.tv_sec = (time_t)(ns / HN_NS_PER_SECOND);
        usage->ru_utime.tv_usec = (suseconds_t)(ns % HN_NS_PER_SECOND / 1000);
    }
    return 0;
}

/* Shows a machine without other load, half of whose memory is free. */
HN_EXPORT int sysinfo(struct sysinfo *info)
{
    const long result = hn_sys(SYS_sysinfo, (long)info, 0, 0, 0);
    uint64_t now;

    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    if (guest_thread() == NULL || !hn_read_clock(CLOCK_BOOTTIME, &now))
        return 0;
    info->uptime = (long)(now / HN_NS_PER_SECOND);
    memset(info->loads, 0, sizeof info->loads);
    info->freeram = info->totalram / 2;
    info->freeswap = info->totalswap;
    info->sharedram = info->bufferram = info->freehigh = 0;
    info->procs = 1;
    return 0;
}

/* A thread appears to run on the processor of its number, among those that the program sees. */
static unsigned processor_of(const struct hn_thread *me)
{
    const int count = CPU_COUNT(&hn_affinity);
    int left = count == 0 ? 0 : (int)(me->number % (unsigned)count);

    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &hn_affinity) && left-- == 0)
            return cpu;
    return 0;
}

/* Performs calls that QEMU makes by number; returns whether it has. The program sees all its
 * processors, though it runs on one. */
static int answers(struct hn_thread *me, long number, const long a[6], long *answer)
{
    const size_t size = (size_t)a[1] < sizeof hn_affinity ? (size_t)a[1] : sizeof hn_affinity;

    *answer = 0;
    switch (number) {
    case SYS_getrandom:
        if (guest_of(me)->call != CALL_RANDOM)
            return 0;
        random_bytes((void *)a[0], (size_t)a[1]);
        *answer = a[1];
        return 1;
    case SYS_getcpu:
        if (a[0] != 0)
            *(unsigned *)a[0] = processor_of(me);
        if (a[1] != 0)
            *(unsigned *)a[1] = 0;
        return 1;
    case SYS_sched_setaffinity:
        return 1;
    case SYS_sched_getaffinity:
        memcpy((void *)a[2], &hn_affinity, size);
        *answer = (long)(size < 128 ? size : 128);
        return 1;
    default:
        return 0;
    }
}

/* QEMU 8.2 and later call this by name. */
HN_EXPORT ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    return syscall(SYS_getrandom, to, size, flags);
}

HN_EXPORT long syscall(long number, ...)
{
    static long (*real)(long, ...);
    struct hn_thread *me = guest_thread();
    long a[6], answer;
    va_list rest;

    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (me != NULL && answers(me, number, a, &answer))
        return answer;
    if (real == NULL)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
