/* The memory shared with the recorder, the state of the threads, and bare system calls, for both
 * the runtime in a program and the plugin in an emulator.
 */
#include "hn.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct hn_control no_control;

struct hn_control *hn_c = &no_control;
struct hn_thread *hn_slots = &hn_no_thread;
struct hn_header *hn_shared;
struct hn_thread hn_no_thread;
int hn_recording;
__thread struct hn_thread *hn_me __attribute__((tls_model("initial-exec"))) = &hn_no_thread;

cpu_set_t hn_affinity;

long hn_sys_of_six(long number, const long a[6])
{
    long result;

#if defined(__x86_64__)
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a[0];
    register long x1 __asm__("x1") = a[1];
    register long x2 __asm__("x2") = a[2];
    register long x3 __asm__("x3") = a[3];
    register long x4 __asm__("x4") = a[4];
    register long x5 __asm__("x5") = a[5];
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    result = x0;
#else
#error "homenode's runtime knows the system calls of x86-64 and aarch64 Linux only"
#endif
    return result;
}

long hn_sys(long number, long a, long b, long c, long d)
{
    return hn_sys_of_six(number, (const long[6]){a, b, c, d});
}

long hn_futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
    return hn_sys(SYS_futex, (long)word, op, (long)value, (long)timeout);
}

/* The recorder's area, or null when this process is not to be recorded. */
struct hn_header *hn_open_area(void)
{
    const char *text = getenv("HOMENODE_FD");
    struct hn_header *area = NULL;
    struct stat status;
    uint32_t no_process = 0;
    int fd;

    if (text == NULL)
        return NULL;
    fd = atoi(text);
    /* The program sees the environment it was given. */
    unsetenv("HOMENODE_FD");
    unsetenv("HOMENODE_PAD");
    if (fstat(fd, &status) != 0 || status.st_size <= HN_RINGS_AT)
        return NULL;
    area = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    hn_sys(SYS_close, fd, 0, 0, 0);
    if (area == MAP_FAILED)
        return NULL;
    madvise(area, (size_t)status.st_size, MADV_DONTFORK);
    if (area->magic != HN_MAGIC || area->version != HN_VERSION ||
        !__atomic_compare_exchange_n(&area->claimed_by, &no_process,
                                     (uint32_t)hn_sys(SYS_getpid, 0, 0, 0, 0), 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return NULL;
    return area;
}

/* Control and slots, which the kernel wipes in a forked child. */
int hn_make_control(void)
{
    const size_t page = 4096;
    const size_t control = (sizeof(struct hn_control) + page - 1) / page * page;
    const size_t size = control + HN_THREADS_MAX * sizeof(struct hn_thread);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || madvise(memory, size, MADV_WIPEONFORK) != 0)
        return 0;
    hn_c = (struct hn_control *)memory;
    hn_slots = (struct hn_thread *)(memory + control);
    return 1;
}

/* Pins all threads to one core: a hand-over between two cores costs nearly half more. */
void hn_pin(void)
{
    const struct sched_param plain = {0};
    cpu_set_t one;
    unsigned cpu = 0;

    CPU_ZERO(&hn_affinity);
    if (hn_sys(SYS_sched_getaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0) < 0 ||
        hn_sys(SYS_getcpu, (long)&cpu, 0, 0, 0) < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    hn_sys(SYS_sched_setaffinity, 0, sizeof one, (long)&one, 0);
    /* A woken thread must not preempt its waker, which is about to sleep. */
    if (hn_directed)
        hn_sys(SYS_sched_setscheduler, 0, SCHED_BATCH, (long)&plain, 0);
}

/* Waits until the recorder has read our mappings, which must be before the program can exit. */
void hn_greet(void)
{
    const struct timespec patience = {2, 0};

    __atomic_store_n(&hn_shared->greeted, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&hn_shared->doorbell, 1, __ATOMIC_SEQ_CST);
    hn_futex(&hn_shared->doorbell, FUTEX_WAKE, 1, NULL);
    hn_futex(&hn_shared->greeted, FUTEX_WAIT, 0, &patience);
}
