/* Start of the runtime, what a program says through homenode.h, and small services. */
#include "hn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#ifndef HN_STATIC
#include <dlfcn.h>
#endif

static struct hn_control no_control;

struct hn_control *hn_c = &no_control;
struct hn_thread *hn_slots = &hn_nobody;
struct hn_header *hn_shared;
struct hn_thread hn_nobody;
int hn_recording;
__thread struct hn_thread *hn_me __attribute__((tls_model("initial-exec"))) = &hn_nobody;

cpu_set_t hn_affinity;

long hn_sys(long number, long a, long b, long c, long d)
{
    long result;

#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "memory");
    result = x0;
#else
#error "homenode's runtime knows the system calls of x86-64 and aarch64 Linux only"
#endif
    return result;
}

long hn_futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
    return hn_sys(SYS_futex, (long)word, op, (long)value, (long)timeout);
}

#ifndef HN_STATIC
extern const struct hn_real __start_hn_reals[], __stop_hn_reals[];

void *hn_resolve(void **slot, const char *name)
{
    *slot = dlsym(RTLD_NEXT, name);
    return *slot;
}

static void resolve_all(void)
{
    for (const struct hn_real *r = __start_hn_reals; r < __stop_hn_reals; r++)
        if (*r->slot == NULL)
            hn_resolve(r->slot, r->name);
}
#else
static void resolve_all(void) {}
#endif

/* The recorder's area, or null when this process is not to be recorded. */
static struct hn_header *open_area(void)
{
    const char *text = getenv("HOMENODE_FD");
    struct hn_header *area = NULL;
    struct stat status;
    uint32_t nobody = 0;
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
        !__atomic_compare_exchange_n(&area->claimed_by, &nobody,
                                     (uint32_t)hn_sys(SYS_getpid, 0, 0, 0, 0), 0,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return NULL;
    return area;
}

/* Control and slots, which the kernel wipes in a forked child. */
static int make_control(void)
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

/* One core for all threads: a hand-over between two cores costs nearly half as much again. */
static void pin(void)
{
    cpu_set_t one;
    unsigned cpu = 0;

    CPU_ZERO(&hn_affinity);
    if (hn_sys(SYS_sched_getaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0) < 0 ||
        hn_sys(SYS_getcpu, (long)&cpu, 0, 0, 0) < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    hn_sys(SYS_sched_setaffinity, 0, sizeof one, (long)&one, 0);
}

/* The recorder looks at our mappings before we can be gone. */
static void greet(void)
{
    const struct timespec patience = {2, 0};

    __atomic_store_n(&hn_shared->greeted, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&hn_shared->doorbell, 1, __ATOMIC_SEQ_CST);
    hn_futex(&hn_shared->doorbell, FUTEX_WAKE, 1, NULL);
    hn_futex(&hn_shared->greeted, FUTEX_WAIT, 0, &patience);
}

static void begin_recording(struct hn_header *area)
{
    struct hn_thread *me;

    hn_shared = area;
    if (!make_control())
        return;
    greet();
    hn_c->pid = (int)hn_sys(SYS_getpid, 0, 0, 0, 0);
    hn_c->quantum = area->quantum;
    /* Spread over all bits: neighbouring seeds would begin alike. */
    hn_c->random = area->seed * UINT64_C(0x9e3779b97f4a7c15);
    area->seeded = 1;
    hn_c->order = area->order;
    hn_thread_init();
    hn_clock_init();
    me = hn_register();
    me->pthread = pthread_self();
    me->state = HN_RUNNING;
    hn_c->holder = me;
    me->next = me->turn_start = hn_ring_start(me->ring);
    me->block_end = me->next + area->block_records;
    me->turn_left = hn_turn();
    hn_me = me;
    hn_recording = 1;
    hn_stamp(me);
    hn_announce(me);
    hn_set_limit(me);
    if (hn_deterministic())
        pin();
}

/* Called by the first constructor of every instrumented file, so before any of its code. */
void hn_start(void)
{
    static int started;
    struct hn_header *area;

    if (started)
        return;
    started = 1;
    resolve_all();
    area = open_area();
    if (area != NULL)
        begin_recording(area);
}

__attribute__((constructor(101))) static void start_without_instrumented_code(void)
{
    hn_start();
}

#ifndef HN_STATIC
/* A library comes: the recorder must see where, while we are still there. */
INTERPOSE(void *, dlopen, (const char *name, int flags))
{
    struct hn_thread *me = hn_inside();
    void *library = REAL(dlopen)(name, flags);

    if (me != NULL && library != NULL && hn_c->order != 0) {
        me->in_runtime++;
        greet();
        me->in_runtime--;
    }
    return library;
}
#endif

HN_EXPORT void homenode_init_done_event(void);
HN_EXPORT void homenode_init_done_event(void)
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_event(me, HN_EV_INIT_DONE, 0, 0);
}

HN_EXPORT void homenode_phase_event(unsigned number);
HN_EXPORT void homenode_phase_event(unsigned number)
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_event(me, HN_EV_PHASE, number, 0);
}

HN_EXPORT void homenode_private_event(const void *start, size_t size_bytes);
HN_EXPORT void homenode_private_event(const void *start, size_t size_bytes)
{
    const uint64_t words[4] = {(uintptr_t)start, 0, size_bytes, 0};
    struct hn_thread *me = hn_inside();

    if (me != NULL && size_bytes != 0)
        hn_event_with(me, HN_EV_PRIVATE, words);
}

/* Seven bytes a word, because a payload word must not be zero. */
HN_EXPORT void homenode_marker_event(const char *text);
HN_EXPORT void homenode_marker_event(const char *text)
{
    enum { TEXT_MAX = 255, A_WORD = 7, WORDS = TEXT_MAX / A_WORD + 2 };
    struct hn_thread *me = hn_inside();
    uint64_t words[2 + WORDS + 1] = {0};
    unsigned length = 0;

    if (me == NULL)
        return;
    for (; length < TEXT_MAX && text[length] != '\0'; length++)
        words[2 + length / A_WORD] |= (uint64_t)(unsigned char)text[length]
                                      << (8 * (length % A_WORD));
    words[0] = length;
    hn_event_words(me, HN_EV_MARKER, words, (length + 2 * A_WORD - 1) / (2 * A_WORD));
}
